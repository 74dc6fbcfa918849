/**
 * A search of every state the chart can reach, from every state by every kind of event. States are
 * compared by what matters, not by names and times. So a bad state is not merely absent from random
 * stories: it cannot be reached.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { SnapshotFrom } from "xstate";
import { conversationLogic } from "../../../src/actors/host/conversation-stepper.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import type { QueueMode } from "../../../src/domain/settings.ts";
import { stepEvent } from "../../../src/machines/conversation/message-analysis.ts";
import {
  attentionOf,
  attentions,
  guardStates,
  locks,
} from "../../../src/machines/conversation/states.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { readSnapshot, writeSnapshot } from "../../../src/machines/snapshot/snapshot.ts";
import { rounds } from "../../support/rounds.ts";
import { Rig, settingsWith } from "../../support/runtime/conversation-rig.ts";

type Snapshot = SnapshotFrom<typeof conversationMachine>;

interface Place {
  readonly now: number;
  readonly key: string;
  readonly attention: string;
  readonly lock: string;
  readonly guard: string;
  readonly typing: boolean;
  readonly pending: number;
}

const route = {
  channel: "test",
  account: "default",
  thread: null,
  chat: { id: "room", kind: "group" },
} as const;
const few = (count: number) => Math.min(2, count);
const some = (count: number) => Math.min(1, count);

/** What two situations must share to count as the same. */
function placeOf({ value, context }: Snapshot, now: number): Place {
  const { lock, guard } = value;
  const attention = attentionOf(value);
  const { run, forming, inbox, quietAt, typing, heartbeat } = context;
  const turn =
    run === null
      ? null
      : [
          ...[run.order.attempt, run.abortedBy !== null, some(run.blocks), few(run.open.length)],
          run.order.heartbeat === true,
          // Without a turn there is nothing that the lock could stop.
          lock,
        ];
  const rest = [
    ...[some(forming.length), few(inbox.length), quietAt !== null, typing !== null],
    heartbeat !== null,
  ];
  return {
    now,
    attention,
    lock,
    guard,
    key: JSON.stringify([attention, guard, turn, rest]),
    typing: typing !== null,
    pending: forming.length + inbox.length + (run === null ? 0 : 1) + (heartbeat === null ? 0 : 1),
  };
}

/** Every kind of thing that can happen next, as far as it can make a difference here. */
function eventsAt(
  { context }: Snapshot,
  now: number,
  rig: Rig,
  mode: QueueMode,
): ConversationEvent[] {
  const { run, forming, inbox, quietAt } = context;
  const at = now;
  const turnId = run?.order.turnId ?? "T0";
  const index = run?.blocks ?? 0;
  const open = run?.open[0]?.index ?? 9;
  const text = { index, from: index * 4, to: index * 4 + 4, text: "word", mentions: [] };
  const waiting = [...forming, ...inbox].map(({ messages }) => messages[0]?.id ?? "");
  const attachments: InboundInput["attachments"] = [{ id: "a", kind: "image" }];
  rig.now = now;
  const messages =
    waiting.length > 2
      ? []
      : [
          rig.message("ann", "hm", { to: "us" }),
          rig.message("bob", "hm", { to: "us", attachments }),
          rig.message("bob", "hm"),
          // The guard is beside the queue mode: one search with bots is enough.
          ...(mode === "collect" ? [rig.message("bot", "hm", { to: "us", bot: true })] : []),
        ];
  return [
    ...messages,
    ...waiting.map((id) => deletionOf(id, at)),
    { type: "deadline.due", at: Math.max(now, forming[0]?.closesAt ?? 0), id: "flush" },
    { type: "deadline.due", at: Math.max(now, quietAt ?? 0), id: "quiet" },
    ...(mode === "interrupt" ? [interruptDue(now)] : []),
    { type: "lane.granted", at, turnId: `T${context.turnSeq + 1}` },
    { type: "lane.granted", at: now + 900_001, turnId: `T${context.turnSeq + 1}` },
    { type: "agent.text", at, turnId, ...text },
    { type: "agent.spoke", at, turnId, what: "text" },
    { type: "agent.ended", at, turnId, silent: false },
    { type: "agent.failed", at, turnId, code: "error", message: "x" },
    { type: "agent.failed", at, turnId, code: "host-lost", message: "x" },
    { type: "agent.failed", at, turnId, code: "aborted", message: "x" },
    { type: "host.recovered", at },
    { type: "delivery.sent", at, turnId, index: open, messageIds: ["s"] },
    { type: "delivery.failed", at, turnId, index: open, status: "dead" },
    { type: "run.aborted", at, by: "ann" },
    { type: "disengage", at },
    { type: "skip", at, turnId },
    { type: "command.applied", at, command: "status", args: [] },
    // So are heartbeats: one search with them is enough.
    ...(mode === "interrupt" ? [{ type: "heartbeat.due", at, route } as const] : []),
  ];
}

const interruptDue = (now: number): ConversationEvent => ({
  type: "deadline.due",
  at: now + 1_000,
  id: "interrupt",
});

function deletionOf(id: string, at: number): ConversationEvent {
  const chat = { id: "room", kind: "group" } as const;
  const deletion = { channel: "test", account: "default", chat, thread: null, id };
  return { type: "message.deleted", at, seq: 0, deletion };
}

/** Effects are not looked at here. */
const unheard = { defer: (work: () => void) => work(), emit: () => {} };

