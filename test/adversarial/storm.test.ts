/**
 * Memory under traffic: what is kept grows with what is configured to be kept, and not with how
 * much was said. A storm over many rooms, and long talk in few of them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { limits } from "../../src/domain/limits.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { rounds } from "../support/rounds.ts";
import { World } from "../support/runtime/world.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const liveConversations = 50;
const config = {
  workers: { liveConversations },
  messages: { dedupe: { entries: 500 } },
  context: { size: 5 },
};

let folder = "";
let store: Store;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "earshot-storm-"));
  store = await openSqliteStore({ path: join(folder, "earshot.db") });
  world = await new World({ store, config }).start();
});
afterEach(async () => {
  await world.runtime.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

let said = 0;
/** A line in each of so many rooms, all at once; every tenth is for the agent. */
function round(rooms: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: rooms }, (_, room) => {
      said += 1;
      const text = said % 10 === 0 ? "earshot, are you there?" : "just talk";
      const author = { id: `u${said % 7}`, name: "U" };
      return world.say(text, { id: `s${said}`, chat: { id: `r${room}`, kind: "group" }, author });
    }),
  );
}
/** What the test itself has kept, counted and let go. */
function decided(): number {
  const count = world.decisions().length;
  for (const kept of [world.lines, world.sent, world.logged, world.typed, world.typing])
    kept.length = 0;
  world.reactions.length = 0;
  world.refreshed.length = 0;
  return count;
}

test("a storm over a thousand rooms loses nothing, and those that owe nothing are put away", async () => {
  const rooms = 1_000;
  const kept: number[] = [];
  const waves = rounds(2, 3);
  for (let n = 0; n < waves; n += 1) {
    const all = round(rooms);
    expect(world.runtime.status().ingress.pending).toBeLessThanOrEqual(limits.ingressPendingMax);
    await all;
    kept.push(world.runtime.status().conversations.live);
  }
  // One in ten waits for its turn here, and stays.
  expect(Math.max(...kept)).toBeLessThanOrEqual(liveConversations + (waves * rooms) / 10);
  await world.pass(120_000);
  expect(decided()).toBe(waves * rooms);
  const { conversations, ...rest } = world.runtime.status();
  expect(conversations.live).toBeLessThanOrEqual(liveConversations);
  expect(rest).toMatchObject({
    ready: true,
    turns: { running: 0, waiting: 0 },
    ingress: { pending: 0, refused: 0, redelivered: 0 },
  });
});

test("talk that goes on leaves no trace in memory beyond what is kept of each room", async () => {
  const rooms = 50;
  const heapAfter = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      await round(rooms);
      await world.pass(5_000);
    }
    expect(decided()).toBe(times * rooms);
    collect();
    return process.memoryUsage().heapUsed;
  };
  // The prompts of the newest turns are kept, too: their number is reached before the first look.
  const turnsARound = rooms / 10;
  const warm = await heapAfter(limits.promptsKeptMax / turnsARound);
  // A message that stayed would be half a kilobyte and more, and that however often one looks; what this process
  // has besides grows and shrinks.
  const between = rounds(30, 80);
  let each = Number.POSITIVE_INFINITY;
  for (let looks = 1; looks <= 240 / between && each >= 400; looks += 1)
    each = ((await heapAfter(between)) - warm) / (looks * between * rooms);
  expect(each).toBeLessThan(400);
});
