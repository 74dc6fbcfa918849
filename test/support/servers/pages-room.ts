/**
 * The simulator of the pages' test server: the real ladder on a room of the simplest kind. A turn is one
 * scripted run, a reply credits whom it answers, nothing is batched. Enough to have true ladders to draw.
 */
import type { Why } from "../../../src/actors/runtime.types.ts";
import type { EngagementInput, Participant } from "../../../src/domain/decision.ts";
import type { Inbound } from "../../../src/domain/message.ts";
import { type ScenarioLine, scenarioOf } from "../../../src/domain/scenario.ts";
import type { ScriptedRun } from "../../../src/domain/script.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { explainEngagement } from "../../../src/machines/engagement.ts";
import { effectiveHumans } from "../../../src/machines/humans.ts";
import { signalsOf } from "../../../src/machines/signals.ts";

const rules: EngagementInput["rules"] = {
  trigger: ["dm", "mention", "reply"],
  activation: "ladder",
  aliases: ["scout"],
  stickiness: { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
};

interface Room {
  readonly runs: ScriptedRun[];
  participants: Participant[];
  membership: EngagementInput["room"]["membership"];
  credits: Record<string, number>;
  /** Replies on their way: when they arrive and whom they credit. */
  ahead: { t: number; author: string }[];
}

/** Answers `POST /api/simulate`. */
export function simulateRoom(values: readonly unknown[]): {
  lines: StreamLine[];
  why: Record<string, Why>;
} {
  const scenario = scenarioOf(values, "lines");
  const start = scenario.header.start ?? 0;
  const room: Room = { runs: [], participants: [], membership: null, credits: {}, ahead: [] };
  const lines: StreamLine[] = [];
  const why: Record<string, Why> = {};
  for (const line of scenario.lines) {
    arrive(room, line.t, start);
    take(room, line, start, lines, why);
  }
  return { lines: lines.sort((a, b) => a.t - b.t), why };
}

function arrive(room: Room, t: number, start: number): void {
  for (const reply of room.ahead.filter((one) => one.t <= t))
    room.credits[reply.author] = start + reply.t + rules.stickiness.windowMs;
  room.ahead = room.ahead.filter((one) => one.t > t);
}

function take(
  room: Room,
  line: ScenarioLine,
  start: number,
  lines: StreamLine[],
  why: Record<string, Why>,
): void {
  if ("agent" in line) room.runs.push(...line.agent.runs);
  if ("membership" in line) {
    const { humans, bots, truncated } = line.membership;
    room.membership = { humans, bots, truncated, fetchedAt: start + line.t };
  }
  if (!("in" in line)) return;
  const told = decide(room, line.in, line.t, start);
  why[line.in.id] = told;
  const { decision, rule, credit } = told.explanation!.verdict;
  lines.push({ t: line.t, id: line.in.id, key: told.key, decision, rule, credit });
  if (credit === "consumed") delete room.credits[line.in.author.id];
  if (decision === "engage") lines.push(...turn(room, line.in, line.t, told.key));
}

function decide(room: Room, message: Inbound, t: number, start: number): Why {
  const now = start + t;
  const { author } = message;
  const others = room.participants.filter((one) => one.id !== author.id);
  room.participants = [
    ...others,
    { id: author.id, name: author.name, isBot: author.isBot, lastSeenAt: now },
  ];
  const input: EngagementInput = {
    message: signalsOf(message, { ownMessages: [], everyoneMentions: false }),
    rules,
    room: { participants: room.participants, membership: room.membership, botInThread: false },
    credits: { ...room.credits },
    held: room.ahead.map((reply) => reply.author),
    now,
  };
  const explanation = explainEngagement(input);
  return {
    message,
    at: now,
    seq: 1,
    key: "agent:main:simulator:group:room",
    recorded: explanation.verdict,
    explanation,
    humans: effectiveHumans(input.room, rules, now),
    participants: room.participants,
    membership: room.membership,
    credits: input.credits,
    held: input.held,
    guard: { state: "clear", consecutive: 0 },
    fate: { turnId: null, turn: null, batch: [], outcome: null, dropped: null, deliveries: [] },
  };
}

let turns = 0;

function turn(room: Room, message: Inbound, t: number, key: string): StreamLine[] {
  const run = room.runs.shift();
  turns += 1;
  const steps = run?.steps ?? [];
  const took = steps.reduce((sum, step) => sum + ("waitMs" in step ? step.waitMs : 0), 0);
  const text = steps.map((step) => ("text" in step ? step.text : "")).join("");
  const at = t + took;
  room.ahead.push({ t: at, author: message.author.id });
  const place = { channel: "simulator", account: "default", chat: "room", thread: null };
  const start = { t, key, event: "agent_start", turn: turns, batch: [message.id] } as const;
  return [
    { ...start, replyTo: message.id, guard: false, nudge: true },
    {
      t: at,
      out: "send",
      key,
      ...place,
      replyTo: message.id,
      text,
      id: `turn-${turns}:0`,
      status: "sent",
    },
    { t: at, key, event: "agent_end", turn: turns, outcome: "replied" },
  ];
}
