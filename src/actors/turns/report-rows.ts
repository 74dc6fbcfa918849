/**
 * Rows of what agents report
 * ==========================
 * A running turn reports in batches. What one turn reports together becomes one row of the journal:
 * an answer that is complete at once is one row, with its text, its usage and its end. A tool call
 * closes its row, so a row holds at most one: effects that are named by their row stay unique.
 */
import { timeOfId } from "../../domain/key.ts";
import type { AgentReport, AgentReported } from "../../machines/events/events.ts";
import { type NewEvent, newEvent } from "../protocol/event-codec.ts";
import type { TurnReport } from "../protocol/host-protocol.ts";

const closesRow = ({ type }: AgentReport): boolean =>
  type === "agent.tool" || type === "skip" || type === "disengage";

/** The rows of a batch of reports, in order. */
export function reportRows(reports: readonly TurnReport[], cfg: number): NewEvent[] {
  const rows: TurnReport[][] = [];
  for (const report of reports) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row !== undefined && last !== undefined && continues(last, report)) row.push(report);
    else rows.push([report]);
  }
  return rows.flatMap((row) => rowOf(row, cfg));
}

function continues(last: TurnReport, { turnId, attempt }: TurnReport): boolean {
  return last.turnId === turnId && last.attempt === attempt && !closesRow(last.event);
}

function rowOf(reports: readonly TurnReport[], cfg: number): NewEvent[] {
  const [first] = reports;
  const last = reports.at(-1);
  if (first === undefined || last === undefined) return [];
  const { conv, key, turnId, attempt, n } = first;
  const events = reports.map(({ event }) => event);
  const together: AgentReported = { type: "agent.reported", at: last.event.at, turnId, events };
  const event = reports.length === 1 ? first.event : together;
  const named = { identity: `turn|${turnId}|${attempt}|${n}`, sentAt: timeOfId(turnId) };
  return [newEvent({ conv, key }, cfg, event, named)];
}
