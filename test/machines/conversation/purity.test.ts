/**
 * The chart is pure by XState's own measure, and what the hosts run is the chart: `transition()` on
 * frozen snapshots gives, step by step, the states, the context and the effects of the running actor.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createActor, initialTransition, type SnapshotFrom, transition } from "xstate";
import { conversationLogic } from "../../../src/actors/host/conversation-stepper.ts";
import { type StepEvent, stepEvent } from "../../../src/machines/conversation/message-analysis.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import type { Effect, EmittedEffect } from "../../../src/machines/events/effects.ts";
import { createRandomStory } from "../../support/machines/random-story.ts";
import { modes, stories } from "../../support/machines/stories.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { Rig, settingsWith } from "../../support/runtime/conversation-rig.ts";

type Snapshot = SnapshotFrom<typeof conversationMachine>;
type Actions = ReturnType<typeof transition<typeof conversationMachine>>[1];

/** Freezes a value and all it holds; what is frozen already is whole. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const name in value) freeze(value[name]);
  return value;
}

function frozen(snapshot: Snapshot): Snapshot {
  freeze(snapshot.context);
  freeze(snapshot.value);
  Object.freeze(snapshot._nodes);
  return Object.freeze(snapshot);
}

/** The effects among the actions that XState gives back: there is nothing else to be done. */
function effectsOf(actions: Actions): EmittedEffect[] {
  return actions.map(({ type, params }) => {
    if ((type as string) !== "xstate.emit") throw new Error(`an action that is no effect: ${type}`);
    return (params as unknown as { readonly event: EmittedEffect }).event;
  });
}

/** One step of the machine as the hosts run it. */
function compiledStep(snapshot: Snapshot, event: StepEvent): [Snapshot, EmittedEffect[]] {
  const effects: EmittedEffect[] = [];
  const scope = {
    defer: (work: () => void) => work(),
    emit: (effect: EmittedEffect) => effects.push(effect),
  };
  return [conversationLogic.transition(snapshot, event, scope as never), effects];
}

/** Fields of the two contexts that differ; those of the same object need no second look. */
function differing({ context: a }: Snapshot, { context: b }: Snapshot): string[] {
  const found: string[] = [];
  for (const name in a)
    if (!(name in b) || !isSame(a[name as never], b[name as never])) found.push(name);
  for (const name in b) if (!(name in a)) found.push(name);
  return found;
}

/** Deep equality of plain data, which is all that there is; asked half a million times. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let place = 0; place < a.length; place += 1) if (!isSame(a[place], b[place])) return false;
    return true;
  }
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let fields = 0;
  for (const name in one) {
    if (!(name in other) || !isSame(one[name], other[name])) return false;
    fields += 1;
  }
  for (const _ in other) fields -= 1;
  return fields === 0;
}
/** After each step: `expect` is asked only for what it says of the difference. */
function expectSame(a: unknown, b: unknown): void {
  if (!isSame(a, b)) expect(a).toEqual(b);
}

/** A command carries the states as well, which only the actor's owner sees. */
const emittedForm = (effects: readonly Effect[]): unknown[] =>
  effects.map((effect) => {
    if (effect.type !== "command") return effect;
    const { attention: _, guard: __, ...status } = effect.status;
    return { ...effect, status };
  });

