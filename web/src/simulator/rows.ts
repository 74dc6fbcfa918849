/**
 * Rows of the simulated room
 * ==========================
 * The simulation answers with everything that will happen, also the future: an agent that is going
 * to write for a second. The rows are what has happened by `now`, so that the room plays at real
 * speed; `nextChange` says when to look again.
 */
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import type {
  AgentStartLine,
  DecisionLine,
  ReactLine,
  SendLine,
  SendStatus,
  StreamLine,
} from "../../../src/domain/stream.ts";
import type { Line, Room } from "./scenario.ts";

/** The answer of `POST /api/simulate`. */
export interface Answer {
  readonly lines: readonly StreamLine[];
  readonly why: Readonly<Record<string, Why>>;
}
export const noAnswer: Answer = { lines: [], why: {} };

export interface PersonRow {
  readonly kind: "person";
  readonly id: string;
  readonly t: number;
  readonly line: Line;
  readonly verdict: { readonly decision: Decision; readonly rule: Rule } | null;
  readonly acks: readonly string[];
}
export interface AgentRow {
  readonly kind: "agent";
  readonly id: string;
  readonly t: number;
  readonly text: string;
  readonly status: SendStatus;
  /** The line it was sent as a reply to. */
  readonly quote: Line | null;
  /** Whose line made it speak. */
  readonly cause: Line | null;
  readonly tookMs: number;
}
export interface WritingRow {
  readonly kind: "writing";
  readonly id: string;
  readonly t: number;
  readonly cause: Line | null;
}
export type Row = PersonRow | AgentRow | WritingRow;

const isDecision = (line: StreamLine): line is DecisionLine =>
  "decision" in line && !("system" in line);
const isReact = (line: StreamLine): line is ReactLine =>
  "out" in line && (line.out === "react" || line.out === "unreact");
const isSend = (line: StreamLine): line is SendLine => "out" in line && line.out === "send";
const isStart = (line: StreamLine): line is AgentStartLine =>
  "event" in line && line.event === "agent_start";

/** The replies that arrived, oldest first. */
export function sends(answer: Answer): readonly SendLine[] {
  return answer.lines.filter(isSend).filter((line) => line.status !== "expired");
}

/** Everything that has happened by `now` (ms since the room began), in order. */
export function rowsAt(room: Room, answer: Answer, now: number): readonly Row[] {
  const heard = answer.lines.filter((line) => line.t <= now);
  const verdicts = new Map<string, PersonRow["verdict"]>();
  const acks = new Map<string, string[]>();
  for (const line of heard) {
    if (isDecision(line)) verdicts.set(line.id, { decision: line.decision, rule: line.rule });
    if (isReact(line)) {
      const others = (acks.get(line.message) ?? []).filter((emoji) => emoji !== line.emoji);
      acks.set(line.message, line.out === "react" ? [...others, line.emoji] : others);
    }
  }
  const spoken = new Map(room.lines.map((line) => [line.id, line]));
  const rows: Row[] = room.lines.map((line) => ({
    kind: "person",
    id: line.id,
    t: line.t,
    line,
    verdict: verdicts.get(line.id) ?? null,
    acks: acks.get(line.id) ?? [],
  }));
  rows.push(...agentRows(heard, spoken));
  return rows.sort((a, b) => a.t - b.t);
}

function agentRows(heard: readonly StreamLine[], spoken: ReadonlyMap<string, Line>): Row[] {
  const rows: Row[] = [];
  let start: AgentStartLine | null = null;
  let running = false;
  for (const line of heard) {
    if (isStart(line)) {
      start = line;
      running = true;
    } else if ("event" in line && line.event === "agent_end") {
      running = false;
    } else if (isSend(line) && line.status !== "expired") {
      const cause = spoken.get(start?.replyTo ?? "") ?? null;
      // One that was in doubt and went again is still one reply.
      const doubted = rows.findIndex((row) => row.id === line.id);
      if (doubted !== -1) rows.splice(doubted, 1);
      rows.push({
        kind: "agent",
        id: line.id,
        t: line.t,
        text: line.text,
        status: line.status,
        quote: spoken.get(line.replyTo ?? "") ?? null,
        cause,
        tookMs: line.t - (cause?.t ?? start?.t ?? line.t),
      });
    }
  }
  if (running && start !== null) {
    const cause = spoken.get(start.replyTo) ?? null;
    rows.push({ kind: "writing", id: `writing-${start.turn}`, t: start.t, cause });
  }
  return rows;
}

/** When something next happens after `now`, ms since the room began; null if nothing is ahead. */
export function nextChange(answer: Answer, now: number): number | null {
  let next: number | null = null;
  for (const line of answer.lines) {
    if (line.t > now && (next === null || line.t < next)) next = line.t;
  }
  return next;
}
