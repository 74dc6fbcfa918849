/**
 * Other running turns
 * ===================
 * `/subagents`: turns of this agent in its other conversations, and of other agents in this room.
 * Each has a stable name derived from its conversation, so that `stop K7QM` never stops a different
 * turn. `/approve`: pending permissions.
 */
import type { PermissionAnswer } from "../../domain/permission.ts";
import type { RunRow } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

const shownMax = 20;
const titleUnitsMax = 200;
const harmless = (text: string, units = titleUnitsMax) => oneLine(text, units).replaceAll("`", "'");

/** Keys of agents in the same room are equal from the third part on. */
const placeOf = (key: string) => key.split(":").slice(2).join(":");

/** The listed runs, longest running first. */
export async function otherRuns(
  { store }: CommandPorts,
  { step, agent }: Pick<CommandAbout, "step" | "agent">,
): Promise<readonly RunRow[]> {
  const runs = await store.runs();
  return runs
    .filter(({ conv, key, agentId }) => {
      if (conv === step.conv) return false;
      return agentId === agent.id || placeOf(key) === placeOf(step.key);
    })
    .sort((a, b) => a.since - b.since);
}

/** A short name of a run's conversation. */
const nameOf = ({ conv }: RunRow): string => conv.toString(36).slice(-4).toUpperCase();

/** The run with that name; none when two share it. */
export function runNamed(runs: readonly RunRow[], name: string): RunRow | undefined {
  const found = runs.filter((run) => nameOf(run) === name.toUpperCase());
  return found.length === 1 ? found[0] : undefined;
}

export async function subagentsText(
  ports: CommandPorts,
  [verb = "list", name = ""]: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const runs = await otherRuns(ports, about);
  if (verb === "stop") {
    const run = runNamed(runs, name);
    if (run === undefined) return "No such turn runs: /subagents lists those that do.";
    return run.turnId === null
      ? "It only waits for its turn to begin."
      : `Stopping ${nameOf(run)}.`;
  }
  if (runs.length === 0) return "Nothing else runs for this agent or in this room.";
  const lines = runs.slice(0, shownMax).map((run) => {
    const { key, agentId, state, since } = run;
    const seconds = Math.max(0, Math.round((about.step.at - since) / 1_000));
    return `${nameOf(run)}: \`${harmless(key)}\` (${agentId}), ${state} for ${seconds} s`;
  });
  const more = runs.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return [...lines, "Stop one: /subagents stop <name>"].join("\n");
}

/** The request and decision of an `/approve`; null: none. */
export function approvalOf(
  args: readonly string[],
): { id: string; answer: PermissionAnswer } | null {
  const [id, answer = "once"] = args;
  return id === undefined ? null : { id: id.toUpperCase(), answer: answer as PermissionAnswer };
}

export function approveText(
  { approvals: permits }: CommandPorts,
  args: readonly string[],
  { step }: CommandAbout,
): string {
  const answer = approvalOf(args);
  if (answer === null) {
    const lines = permits
      .pending(step.conv)
      .map(({ id, kind, title }) => `${id}: \`${harmless(`${kind}: ${title}`)}\``);
    return lines.length === 0 ? "No agent is waiting for permission here." : lines.join("\n");
  }
  const permit = permits.find(answer.id);
  if (permit === null) return "Nothing of that id waits for an answer.";
  const what = harmless(`${permit.kind}: ${permit.title}`);
  const answers = { once: "Allowed once", always: "Allowed, and from now on", deny: "Refused" };
  return `${answers[answer.answer]}: \`${what}\``;
}
