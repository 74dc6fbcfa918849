/**
 * How long messages take from the intake to the last delivery. A decision is measured against the
 * time in the event itself, so overheard messages leave nothing in memory. Data of engaged
 * messages is bounded; beyond the bound they are not measured.
 */
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import type { Instruments } from "./instruments.ts";

/** At most so many messages, turns and parts are measured at the same time. */
const measuredCountMax = 10_000;

interface Engaged {
  readonly received: Millis;
  readonly decided: Millis;
}

interface TurnWatch {
  /** When it began, monotonic. */
  readonly started: Millis;
  /** The same by wall time, which the reports of an agent have. */
  readonly startedAt: Millis;
  /** When its first message was received, by wall time; null: before this start. */
  readonly received: Millis | null;
  /** When the agent was called, monotonic; null: no agent is running. */
  called: Millis | null;
  hasSpoken: boolean;
  hasText: boolean;
  hasSend: boolean;
}

export interface MessageTimings {
  readonly listener: RuntimeListener;
  readonly line: (line: StreamLine) => void;
}

/** `received`: counts a message of a channel. */
export function createMessageTimings(
  { counter, histogram, timing }: Instruments,
  { now, monotonic }: Pick<Clock, "now" | "monotonic">,
  received: (channel: string) => void,
): MessageTimings {
  const tokens = counter("agent_tokens_total");
  const intake = timing("intake_seconds");
  const decision = timing("receive_to_decision_seconds");
  const wait = timing("turn_wait_seconds");
  const firstBlock = timing("receive_to_first_block_seconds");
  const agent = histogram("agent_seconds");
  const turnTime = timing("turn_seconds");
  const firstText = timing("turn_to_first_text_seconds");
  const firstSend = timing("turn_to_first_send_seconds");
  const delivery = timing("delivery_seconds");
  const commit = timing("journal_commit_seconds");
  const commitRows = timing("journal_commit_rows");
  const engaged = new Map<number, Engaged>();
  const turns = new Map<string, TurnWatch>();
  const parts = new Map<string, Millis>();

  const agentEnded = (turn: TurnWatch | undefined, end: string) => {
    if (turn === undefined || turn.called === null) return;
    agent.observe({ end }, seconds(monotonic() - turn.called));
    turn.called = null;
  };

  const listener: RuntimeListener = {
    admitted(messages) {
      for (const { message } of messages) received(message.channel);
    },
    stored(messages, since) {
      if (messages.length > 0) intake.observe(seconds(now() - since));
    },
    ended: (_message, _key, _verdict, since) => decision.observe(seconds(now() - since)),
    decided(_conv, _key, { seq, at }, verdict) {
      const decided = now();
      decision.observe(seconds(decided - at));
      if (verdict.decision === "engage") keep(engaged, seq, { received: at, decided });
    },
    dropped: (seq) => void engaged.delete(seq),
    turnStarted(_key, { turnId, batch }) {
      const known = batch.flatMap(({ seq }) => engaged.get(seq) ?? []);
      const [first] = known;
      if (first !== undefined && !turns.has(turnId))
        wait.observe(seconds(now() - Math.min(...known.map((item) => item.decided))));
      agentEnded(turns.get(turnId), "host-lost");
      const watch = turns.get(turnId) ?? {
        started: monotonic(),
        startedAt: now(),
        called: null,
        hasSpoken: false,
        hasText: false,
        hasSend: false,
        received: first === undefined ? null : Math.min(...known.map((item) => item.received)),
      };
      keep(turns, turnId, watch);
    },
    agentCalled(turnId) {
      const turn = turns.get(turnId);
      if (turn !== undefined) turn.called = monotonic();
    },
    reported(reports) {
      for (const { turnId, key, event } of reports) {
        const turn = turns.get(turnId);
        if (event.type === "agent.ended") agentEnded(turn, "ended");
        else if (event.type === "agent.failed") agentEnded(turn, event.code);
        else if (event.type === "agent.usage") {
          const { agentId } = parseSessionKey(key);
          tokens.inc({ agent: agentId, kind: "input" }, event.inputTokens);
          tokens.inc({ agent: agentId, kind: "output" }, event.outputTokens);
        } else if (event.type === "agent.spoke" && event.what === "text") {
          if (turn === undefined || turn.hasSpoken) continue;
          turn.hasSpoken = true;
          firstText.observe(seconds(event.at - turn.startedAt));
        } else if (event.type === "agent.text" && event.aside === undefined) {
          if (turn === undefined || turn.hasText) continue;
          turn.hasText = true;
          if (turn.received !== null) firstBlock.observe(seconds(now() - turn.received));
        }
      }
    },
    turnEnded(_key, { turnId, batch }) {
      const turn = turns.get(turnId);
      agentEnded(turn, "host-lost");
      if (turn !== undefined) turnTime.observe(seconds(monotonic() - turn.started));
      for (const { seq } of batch) engaged.delete(seq);
    },
    queued(rows) {
      for (const { id, kind } of rows)
        if (kind !== "react" && kind !== "unreact") keep(parts, id, monotonic());
    },
    committed(ms, rows) {
      commit.observe(seconds(ms));
      commitRows.observe(rows);
    },
  };

  /** A part was sent or failed; a part in doubt may be sent later. */
  function line(item: StreamLine): void {
    const { kind, line: sent } = tagged(item);
    if (kind !== "send" || sent.status === "in-doubt") return;
    const since = parts.get(sent.id);
    parts.delete(sent.id);
    if (sent.status !== "sent") return;
    if (since !== undefined) delivery.observe(seconds(monotonic() - since));
    const turn = turns.get(sent.id.slice(0, sent.id.lastIndexOf(":")));
    if (turn === undefined || turn.hasSend) return;
    turn.hasSend = true;
    firstSend.observe(seconds(monotonic() - turn.started));
  }

  return { listener, line };
}

/** Never negative: the wall clock may have been set back. */
const seconds = (ms: Millis): number => Math.max(0, ms) / 1_000;

function keep<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (map.size >= measuredCountMax && !map.has(key)) map.delete(map.keys().next().value as Key);
  map.set(key, value);
}
