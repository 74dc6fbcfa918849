/**
 * An answer is about to be sent, and the disk is full for longer than answers may wait: it was sent
 * when there was space again, however old it was by then.
 *
 * Found by the campaign (`npm run sim -- --seed 1575`).
 */
import { expect, test } from "vitest";
import { openTemporaryStore } from "../../src/adapters/stores/sqlite-store.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { createTestStore } from "../support/runtime/test-store.ts";
import { World } from "../support/runtime/world.ts";

const replyAgeMsMax = 900_000;

/** A disk that is full from the moment on in which a message is to be sent. */
function diskThatFills() {
  const store = openTemporaryStore();
  const disk = { isFull: false, isLarge: false };
  const commit: Store["commit"] = async (writes) => {
    const sends = writes.some((write) => write.kind === "outbox" && write.row.state === "sending");
    disk.isFull = !disk.isLarge && (disk.isFull || sends);
    if (disk.isFull) throw new EarshotError("EAR_STORE_FULL", "Cannot write: the disk is full");
    return store.commit(writes);
  };
  const filling = new Proxy(store, {
    get: (target, name) => (name === "commit" ? commit : Reflect.get(target, name)),
  });
  return { disk, store: createTestStore(filling) };
}

test.each([
  ["older than an answer may be, is not sent", replyAgeMsMax, "expired"],
  ["in time, is sent", replyAgeMsMax / 2, "sent"],
])("what a full disk held up, %s", async (_, fullMs, status) => {
  const { disk, store } = diskThatFills();
  const world = await new World({ store }).start();
  await world.say("hello", { direct: true });
  await world.pass(fullMs);
  expect([disk.isFull, world.sent]).toEqual([true, []]);
  disk.isLarge = true;
  await world.pass(60_000);
  expect(world.sends().map((line) => line.status)).toEqual([status]);
  expect(world.sent).toHaveLength(status === "sent" ? 1 : 0);
  await world.runtime.stop();
});