describe("transition() on frozen snapshots", () => {
  property([stories, modes, fc.constantFrom(1, 20)], { numRuns: rounds(20, 60) })(
    "plays every story as the running actors do, XState's and ours",
    (story, mode, cap) => {
      const rig = new Rig({ holdSlots: true, settings: { queue: { mode, cap, drop: "old" } } });
      const [first, begun] = initialTransition(conversationMachine, { settings: rig.settings });
      expect(begun).toEqual([]);
      const actor = createActor(conversationMachine, { input: { settings: rig.settings } });
      let emitted: EmittedEffect[] = [];
      actor.on("*", (effect) => emitted.push(effect));
      actor.start();
      let snapshot = first;
      const advance = (event: Parameters<typeof stepEvent>[1], effects: readonly Effect[]) => {
        const given = freeze(stepEvent(snapshot, event));
        const [next, actions] = transition(conversationMachine, frozen(snapshot), given);
        expectSame(effectsOf(actions), emittedForm(effects));
        emitted = [];
        actor.send(given);
        expectSame(emitted, emittedForm(effects));
        snapshot = next;
      };
      const step = rig.step.bind(rig);
      rig.step = (event) => {
        const effects = step(event);
        advance(event, effects);
        return effects;
      };
      const membership = { humans: 3, bots: 0, truncated: true, fetchedAt: 0 };
      advance({ type: "membership.read", at: 0, membership }, []);
      for (const make of story) rig.step(make(rig));
      expect(snapshot.context).toEqual(rig.conversation.context);
      expect(actor.getSnapshot().context).toEqual(rig.conversation.context);
      expect(actor.getSnapshot().value).toEqual(snapshot.value);
      const { attention, lock, guard } = rig.conversation.view();
      const at = attention.split(".");
      expect(snapshot.value).toEqual({
        attention: at.length === 1 ? at[0] : { engaged: at[1] },
        lock,
        guard,
      });
      actor.stop();
    },
  );

  const stepsInAll = 100_000;
  const stepsOfStory = 400;

  test(`the compiled machine does the same, over ${stepsInAll} random steps`, {
    // About 11 s of processor time; only to end what hangs.
    timeout: 600_000,
  }, () => {
    /** Of each combination of states, whose object the compiled machine has once: what happened in it. */
    const seen = new Map<object, Set<string>>();
    const emittedTypes = new Set<string>();
    for (let seed = 1; seed <= stepsInAll / stepsOfStory; seed += 1) {
      // To freeze each takes a tenth of the time: what writes into a snapshot shows in a few of the stories, too.
      const isFrozen = seed % rounds(5, 1) === 0;
      const story = createRandomStory(seed);
      const input = { settings: freeze(story.settings) };
      let [snapshot] = initialTransition(conversationMachine, input);
      /** Each `transition()` makes an actor, whose beginning nobody looks at: a fifth of the time of a step. */
      const begun = snapshot;
      const chart: typeof conversationMachine = Object.assign(
        Object.create(conversationMachine) as typeof conversationMachine,
        { getInitialSnapshot: () => begun },
      );
      const beginning = conversationLogic.getInitialSnapshot({} as never, input);
      expect(beginning.value).toEqual(snapshot.value);
      expect(beginning.context).toEqual(snapshot.context);
      for (let step = 0; step < stepsOfStory; step += 1) {
        const event = stepEvent(snapshot, story.next(snapshot.context));
        if (isFrozen) frozen(snapshot);
        if (isFrozen) freeze(event);
        const [expected, actions] = transition(chart, snapshot, event);
        const [compiled, effects] = compiledStep(snapshot, event);
        const same =
          differing(expected, compiled).length === 0 &&
          isSame(expected.value, compiled.value) &&
          isSame(effectsOf(actions), effects);
        if (!same) {
          const stepInfo = { seed, step, type: event.type };
          expect([stepInfo, compiled.value, effects]).toEqual([
            stepInfo,
            expected.value,
            effectsOf(actions),
          ]);
          expect(differing(expected, compiled)).toEqual([]);
        }
        const happened = seen.get(compiled.value) ?? new Set();
        seen.set(compiled.value, happened.add(event.type));
        for (const { type } of effects) emittedTypes.add(type);
        snapshot = compiled;
      }
    }
    // So that a generator that produces nothing new fails, too.
    const pairs = [...seen.values()].reduce((sum, { size }) => sum + size, 0);
    expect(pairs).toBeGreaterThan(700);
    expect(emittedTypes.size).toBeGreaterThan(18);
  });

  test("nothing in the context says whether the agent runs or what the lock is", () => {
    const places = new Map<string, Set<string>>();
    const add = (snapshot: Snapshot) => {
      const { attention, lock } = snapshot.value;
      const name = `${typeof attention === "string" ? attention : attention.engaged} ${lock}`;
      const context = JSON.stringify({ ...snapshot.context, settings: 0, configured: 0 });
      places.set(context, (places.get(context) ?? new Set()).add(name));
    };
    const settings = settingsWith();
    const rig = new Rig();
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.answer("one");
    const record = rig.conversation.record();
    const at = rig.now;
    const { turnId } = rig;
    const events = [
      { type: "disengage", at },
      { type: "skip", at, turnId },
      { type: "agent.ended", at, turnId, silent: false },
    ] as const;
    for (const order of [[], [0], [1], [2], [0, 1], [0, 2], [0, 1, 2]]) {
      const { context } = new Rig({ record }).conversation;
      const value = {
        attention: { engaged: "running" },
        lock: "granting",
        guard: "clear",
      } as const;
      let snapshot = conversationMachine.resolveState({ value, context: { ...context, settings } });
      snapshot = {
        ...snapshot,
        context: { ...snapshot.context, ledger: {}, typing: null, run: heldByNobody(snapshot) },
      };
      for (const place of order) snapshot = compiledStep(snapshot, events[place] as StepEvent)[0];
      add(snapshot);
    }
    expect(Math.max(...[...places.values()].map(({ size }) => size))).toBe(7);
  });
});

const heldByNobody = ({ context: { run } }: Snapshot) =>
  run === null ? null : { ...run, holds: false };
