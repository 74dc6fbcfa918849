/**
 * The steps of deliveries that inspectors are shown: on the node that makes the sends, and on others, which have only
 * what is stored.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { stepsBetween } from "../../../src/actors/outbox/delivery-steps.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import type { OutboxRow, SideStep, Store } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { type Fate, World } from "../../support/runtime/world.ts";

/**
 * A world, the steps that it reports, and those that somebody finds who sees only what it stores.
 * @param onStored A text has a new state
 */
async function watched(config: Record<string, unknown> = {}, onStored = (_: OutboxRow) => {}) {
  const reported: SideStep[] = [];
  const found: SideStep[] = [];
  const rows = new Map<string, OutboxRow>();
  const inner = createTestStore();
  const commit: Store["commit"] = async (writes, ...more) => {
    const answers = await inner.commit(writes, ...more);
    for (const write of writes) {
      if (write.kind !== "outbox") continue;
      found.push(...stepsBetween(rows.get(write.row.id) ?? null, write.row));
      rows.set(write.row.id, write.row);
      if (isText(write.row)) onStored(write.row);
    }
    return answers;
  };
  const store: Store = Object.create(inner, { commit: { value: commit } });
  const stepped = (step: SideStep) => {
    if (step.machine === "delivery") reported.push(step);
  };
  const events = createRuntimeEvents(() => undefined, { stepped });
  const world = await new World({ config, store, ports: { events } }).start();
  return { world, rows, reported, found };
}

const isText = ({ kind }: Pick<OutboxRow, "kind">) => kind !== "react" && kind !== "unreact";
const path = (steps: readonly SideStep[], ids: readonly string[]) =>
  steps.flatMap(({ id, event, value }) => (ids.includes(id) ? [`${event} ${value}`] : []));

const answered = async (fates: readonly Fate[]) => {
  const all = await watched({ turn: { onInDoubt: "resend-if-fresh" } });
  all.world.fates.push(...fates);
  await all.world.say("a", { direct: true });
  await all.world.pass(60_000);
  const ids = [...all.rows.values()].filter(isText).map(({ id }) => id);
  return { ...all, id: ids[0] as string, steps: () => path(all.reported, ids) };
};
const first = ["send sending", "confirm sent"];

test("a doubt is shown before the send that follows it, and why", async () => {
  const { reported, id, steps } = await answered(["fail", "odd"]);
  expect(steps()).toEqual([
    ...["send sending", "defer waiting"],
    ...["send sending", "doubt in-doubt", "resend pending", ...first],
  ]);
  const of = (event: string) => reported.find((step) => step.id === id && step.event === event);
  expect(of("defer")?.detail).toBe("down");
  expect(of("resend")?.detail).toContain("socket closed");
});

test("an attempt that another node's connection ended is taken back", async () => {
  const { world, steps } = await answered(["fail", "elsewhere"]);
  expect(steps()).toEqual(["send sending", "defer waiting", "send sending", "withhold waiting"]);
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(1_000);
  expect(steps().slice(4)).toEqual(first);
});

test("what the operator orders is a step, and what a start finds", async () => {
  const refused = await answered(["refuse"]);
  expect(await refused.world.runtime.resend(refused.id)).toBe(true);
  await refused.world.pass(1_000);
  expect(refused.steps()).toEqual(["send sending", "refuse dead", "resend pending", ...first]);

  const cut = await watched();
  cut.world.fates.push("hang");
  await cut.world.say("a", { direct: true });
  await cut.world.pass(1_000);
  await cut.world.restart();
  await cut.world.pass(60_000);
  const ids = [...cut.rows.values()].filter(isText).map(({ id }) => id);
  expect(path(cut.reported, ids)).toEqual([
    ...["send sending", "doubt in-doubt", "resend pending", ...first],
  ]);
});

test("a send that was stored as the runtime stops is not made, and in no doubt", async () => {
  let onStored = (_: OutboxRow) => {};
  const { world, reported, found } = await watched({}, (row) => onStored(row));
  const { runtime } = world;
  onStored = ({ state }) => void (state === "sending" && runtime.stop());
  await world.say("a", { direct: true });
  await world.pass(1_000);
  await runtime.stop();
  expect(world.sent).toEqual([]);
  onStored = () => {};
  await world.restart();
  await world.pass(1_000);
  expect(world.sent).toHaveLength(1);
  const { id } = world.sent[0] as { id: string };
  const steps = ["send sending", "withhold pending", ...first];
  expect([path(found, [id]), path(reported, [id])]).toEqual([steps, steps]);
});

const fate = fc.constantFrom<Fate>("ok", "ok", "fail", "429", "refuse", "hang", "odd", "elsewhere");
const acts = fc.array(
  fc.oneof(
    fc.constantFrom("say" as const, "restart" as const, "ready" as const, "resend" as const),
    fc.record({ pass: fc.integer({ min: 0, max: 1_200_000 }) }),
  ),
  { minLength: 1, maxLength: 12 },
);

property([acts, fc.array(fate, { maxLength: 30 }), fc.array(fate, { maxLength: 10 })], {
  numRuns: rounds(20, 40),
})(
  "who sees only what is stored finds each step of a text, and how each reaction ended",
  async (story, fates, reactionFates) => {
    const { world, rows, reported, found } = await watched();
    world.fates.push(...fates);
    world.reactionFates.push(...reactionFates);
    for (const act of ["say" as const, ...story]) {
      if (act === "say") await world.say("a", { direct: true });
      else if (act === "restart") {
        // What the platform answers while the runtime stops is seen here, and not stored any more.
        await world.pass(0);
        await world.restart();
      } else if (act === "resend") {
        for (const { id, state } of [...rows.values()])
          if (state === "dead" || state === "in-doubt") await world.runtime.resend(id);
      } else if (act === "ready") {
        world.ready = true;
        world.runtime.connectionChanged("telegram", "default");
      } else await world.pass(act.pass);
    }
    await world.pass(0);
    await world.runtime.stop();
    for (const row of rows.values()) {
      const of = (steps: readonly SideStep[]) => steps.filter(({ id }) => id === row.id);
      const shown = (step: SideStep) => [step.event, step.value, step.context];
      if (isText(row)) expect(of(found).map(shown)).toEqual(of(reported).map(shown));
      // Where it is by its steps is where it is stored to be.
      const { state, attempts, doubts } = row;
      const last = of(found).at(-1);
      if (last !== undefined)
        expect([last.value, last.context]).toEqual([state, { attempts, doubts }]);
      // Another event may have led there: a reaction was given up while it waited.
      if (last?.ended === true) expect(of(reported).at(-1)).toMatchObject({ value: state });
    }
  },
);
