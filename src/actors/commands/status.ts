/**
 * The status card
 * ===============
 * The state of a conversation in a few lines: agent, model, session, queue, engagement, and the
 * latest decisions.
 */
import { decodeVerdict } from "../../domain/decision.ts";
import { levelWords, type SessionUsage, withDefaults } from "../../domain/session.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

/** Newest journal rows, of all conversations, searched for decisions. */
const lookedBack = 2_000;
const decisionsShown = 3;

/** The answer of `/status`. */
export async function statusText(ports: CommandPorts, about: CommandAbout): Promise<string> {
  const { agent, settings, status, session } = about;
  const { attention, guard, consecutive, turns, remembered, credits } = status;
  const decided = await latestDecisions(ports, about);
  const shown = withDefaults(settings, agent);
  const levels = [
    `thinking ${settings.thinking ?? agent.thinking}`,
    ...[`verbose ${shown.verbose}`, `reasoning ${shown.reasoning}`],
    ...levelWords({ elevated: shown.elevated, exec: shown.exec }),
  ];
  return [
    `**earshot${ports.version === null ? "" : ` ${ports.version}`}**`,
    `Agent: ${agent.name} (${agent.id}), ${agent.driver.kind}`,
    `Model: ${modelText(about)}; ${levels.join(", ")}`,
    `Session: ${session === null ? "none yet" : session.sessionId}`,
    `Queue: ${queueText([], about)}; ${status.waiting} waiting`,
    `Engagement: ${status.activation}, ${attention}; ${counted(turns, "turn")}, ` +
      `${credits} with credit, ` +
      `${remembered} observed`,
    `Loop guard: ${guard}, ${consecutive} in a row`,
    `Sending answers: ${status.send}`,
    `Last decisions: ${decided.length === 0 ? "none recently" : decided.join(", ")}`,
    `Usage: ${session === null ? "none" : usageLine(session.usage)}`,
  ].join("\n");
}

async function latestDecisions({ store }: CommandPorts, { step }: CommandAbout) {
  const from = await store.numberBefore(step.seq, lookedBack);
  const rows = await store.tail(step.conv, from, step.seq);
  const verdicts = rows.flatMap(({ code }) =>
    code === null || code <= 0 ? [] : (decodeVerdict(code) ?? []),
  );
  return verdicts.slice(-decisionsShown).map(({ decision, rule }) => `${decision} (${rule})`);
}

/** The current model, as far as it is known. */
export function modelText({ settings, agent }: CommandAbout): string {
  const model = agent.model ?? agent.driver.model;
  return (
    settings.model ?? (typeof model === "string" ? `${model} (as configured)` : "as configured")
  );
}

/** The answer of `/models`: the models in the config, by agent. */
export function modelsText({ configs }: CommandPorts, about: CommandAbout): string {
  const { agents } = configs.current();
  const lines = agents.list.flatMap(({ id, driver = agents.defaults.driver }) => {
    const { fallbacks } = driver as { readonly fallbacks?: unknown };
    const all = [driver, ...(Array.isArray(fallbacks) ? (fallbacks as unknown[]) : [])];
    const names = all.flatMap((agent) => {
      const { model } = (agent ?? {}) as { readonly model?: unknown };
      return typeof model === "string" ? [model] : [];
    });
    return names.length === 0 ? [] : [`${id}: ${names.join(", ")}`];
  });
  const known = lines.length === 0 ? "The config names no model." : lines.join("\n");
  return `${known}\nIn use here: ${modelText(about)}.`;
}

/** The queue settings with the arguments of `/queue` applied. */
export function queueText(args: readonly string[], { settings, status }: CommandAbout): string {
  if (args[0] === "default") return "as configured";
  const queue = { ...status.queue, ...(args.length > 0 ? settings.override.queue : {}) };
  const { mode, debounceMs, cap, drop } = queue;
  return `${mode}, debounce ${debounceMs} ms, cap ${cap}, drop ${drop}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

export function usageLine({ turns, inputTokens, outputTokens, costUsd }: SessionUsage): string {
  const cost = costUsd === 0 ? "" : `, $${costUsd.toFixed(4)}`;
  return `${counted(turns, "turn")}, ${inputTokens} tokens in, ${outputTokens} out${cost}`;
}
