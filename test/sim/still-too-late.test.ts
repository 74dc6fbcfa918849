/** Two rooms wait for one account, and what stood first is too old to be said by the time it may. */
import { expect, test } from "vitest";
import { createSendQueues, type QueuedDelivery } from "../../src/actors/outbox/send-queues.ts";
import { SimulatedClock } from "../../src/actors/simulation/simulated-clock.ts";
import { play, sends } from "../support/replay/replay.ts";

const room = (id: string) => ({ channel: "irc", chat: { id, kind: "group" } });
const mentions = [{ id: "self", isSelf: true }];

test("a rate limit that ends as a reaction is over ends nothing else", async () => {
  const lines = await play([
    { t: 0, in: { ...room("g1"), id: "a", text: "ok", author: { id: "bo" }, mentions } },
    { t: 499, platform: { channel: "irc", send: "429", retryAfterMs: 60_000, count: 2 } },
    { t: 500, in: { ...room("g2"), id: "b", text: "/new", author: { id: "ann" }, mentions } },
    { t: 200_000, in: { ...room("g1"), id: "c", text: "ok", author: { id: "bo" }, mentions } },
  ]);
  const statuses = sends(lines).map(({ chat, status }) => `${chat} ${status}`);
  expect(statuses).toEqual(["g1 sent", "g2 sent", "g1 sent"]);
});

test("a head that is over before it is tried lets those behind it start, each once", () => {
  const clock = new SimulatedClock(0);
  const started: number[] = [];
  let isReady = false;
  const slots = createSendQueues({
    clock,
    ready: () => isReady,
    start: (item) => {
      const { conv } = item.delivery.row;
      started.push(conv);
      if (conv % 2 === 1) slots.remove(item);
    },
  });
  slots.open();
  for (const conv of [1, 3, 2, 5, 4]) {
    const route = { channel: "irc", account: "default", chat: { id: `${conv}` } };
    const row = { conv, kind: "reply", dueAt: 0 };
    const item = { delivery: { row, body: { route } }, expiry: null, queue: null };
    slots.add(item as QueuedDelivery, 0);
  }
  isReady = true;
  slots.wake("irc", "default");
  expect(started).toEqual([1, 3, 2, 5, 4]);
  expect(slots.active()).toBe(2);
});