function explore(mode: QueueMode) {
  const settings = settingsWith({
    queue: { mode, cap: 3 },
    loopGuard: { maxConsecutive: 1, maxInWindow: 1, windowMs: 60_000, hardLimit: 2 },
    notifyRoom: "always",
  });
  const rig = new Rig();
  const first = conversationLogic.getInitialSnapshot({} as never, { settings });
  const start = placeOf(first, 0);
  const places = new Map([[start.key, start]]);
  const ways = new Map<string, Set<string>>();
  const open = [{ now: 0, key: start.key, snapshot: first }];
  const records: string[] = [];
  for (let here = open.shift(); here !== undefined; here = open.shift()) {
    // A step replaces what it changes, so that all events of a place can begin at the same snapshot.
    const { snapshot, now } = here;
    for (const event of eventsAt(snapshot, now, rig, mode)) {
      const given = stepEvent(snapshot, event);
      const next = conversationLogic.transition(snapshot, given, unheard as never);
      const there = placeOf(next, event.at);
      const from = ways.get(there.key) ?? new Set();
      ways.set(there.key, from.add(here.key));
      if (places.has(there.key)) continue;
      places.set(there.key, there);
      open.push({ now: there.now, key: there.key, snapshot: next });
      records.push(writeSnapshot(next.value, next.context));
    }
  }
  return { places, ways, records, settings };
}

/** Everything from which one of `targets` can be reached. */
function reaching(targets: readonly string[], ways: Map<string, Set<string>>): Set<string> {
  const found = new Set(targets);
  const open = [...targets];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const from of ways.get(key) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      open.push(from);
    }
  }
  return found;
}

describe.each(["collect", "interrupt"] as const)("every reachable state (%s)", (mode) => {
  let ways: Map<string, Set<string>>;
  let all: Place[];
  let explored: ReturnType<typeof explore>;
  beforeAll(() => {
    explored = explore(mode);
    ways = explored.ways;
    all = [...explored.places.values()];
  });

  test("all states of the chart are among them", () => {
    expect(new Set(all.map(({ attention }) => attention))).toEqual(new Set(attentions));
    expect(new Set(all.map(({ lock }) => lock))).toEqual(new Set(locks));
    const guards = mode === "collect" ? guardStates : ["clear"];
    expect(new Set(all.map(({ guard }) => guard))).toEqual(new Set(guards));
    expect(all.length).toBeGreaterThan(200);
  });

  test("its record is read, and makes sense", () => {
    const read = explored.records.filter((_, place) => place % rounds(5, 1) === 0);
    for (const record of read) {
      const { value, context } = readSnapshot(record, explored.settings);
      expect(JSON.parse(writeSnapshot(value, context))).toEqual(JSON.parse(record));
    }
    expect(read.length).toBeGreaterThan(40);
  });

  test("nobody observes with work pending", () => {
    const bad = all.filter(({ attention, pending }) => attention === "observing" && pending > 0);
    expect(bad).toEqual([]);
  });

  test("nobody is engaged with nothing to do", () => {
    const bad = all.filter(({ attention, pending }) => attention !== "observing" && pending === 0);
    expect(bad).toEqual([]);
  });

  test("nobody is shown as typing while observing", () => {
    const bad = all.filter(({ attention, typing }) => attention === "observing" && typing);
    expect(bad).toEqual([]);
  });

  test("each has a way back to observing", () => {
    const idle = all.filter(({ attention }) => attention === "observing").map(({ key }) => key);
    const back = reaching(idle, ways);
    expect(all.filter(({ key }) => !back.has(key))).toEqual([]);
  });
});

/** What the chart's own config says, for reading. */
interface Described {
  readonly description?: string;
  readonly on?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, Described>>;
  readonly [other: string]: unknown;
}

function statesOf(config: Described, path = "conversation"): [string, Described][] {
  const inner = Object.entries(config.states ?? {});
  return [[path, config], ...inner.flatMap(([name, one]) => statesOf(one, `${path}.${name}`))];
}

describe("the chart as a document", () => {
  const states = statesOf(conversationMachine.config as unknown as Described);

  test("every state says what it is", () => {
    expect(states.filter(([, { description }]) => !description).map(([path]) => path)).toEqual([]);
    expect(states.length).toBeGreaterThan(12);
  });

  test("it needs no timer and no child, and a second step only where something has ended", () => {
    const more = states.filter(([, one]) => "after" in one || "invoke" in one);
    expect(more).toEqual([]);
    const transient = states.filter(([, one]) => "always" in one).map(([path]) => path);
    expect(transient).toEqual(["conversation.attention.engaged.next"]);
  });

  test("every event of a conversation has its place in it", () => {
    const known: Record<ConversationEvent["type"], true> = {
      "message.received": true,
      "message.edited": true,
      "message.deleted": true,
      "message.reacted": true,
      "history.seeded": true,
      "membership.read": true,
      "judge.answered": true,
      "deadline.due": true,
      "lane.granted": true,
      "agent.started": true,
      "agent.spoke": true,
      "agent.text": true,
      "agent.steered": true,
      "agent.message-ended": true,
      "agent.tool": true,
      "agent.tool-failed": true,
      "agent.usage": true,
      "agent.ended": true,
      "agent.failed": true,
      "delivery.sent": true,
      "delivery.failed": true,
      disengage: true,
      skip: true,
      "command.applied": true,
      "config.changed": true,
      "run.aborted": true,
      "host.recovered": true,
      "heartbeat.due": true,
      "text.due": true,
      "prompt.due": true,
      "fellow.spoke": true,
      "session.reset": true,
      "session.overridden": true,
    };
    const placed = new Set(states.flatMap(([, { on = {} }]) => Object.keys(on)));
    expect([...placed].sort()).toEqual(Object.keys(known).sort());
  });
});
