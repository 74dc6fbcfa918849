/**
 * Configs that follow each other while the disk is slow. The number in a journal row names one config
 * only: conversations decide live under the config that a later replay reads by that number.
 */
import { expect, test, vi } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const withPause = (debounceMs: number) =>
  scenarioConfig({
    agents: { defaults: { driver: { kind: "scripted" } } },
    messages: { inbound: { debounceMs, debounceMaxMs: 60_000 } },
  });

test("a config that is read while the one before is being stored decides at once", async () => {
  const store = createTestStore();
  const syncs: (() => void)[] = [];
  let isSlow = false;
  const sync = () => (isSlow ? new Promise<void>((done) => syncs.push(done)) : Promise.resolve());
  const world = await new World({ store: { ...store, syncsItself: false, sync } }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "at one" }] });
  isSlow = true;
  const first = world.runtime.reload(withPause(60_000));
  await vi.waitFor(() => expect(syncs).toHaveLength(1));
  const second = world.runtime.reload(withPause(0));
  syncs[0]?.();
  await first;
  await vi.waitFor(() => expect(syncs).toHaveLength(2));
  const said = world.say("when is lunch?", { direct: true });
  await vi.waitFor(() => expect(world.decisions()).toHaveLength(1));
  isSlow = false;
  for (const done of syncs) done();
  await Promise.all([second, said]);
  await world.pass(1_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["at one"]);
});
