/**
 * Load, counted in messages and in the order of decisions: what is offered is decided once or refused, and a
 * busy conversation does not keep the others waiting.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const minute = 60_000;

/** To somebody else, so that nobody waits for a turn. */
const aside = inboundSchema.parse({
  channel: "telegram",
  chat: { id: "r", kind: "group" },
  id: "m",
  author: { id: "u", name: "U" },
  text: "x",
  mentions: [{ id: "zoe", isSelf: false }],
});
const event = (id: string, chat: string): ChannelEvent => ({
  type: "message",
  message: { ...aside, id, chat: { ...aside.chat, id: chat } },
});

interface Offered {
  readonly id: string;
  readonly chat: string;
}
/** Messages n from `from` on, spread over so many rooms. */
const spread = (from: number, count: number, rooms: number): Offered[] =>
  Array.from({ length: count }, (_, n) => ({ id: `m${from + n}`, chat: `r${n % rooms}` }));

/** Offers them in requests of so many; what came of each. */
async function offer(world: World, messages: readonly Offered[], size: number) {
  const taken: Offered[] = [];
  const refused: Offered[] = [];
  const requests: Promise<void>[] = [];
  for (let at = 0; at < messages.length; at += size) {
    const part = messages.slice(at, at + size);
    const events = part.map(({ id, chat }) => event(id, chat));
    requests.push(
      world.runtime.ingest("telegram", "default", events).then(
        () => void taken.push(...part),
        () => void refused.push(...part),
      ),
    );
  }
  await Promise.all(requests);
  return { taken, refused };
}
const ids = (messages: readonly Offered[]) => messages.map(({ id }) => id).sort();
/** The messages that were decided, in that order. */
const decided = (world: World) =>
  world.decisions().flatMap((line) => ("id" in line ? [String(line.id)] : []));

describe("offered = applied + refused", () => {
  test("at the limit of the intake, and each message once when the refused ones come again", async () => {
    const world = await new World().start();
    const all = spread(0, limits.ingressPendingMax + 2_000, 200);
    const first = await offer(world, all, 7);
    expect(first.taken.length + first.refused.length).toBe(all.length);
    // A request is taken whole or not at all.
    expect(limits.ingressPendingMax - first.taken.length).toBeLessThan(7);
    expect(world.runtime.status().ingress.refused).toBe(first.refused.length);
    await world.pass(minute);
    expect(decided(world).sort()).toEqual(ids(first.taken));
    const second = await offer(world, first.refused, 7);
    expect(second.refused).toEqual([]);
    await world.pass(minute);
    expect(decided(world).sort()).toEqual(ids(all));
    expect(world.runtime.status().ingress).toMatchObject({ pending: 0, redelivered: 0 });
  });

  const burst = fc.record({
    count: fc.integer({ min: 1, max: 120 }),
    rooms: fc.integer({ min: 1, max: 40 }),
    size: fc.integer({ min: 1, max: 50 }),
    /** The commit that fails during this burst; 0: none. */
    failsAt: fc.integer({ min: 0, max: 4 }),
  });
  property([fc.array(burst, { minLength: 1, maxLength: 6 })], { numRuns: rounds(5, 100) })(
    "while the store fails now and then, too",
    async (bursts) => {
      const world = await new World().start();
      const taken: Offered[] = [];
      let next = 0;
      let refusals = 0;
      for (const { count, rooms, size, failsAt } of bursts) {
        if (failsAt > 0) world.disk.fail({ at: failsAt });
        let waiting = spread(next, count, rooms);
        next += count;
        while (waiting.length > 0) {
          const outcome = await offer(world, waiting, size);
          taken.push(...outcome.taken);
          refusals += outcome.refused.length;
          waiting = outcome.refused;
          world.disk.heal();
          await world.pass(minute);
        }
      }
      expect(decided(world).sort()).toEqual(ids(taken));
      expect(taken).toHaveLength(next);
      expect(world.runtime.status().ingress).toMatchObject({ pending: 0, refused: refusals });
      await world.runtime.stop();
    },
  );
});

describe("one conversation with 10,000 messages", () => {
  const others = 100;

  test("starves nobody: what is stored after all of them is decided before thousands of them", async () => {
    const world = await new World().start();
    const hot = limits.ingressPendingMax - others;
    await offer(world, spread(0, hot, 1), 100);
    const before = decided(world).length;
    const calm = Array.from({ length: others }, (_, n) =>
      offer(world, [{ id: `calm${n}`, chat: `calm${n}` }], 1),
    );
    await Promise.all(calm);
    await world.pass(minute);
    const order = decided(world);
    expect(order).toHaveLength(hot + others);
    const last = order.findLastIndex((id) => id.startsWith("calm"));
    // They wait for what is under way, which is bounded, and not for what waits as they do.
    const { hostBatchesInFlightMax, hostBatchEventsMax } = limits;
    expect(last - before).toBeLessThan(3 * hostBatchesInFlightMax * hostBatchEventsMax);
    expect(hot + others - last).toBeGreaterThan(hot / 4);
    expect(new Set(order).size).toBe(order.length);
  });
});
