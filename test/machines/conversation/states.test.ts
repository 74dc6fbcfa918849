/**
 * Every state of the chart counts: XState's own graph reaches each, each path runs, and a chart
 * without it behaves differently, by what it does or decides and not by a name.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { getMicrosteps, initialTransition, type SnapshotFrom } from "xstate";
import { getShortestPaths, getSimplePaths } from "xstate/graph";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { compileMachine } from "../../../src/actors/host/conversation-stepper.ts";
import { type StepEvent, stepEvent } from "../../../src/machines/conversation/message-analysis.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import type { EmittedEffect } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { storyOf } from "../../support/machines/random-story.ts";
import { rounds } from "../../support/rounds.ts";
import { Rig, settingsWith } from "../../support/runtime/conversation-rig.ts";

type Machine = typeof conversationMachine;
type Snapshot = SnapshotFrom<Machine>;

const settings = settingsWith({
  queue: { mode: "collect", cap: 3 },
  loopGuard: { maxConsecutive: 1, maxInWindow: 1, windowMs: 60_000, hardLimit: 2 },
});

/** What may happen next, as far as it leads somewhere else. */
function eventsAt(snapshot: Snapshot): StepEvent[] {
  const { run, quietAt, turnSeq, inbox, forming } = snapshot.context;
  const at = Math.max(forming[0]?.closesAt ?? 0, quietAt ?? 0);
  const turnId = run?.order.turnId ?? "T0";
  const index = run?.blocks ?? 0;
  const open = run?.open[0]?.index ?? 9;
  const from = index * 4;
  const rig = new Rig();
  rig.now = at;
  const text = { index, from, to: from + 4, text: "word", mentions: [] };
  const isFull = inbox.length + forming.length > 1;
  const events: ConversationEvent[] = [
    ...(isFull ? [] : [rig.message("ann", "earshot", { to: "us", id: `a${turnSeq}` })]),
    ...(isFull ? [] : [rig.message("bot", "earshot", { to: "us", bot: true, id: `b${turnSeq}` })]),
    { type: "deadline.due", at, id: "flush" },
    { type: "deadline.due", at, id: "quiet" },
    { type: "lane.granted", at, turnId: `T${turnSeq + 1}` },
    { type: "agent.text", at, turnId, ...text },
    { type: "agent.ended", at, turnId, silent: false },
    { type: "delivery.sent", at, turnId, index: open, messageIds: ["s"] },
    { type: "disengage", at },
    { type: "skip", at, turnId },
  ];
  return events.map((event) => stepEvent(snapshot, event));
}

/** What two situations must share to count as the same. */
function situationOf({ value, context }: Snapshot): string {
  const { run, forming, inbox, quietAt } = context;
  const open = Math.min(1, run?.open.length ?? 0);
  return JSON.stringify([value, open, forming.length > 0, inbox.length > 0, quietAt !== null]);
}

const nameOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Object.values(value as object)
        .map(nameOf)
        .join(".");

function statesIn(value: object, path = ""): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = path === "" ? name : `${path}.${name}`;
    if (typeof inner === "string") return [here, `${here}.${inner}`];
    return [here, ...statesIn(inner as object, here)];
  });
}

interface Config {
  readonly states?: Readonly<Record<string, Config>>;
  readonly [field: string]: unknown;
}
const allStates = (config: Config, path = ""): string[] =>
  Object.entries(config.states ?? {}).flatMap(([name, inner]) => {
    const here = path === "" ? name : `${path}.${name}`;
    return [here, ...allStates(inner, here)];
  });
const chart = conversationMachine.config as unknown as Config;
const states = allStates(chart);

/** The steps of a path, taken by a conversation as the hosts run it. */
function runPath(
  steps: readonly { readonly event: { readonly type: string } }[],
): Snapshot["value"] {
  const conversation = createConversation({ key: "path", settings });
  for (const { event } of steps)
    if (event.type !== "xstate.init") conversation.step(event as ConversationEvent);
  const { attention, lock, guard } = conversation.view();
  const [first, second] = attention.split(".");
  conversation.stop();
  return {
    attention: second === undefined ? first : { engaged: second },
    lock,
    guard,
  } as Snapshot["value"];
}

