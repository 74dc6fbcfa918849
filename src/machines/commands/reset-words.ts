/**
 * A message that starts with a trigger begins a new session; what follows the trigger is the
 * message. Only the message's own first word counts, never one in a quote, a fence or the text it
 * replies to. `/new@name` counts where the name is ours, and a colon may follow.
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

/**
 * What follows the trigger, with our name and a colon behind it; null where the word goes on
 * otherwise. Only commands have a name or a colon.
 */
function afterName(rest: string, trigger: string, mentions: Inbound["mentions"]): string | null {
  if (rest === "" || /^\s/u.test(rest)) return rest;
  if (!trigger.startsWith("/")) return null;
  if (rest.startsWith(":")) return rest.slice(1);
  if (!rest.startsWith("@") || !mentions.some(({ isSelf }) => isSelf)) return null;
  return rest.replace(/^@\S*/u, "");
}
