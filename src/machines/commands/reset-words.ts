/**
 * A message that starts with a trigger begins a new session; what follows the trigger is the
 * message. Only the message's own first word counts, never one in a quote, a fence or the text it
 * replies to. `/new@name` counts where the name is ours.
 */
import type { Inbound } from "../../domain/message.ts";

/** What is left of a message that begins a new session, or null where it begins none. */
export function afterResetTrigger(
  { text, mentions }: Pick<Inbound, "text" | "mentions">,
  triggers: readonly string[],
): string | null {
  const words = text.trimStart();
  for (const trigger of triggers) {
    if (words.slice(0, trigger.length).toLowerCase() !== trigger.toLowerCase()) continue;
    const rest = afterName(words.slice(trigger.length), trigger, mentions);
    if (rest !== null) return rest.trim();
  }
  return null;
}

/** What follows the trigger and our name behind it; null where the word goes on otherwise. */
function afterName(rest: string, trigger: string, mentions: Inbound["mentions"]): string | null {
  if (rest === "" || /^\s/u.test(rest)) return rest;
  if (!trigger.startsWith("/") || !rest.startsWith("@")) return null;
  if (!mentions.some(({ isSelf }) => isSelf)) return null;
  return rest.replace(/^@\S*/u, "");
}
