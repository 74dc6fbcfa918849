/**
 * What of a turn is stored together: fewer commits are fewer waits, and less to look at after a
 * crash.
 */
import { expect, test } from "vitest";
import { composableTurns } from "../../../src/actors/effects/composable-turns.ts";
import type { StepPlan } from "../../../src/actors/effects/effect-planner.ts";
import type { StoreWrite } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

test("a turn's order and the first lines of its transcript are one commit", async () => {
  const store = createTestStore();
  const commits: StoreWrite[][] = [];
  const { commit } = store;
  const noted = (writes: readonly StoreWrite[]) => {
    commits.push([...writes]);
    return commit(writes);
  };
  const world = await new World({ store: { ...store, commit: noted } }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "at one" }] });
  await world.say("when is lunch?", { direct: true });
  await world.pass(20_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["at one"]);
  const orders = commits.filter((writes) =>
    writes.some((write) => write.kind === "run" && write.row?.state === "running"),
  );
  expect(orders).toHaveLength(1);
  const said = orders[0]?.flatMap((write) => (write.kind === "transcript" ? [write.line] : []));
  expect(said?.map(({ role, text }) => [role, text])).toEqual([["user", "when is lunch?"]]);
});

const run = { kind: "run", conv: 1, row: null } as const;
const begin = { kind: "session", op: "touched" } as unknown as StoreWrite;
const marked = (conv: number, writes: readonly StoreWrite[] = [run], attempt = 1) => ({
  conv,
  message: null,
  plan: { writes, step: { conv, effects: [{ type: "turn.run", attempt }] } } as unknown as StepPlan,
});
const found = (applied: Parameters<typeof composableTurns>[0]) =>
  composableTurns(applied).map(([, { conv }]) => conv);

test("a turn waits for its commit if something of its input is in it", () => {
  const timer = { conv: 1, message: null, plan: null };
  expect(found([timer, marked(1), marked(2)])).toEqual([1, 2]);
  expect(found([{ ...timer, message: {} }, marked(1), marked(2)])).toEqual([2]);
  expect(found([marked(1, [run, begin]), marked(2)])).toEqual([2]);
  expect(found([marked(1, [run], 2)])).toEqual([]);
});
