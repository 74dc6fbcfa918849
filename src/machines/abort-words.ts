/**
 * Words that stop a turn
 * ======================
 * Whoever may give commands ends the running turn with one word, ahead of every queue. Only the
 * whole message counts, never a word inside it: "please stop" is talk, "stop" is a command.
 */
import type { Inbound } from "../domain/message.ts";

const words: ReadonlySet<string> = new Set(["/stop", "/abort", "stop"]);
const unitsMax = 64;

/**
 * Whether a message is nothing but the order to stop. `/stop@name` counts where the name is ours.
 */
export function isAbortWord({ text, attachments, mentions }: Inbound): boolean {
  if (text.length > unitsMax || attachments.length > 0) return false;
  const word = text.trim().toLowerCase();
  const at = word.startsWith("/") ? word.indexOf("@") : -1;
  if (at === -1) return words.has(word);
  return words.has(word.slice(0, at)) && mentions.some(({ isSelf }) => isSelf === true);
}
