/**
 * A stop ends, whatever becomes of the store meanwhile: what it wanted to store last waits for the next start.
 */
import { expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

test("one whose store is taken away while it stores its last mark ends as well", async () => {
  const memory = createTestStore();
  let marks = 0;
  const store: Store = {
    ...memory,
    async commit(writes) {
      if (!writes.some((write) => write.kind === "meta" && write.name === "sweptSeq"))
        return memory.commit(writes);
      marks += 1;
      throw new EarshotError("EAR_STATE_LOCKED", "Cannot go on: another process has the state");
    },
  };
  const world = await new World({ store }).start();
  await world.say("hello", { id: "m1", direct: true });
  await world.pass(10_000);
  let isOver = false;
  const stopped = world.runtime.stop({ drainMs: 5_000 }).then(() => {
    isOver = true;
  });
  for (let turns = 0; turns < 200 && !isOver; turns += 1) {
    await world.pass(100);
    await new Promise(setImmediate);
  }
  expect(marks).toBe(1);
  expect(isOver).toBe(true);
  await stopped;
});