describe("the graph of the chart", () => {
  let paths: ReturnType<typeof getShortestPaths<Machine>>;
  beforeAll(() => {
    paths = getShortestPaths(conversationMachine, {
      input: { settings },
      events: eventsAt,
      serializeState: situationOf,
      limit: 200_000,
    });
  });

  test("a shortest path leads to every state, `next` on the way", () => {
    const reached = new Set(paths.flatMap(({ state }) => statesIn(state.value)));
    for (const { state, steps } of paths) {
      const event = steps.at(-1)?.event;
      const before = steps.at(-2)?.state;
      if (event === undefined || before === undefined) continue;
      const micro = getMicrosteps(conversationMachine, before, event as StepEvent);
      for (const [{ value }] of micro) for (const one of statesIn(value)) reached.add(one);
      expect(micro.length, nameOf(state.value)).toBeLessThan(3);
    }
    expect(states.filter((one) => !reached.has(one))).toEqual([]);
    expect(paths.length).toBeGreaterThan(100);
  });

  test("each of them runs", () => {
    for (const { state, steps } of paths) expect(runPath(steps)).toEqual(state.value);
  });

  test("every simple path through one turn leads to the states it says", () => {
    /** One message of one person, one block, and whatever may come between. */
    const ofOneTurn = (snapshot: Snapshot) =>
      eventsAt(snapshot).filter((event) => {
        if (event.type === "message.received")
          return snapshot.value.attention === "observing" && !event.message.author.isBot;
        if (event.type === "disengage") return false;
        return event.type !== "agent.text" || snapshot.context.run?.blocks === 0;
      });
    const simple = getSimplePaths(conversationMachine, {
      input: { settings },
      events: ofOneTurn,
      serializeState: ({ value, context }) =>
        JSON.stringify([value, { ...context, settings: 0, configured: 0 }]),
      stopWhen: ({ value, context }) => value.attention === "observing" && context.turnSeq > 0,
      limit: 2_000,
    });
    const ends = new Set(simple.map(({ state }) => nameOf(state.value)));
    expect(simple.length).toBeGreaterThan(50);
    expect(ends.size).toBeGreaterThan(7);
    for (const { state, steps } of simple) expect(runPath(steps)).toEqual(state.value);
  });
});

/** The config without one state: nothing leads there any more. */
function without(removed: string): Machine {
  const root = "conversation";
  const absolute = (target: string, parent: string) =>
    target.startsWith("#") ? target.slice(root.length + 2) : `${parent}.${target}`;
  const goes = (target: unknown, parent: string) => {
    if (typeof target !== "string") return true;
    const path = absolute(target, parent);
    return path !== removed && !path.startsWith(`${removed}.`);
  };
  const kept = (transitions: unknown, parent: string) => {
    const list = [transitions].flat() as readonly { readonly target?: unknown }[];
    return list.filter(({ target }) => goes(target, parent));
  };
  const copy = (config: Config, path: string): Config => {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf(".")));
    const inner = Object.entries(config.states ?? {}).flatMap(([name, state]) => {
      const here = path === "" ? name : `${path}.${name}`;
      return here === removed ? [] : [[name, copy(state, here)] as const];
    });
    const {
      on = {},
      always,
      initial,
    } = config as { on?: object; always?: unknown; initial?: string };
    const names = inner.map(([name]) => name);
    return {
      ...config,
      on: Object.fromEntries(
        Object.entries(on).map(([type, transitions]) => [type, kept(transitions, parent)]),
      ),
      ...(always === undefined ? {} : { always: kept(always, parent) }),
      ...(config.states === undefined ? {} : { states: Object.fromEntries(inner) }),
      ...(initial === undefined || names.includes(initial) ? {} : { initial: names[0] }),
    };
  };
  const config = copy(chart, "");
  const { guards, actions } = conversationMachine.implementations;
  const made = new (conversationMachine.constructor as new (...args: unknown[]) => Machine)(
    config,
    { guards, actions },
  );
  return compileMachine(made);
}

/** Plays a story; what each step decided and wants done. */
function play(machine: Machine, events: readonly ConversationEvent[], input: object): string[] {
  let [snapshot] = initialTransition(machine, input as Parameters<typeof initialTransition>[1]);
  return events.map((event) => {
    const effects: EmittedEffect[] = [];
    const scope = {
      defer: (work: () => void) => work(),
      emit: (effect: EmittedEffect) => effects.push(effect),
    };
    snapshot = machine.transition(snapshot, stepEvent(snapshot, event), scope as never);
    return JSON.stringify(effects);
  });
}

describe("the chart without a state", () => {
  const whole = compileMachine(conversationMachine);
  const stories = Array.from({ length: rounds(45, 90) }, (_, seed) => storyOf(seed + 1, 150));
  const lived = stories.map(({ events, settings }) => play(whole, events, { settings }));

  test("the same chart lives the same stories (so that random results fail)", () => {
    const again = compileMachine(conversationMachine);
    for (const [place, { events, settings }] of stories.entries())
      expect(play(again, events, { settings })).toEqual(lived[place]);
  });

  test.each(states.filter((path) => path.includes(".")))("%s does or decides otherwise", (path) => {
    const poorer = without(path);
    const differs = stories.some(
      ({ events, settings }, place) =>
        play(poorer, events, { settings }).join() !== lived[place]?.join(),
    );
    expect(differs).toBe(true);
  });
});
