/**
 * Words that stop a turn
 * ======================
 * A person who may give commands ends the running turn with one word, ahead of every queue. Only the
 * whole message counts, never a word inside it: "please stop" is talk, "stop" is a command.
 */
import type { Inbound } from "../../domain/message.ts";

const commands: readonly string[] = ["/stop", "/abort"];
/** A command and a name, or a word of the config. */
const unitsMax = 128;

/**
 * Whether a message is nothing but the order to stop: a command, or one of the words of the config.
 * `/stop@name` counts where the name is ours.
 */
export function isAbortWord(
  { text, attachments, mentions }: Inbound,
  stopWords: readonly string[],
): boolean {
  const said = text.trim();
  if (said.length > unitsMax || attachments.length > 0) return false;
  const word = said.toLowerCase();
  const at = word.startsWith("/") ? word.indexOf("@") : -1;
  if (at !== -1)
    return commands.includes(word.slice(0, at)) && mentions.some(({ isSelf }) => isSelf === true);
  return [...commands, ...stopWords].some((one) => one.toLowerCase() === word);
}
