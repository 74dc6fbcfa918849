/**
 * The supervisor with real hosts, on this thread and in worker threads: what was dispatched is applied
 * once, in order, whatever the number of hosts.
 */
import { afterEach, describe, expect, test } from "vitest";
import { decodeVerdict } from "../../src/domain/decision.ts";
import { createWorld, groupKey, message, type World } from "../support/supervised.ts";

let world: World | null = null;
afterEach(async () => {
  await world?.supervisor.stop();
  world = null;
});

const start = async (...args: Parameters<typeof createWorld>): Promise<World> => {
  world = createWorld(...args);
  await world.supervisor.start();
  return world;
};

describe.each([0, 1, 2])("with %i workers", (workers) => {
  test("a batch goes round and every event is applied once", async () => {
    const world = await start({ workers });
    world.sendAll(
      Array.from({ length: 200 }, (_, n) => [
        groupKey(`room${n % 7}`),
        message(`room${n % 7}`, String(n + 1), n % 3 === 0 ? "hello earshot" : "hm"),
      ]),
    );
    await world.supervisor.settled();
    expect(world.rows.map(({ applied }) => applied)).toEqual(world.rows.map(() => 1));
    const verdicts = world.codes().map((code) => decodeVerdict(code ?? 0)?.decision);
    expect(verdicts.filter((decision) => decision === "engage").length).toBeGreaterThan(10);
    expect(verdicts).not.toContain(undefined);
  });
});
