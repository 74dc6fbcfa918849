/** Where a conversation last spoke, read from rows of which some can hold no message. */
import { expect, test } from "vitest";
import { newestRoute } from "../../../src/actors/journal/newest-route.ts";
import { conversationOf, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import type { StoreWrite } from "../../../src/domain/ports/index.ts";
import { called } from "../../support/restate/offers.ts";
import { groupKey } from "../../support/runtime/supervised.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const name = conversationOf(groupKey("spoken"));

test("the newest message that can be read says where, also behind rows that hold none", async () => {
  const store = createTestStore();
  expect(await newestRoute(store, name.conv)).toBeNull();
  const { event, ...identity } = called("spoken", "1");
  const { write } = newEvent(name, 1, event, identity);
  await store.commit([write]);
  const found = await newestRoute(store, name.conv);
  expect(found).toMatchObject({ channel: expect.any(String) });
  const bodies = ['{"type":"message.received","at":5,"seq":0}', '{"type":"message.received"'];
  const poison = bodies.map(
    (body, n) => ({ ...write, eid: n, identity: `poison ${n}`, body }) as StoreWrite,
  );
  await store.commit(poison);
  expect(await newestRoute(store, name.conv)).toEqual(found);
  await store.close();
});
