/**
 * A platform is away for twenty minutes: what is still young enough is sent when it is back, in
 * order, and the rest is reported as expired wherever an operator looks.
 */
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/daemon/observability/metrics.ts";
import type { Fate } from "../../support/runtime/world.ts";
import { World } from "../../support/runtime/world.ts";

const minute = 60_000;
const rooms = ["kitchen", "attic"] as const;

/** Sends a message in each room once a minute; each is answered immediately. */
async function minutes(world: World, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    for (const room of rooms)
      await world.say("hello", {
        id: `${room} ${n}`,
        chat: { id: room, kind: "group" },
        mentions: [{ id: "bot", isSelf: true }],
      });
    await world.pass(minute);
  }
}
/** Away from the connection, or there and failing. */
const absences: Readonly<
  Record<string, { leave(world: World): void; return(world: World): void }>
> = {
  "has no connection": {
    leave: (world) => {
      world.ready = false;
    },
    return: (world) => {
      world.ready = true;
      world.runtime.connectionChanged("telegram", "default");
    },
  },
  "answers with errors": {
    leave: (world) => {
      world.fates.push(...Array<Fate>(10_000).fill("fail"));
    },
    return: (world) => {
      world.fates.splice(0);
    },
  },
};
/** An answer does not wait for the one before it. */
const config = { messages: { queue: { mode: "queue" } } };

describe.each(Object.entries(absences))("a platform that %s for 20 minutes", (_, absence) => {
  const away = async (restarts: boolean) => {
    const world = await new World({ config }).start();
    absence.leave(world);
    await minutes(world, 10);
    if (restarts) await world.restart();
    await minutes(world, 10);
    const backAt = world.clock.now();
    absence.return(world);
    await world.pass(10 * minute);
    return { world, backAt };
  };

  test.each([false, true])("gets fresh replies only, in order (restart: %s)", async (restarts) => {
    const { world, backAt } = await away(restarts);
    expect(world.sent.length).toBeGreaterThan(0);
    for (const { at, id } of world.sent) {
      expect(at).toBeGreaterThanOrEqual(backAt);
      const row = await world.store.outboxRow(id);
      expect(at - (row?.createdAt ?? 0), id).toBeLessThan(15 * minute);
    }
    for (const room of rooms) {
      const answered = world.sent.flatMap(({ chat, replyTo }) => (chat === room ? [replyTo] : []));
      const asked = answered.map((id) => Number(id?.split(" ")[1]));
      expect(asked).toEqual(asked.toSorted((a, b) => a - b));
      expect(new Set(asked).size).toBe(asked.length);
    }
    expect(await world.store.outboxOpen()).toEqual([]);
  });

  test("whose old replies are told as expired in the stream, the counts and every why", async () => {
    const { world } = await away(false);
    const metrics = createMetrics({
      clock: { now: () => 0, monotonic: () => 0 },
      status: () => world.runtime.status(),
      version: "0.0.0-test",
    });
    for (const line of world.lines) metrics.listener.line(line);
    const expired = world.sends().filter(({ status }) => status === "expired");
    expect(expired.length).toBeGreaterThan(0);
    expect(await metrics.registry.metrics()).toContain(
      `earshot_sends_total{status="expired"} ${expired.length}`,
    );
    const rows = await world.store.outboxByState(["expired"], 1_000);
    const texts = rows.filter(({ kind }) => kind === "reply");
    expect(texts.map(({ id }) => id).toSorted()).toEqual(expired.map(({ id }) => id).toSorted());
    for (const { error } of texts) expect(error).toBe("too old to be sent");
    const [why] = await world.runtime.why("kitchen 0");
    expect(why?.fate.deliveries).toMatchObject([{ status: "expired" }]);
  });
});

test("a platform that is away for a minute loses nothing (the twin)", async () => {
  const world = await new World({ config }).start();
  world.ready = false;
  await minutes(world, 1);
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(minute);
  expect(world.sends().map(({ status }) => status)).toEqual(["sent", "sent"]);
});
