/**
 * `/session`, `/usage`, `/context` and `/export` for the current session.
 */
import { limits } from "../../domain/limits.ts";
import { cut, oneLine, plainText } from "../../domain/sanitize.ts";
import { noUsage, type TranscriptLine } from "../../domain/session.ts";
import { systemMessage } from "../sessions/system-message.ts";
import { entriesOf, estimateEntries, estimateTokens } from "../sessions/transcript-view.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";
import { usageLine } from "./status.ts";

const exportLines = 20;
/** Limits an export to a few messages. */
const exportUnitsMax = 12_000;
const none = "Nothing was changed here yet: there is no session.";

const moment = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

export async function sessionText(
  { store }: CommandPorts,
  { session, settings, step }: CommandAbout,
) {
  if (session === null) return none;
  const all = await store.sessions({ conv: step.conv, all: true, limit: limits.historyCountMax });
  const earlier = all.filter(({ archivedAt }) => archivedAt !== null).length;
  const { override, ...levels } = settings;
  const changed = Object.entries({ ...levels, ...override }).map(
    ([name, value]) => `${name} ${settingText(value)}`,
  );
  return [
    `Session: \`${session.sessionId}\` of \`${session.key.replaceAll("`", "'")}\``,
    `Begun: ${moment(session.createdAt)}; last used: ${moment(session.updatedAt)}`,
    `Settings: ${changed.join(", ")}`,
    `Usage: ${usageLine(session.usage)}`,
    `Earlier sessions: ${earlier}`,
  ].join("\n");
}

/** Formats a session setting: `off`, or `security deny, ask always` in brackets. */
function settingText(value: unknown): string {
  if (value === null) return "as configured";
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value ?? {}).map(([name, part]) => `${name} ${String(part)}`);
  return parts.length === 0 ? "as configured" : `(${parts.join(", ")})`;
}

export async function usageText(
  { store }: CommandPorts,
  { session, agent, settings }: CommandAbout,
) {
  const all = await store.usageByAgent();
  const own = all.find(({ agentId }) => agentId === agent.id) ?? noUsage;
  return [
    `This session: ${usageLine(session?.usage ?? noUsage)}`,
    `All of ${agent.name}: ${usageLine(own)}`,
    `Below answers: ${settings.usage ?? agent.usageDefault}`,
  ].join("\n");
}

export async function contextText(
  { store, configs }: CommandPorts,
  about: CommandAbout,
): Promise<string> {
  const { session, agent, status, step, asked } = about;
  const observed = `Messages observed since the last turn: ${status.remembered}.`;
  const message = systemMessage(agent, asked.route, configs.settings(step.key));
  const system = `System prompt: about ${estimateTokens(message)} tokens.`;
  if (session === null) return [none, observed, system].join("\n");
  const { sessionId } = session;
  const mark = await store.transcriptMark(sessionId);
  const limit = limits.transcriptLinesMax;
  const after = mark?.covers ?? 0;
  const lines = await store.transcript({ sessionId, after, limit, newest: true });
  const own = lines.filter(({ covers }) => covers === undefined);
  const view = { named: true, fence: sessionId };
  const entries = entriesOf(mark === null ? own : [mark, ...own], view);
  return [
    `Remembered: ${entries.length} entries, about ${estimateEntries(entries)} of ` +
      `${agent.contextTokens} tokens${mark === null ? "" : ", older ones summed up"}.`,
    observed,
    system,
  ].join("\n");
}

/** Exports the newest lines that fit. */
export async function exportText(
  { store }: CommandPorts,
  wanted: string | undefined,
  { session }: CommandAbout,
): Promise<string> {
  if (session === null) return none;
  const limit = Math.max(1, Number(wanted ?? exportLines));
  const { sessionId } = session;
  const lines = await store.transcript({ sessionId, limit, newest: true });
  let left = exportUnitsMax;
  const shown = lines.map(written).filter((text) => text !== "");
  const first = shown.findLastIndex((text) => {
    left -= text.length + 1;
    return left < 0;
  });
  const head = `Session \`${sessionId}\`, ${shown.length - first - 1} lines:`;
  return [head, ...shown.slice(first + 1)].join("\n");
}

function written({ role, text, author }: TranscriptLine): string {
  if (role === "note") return "";
  const speaker = role === "user" ? oneLine(author?.name ?? "somebody") : role;
  return `${speaker}: ${cut(plainText(text), exportUnitsMax / 4)}`;
}
