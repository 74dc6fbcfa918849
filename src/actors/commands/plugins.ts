/**
 * Called once the command is durable and outside of any commit, so a slow plugin blocks nothing.
 * The call has a deadline; a failure, a timeout or a useless answer becomes one line. It is called
 * at most once: a crash before its answer leaves the command unanswered.
 */
import { limits } from "../../domain/limits.ts";
import { late, within } from "../../domain/ports/within.ts";
import { cut } from "../../domain/sanitize.ts";
import type { CommandIssued } from "../../machines/events/events.ts";
import type { CommandPorts } from "./ports.ts";
import { type CommandAnswer, commandRow } from "./reply-row.ts";

/** Calls a plugin's command and sends its answer. `index` numbers the answer. */
export async function answerByPlugin(
  ports: CommandPorts,
  { command, args }: CommandIssued,
  { asked, step, index }: Omit<CommandAnswer, "text">,
): Promise<void> {
  const { key, at } = step;
  const handler = ports.extensions.handler(command);
  const say = (text: string) =>
    ports.say(commandRow(ports.configs, { asked, step, text, index: index ?? 0 }));
  if (handler === null) return say(`/${command}: nobody answers that any more.`);
  if (handler.who !== "authorised" && !asked.owner) return say("For owners.");
  const { route, messageId, author, owner } = asked;
  const agentId = ports.agentOf(key);
  const called = { at, key, agentId, text: args[0] ?? "", messageId, author, owner };
  const answer = await within(ports.clock, limits.commandMsMax, async (signal) =>
    handler.run({ ...called, route: structuredClone(route) }, { signal }),
  ).catch((error: unknown) => {
    ports.log("warn", "command.plugin-failed", { command, error: String(error) });
    return null;
  });
  if (answer === late) ports.log("warn", "command.plugin-late", { command });
  const text = typeof answer === "string" ? answer.trim() : "";
  if (text !== "") return say(cut(text, limits.commandAnswerUnitsMax));
  return say(`/${command}: ${answer === late ? "took too long" : "gave no answer"}.`);
}
