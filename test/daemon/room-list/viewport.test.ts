/**
 * What a page sees of the list: after whatever happened and wherever it looked, its rows are those
 * that a page would get that opens now.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RoomFilter, roomFilters } from "../../../src/daemon/api-types/values.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { createRoomListRig, keyOf, type RoomListRig } from "../../support/daemon/room-list-rig.ts";
import { property } from "../../support/property.ts";

const names = [...Array.from({ length: 24 }, (_, n) => `room-${n}`), "direct-1", "direct-2"];
const attentions = ["observing", "engaged.gathering", "engaged.running", "engaged.settling"];
const authors = ["Ann", "Bo", "Kit"];

const room = fc.constantFrom(...names);
const deeds = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      room,
      author: fc.constantFrom(...authors),
      decision: fc.constantFrom("engage" as const, "observe" as const, "denied" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("stand" as const),
      room,
      standing: fc.option(
        fc.record({
          attention: fc.constantFrom(...attentions),
          guard: fc.constantFrom("clear" as const, "tripped" as const, "muted" as const),
        }),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("look" as const),
      look: fc.record(
        {
          from: fc.integer({ min: 0, max: 40 }),
          limit: fc.integer({ min: 1, max: 30 }),
          filter: fc.constantFrom(...roomFilters),
          find: fc.constantFrom("", "room-1", "kit", "engage", "nobody"),
          follow: fc.boolean(),
          sort: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("slow" as const), slow: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 29, 30, 249, 250, 251, 999, 1_000, 2_000),
    }),
  },
);

async function deed(rig: RoomListRig, page: ReturnType<RoomListRig["open"]>, one: Deed) {
  if (one.do === "say") rig.say(one.room, one.author, one.decision);
  else if (one.do === "stand") rig.stand(one.room, one.standing);
  else if (one.do === "look") page.look(one.look);
  else if (one.do === "slow") page.slow = one.slow;
  else await rig.wait(one.ms);
}
type Deed = typeof deeds extends fc.Arbitrary<infer One> ? One : never;

const isEngaged = (state: string) => !["observing", "asleep"].includes(state);
const passes: Readonly<Record<RoomFilter, (row: Listed) => boolean>> = {
  all: () => true,
  engaged: ({ state }) => isEngaged(state),
  guarded: ({ guard }) => guard !== "clear",
  direct: ({ kind }) => kind === "direct",
};
type Listed = Awaited<ReturnType<RoomListRig["rooms"]["list"]>>["rows"][number];

describe("a window on the list", () => {
  property([fc.array(deeds, { maxLength: 60, size: "max" })], { numRuns: 60 })(
    "shows what a page that opens now is told, whatever happened before",
    async (list) => {
      const rig = createRoomListRig();
      const page = rig.open();
      await rig.wait(100);
      for (const one of list) await deed(rig, page, one);
      page.slow = false;
      page.look({ sort: true });
      await rig.wait(2_500);
      const looks = list.flatMap((one) => (one.do === "look" ? [one.look] : []));
      const look = Object.assign({}, ...looks.map(({ sort: _, ...rest }) => rest));
      const fresh = rig.open({ ...look, follow: false });
      await rig.wait(1_500);
      expect(page.rows()).toEqual(fresh.rows());
      expect(page.rows()).not.toContain(undefined);
      expect(page.model.total).toBe(fresh.model.total);
      expect(page.model.filters).toEqual(fresh.model.filters);
      expect([page.model.fresh, fresh.model.fresh]).toEqual([0, 0]);
      page.close();
      fresh.close();
      await rig.wait(5_000);
      expect(rig.clock.nextDue()).toBeNull();
    },
  );

  property([fc.array(deeds, { maxLength: 60, size: "max" })], { numRuns: 60 })(
    "has every row as it stands, in an order of its own, and counts as a recount does",
    async (list) => {
      const rig = createRoomListRig();
      const page = rig.open({ follow: false });
      await rig.wait(100);
      for (const one of list) await deed(rig, page, one);
      page.slow = false;
      await rig.wait(2_500);
      const { rows } = await rig.rooms.list({ find: "", state: null, from: 0, limit: 100 });
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const row of page.rows()) expect(row).toEqual(byKey.get(row?.key as string));
      for (const name of roomFilters)
        expect(page.model.filters[name]).toBe(rows.filter(passes[name]).length);
      page.close();
    },
  );

  test("has the rooms of each filter and of a search, and others as they come to pass", async () => {
    const rig = createRoomListRig();
    for (const name of names) rig.say(name, name === "room-3" ? "Kit" : "Ann");
    const page = rig.open({ filter: "engaged" });
    const titles = () => page.rows().map((row) => row?.title);
    await rig.wait(300);
    expect(titles()).toEqual([]);
    rig.stand("room-7", { attention: "engaged.gathering", guard: "clear" });
    await rig.wait(300);
    expect(titles()).toEqual(["room-7"]);
    rig.stand("room-7", { attention: "observing", guard: "muted" });
    await rig.wait(300);
    expect(titles()).toEqual([]);
    page.look({ filter: "guarded" });
    await rig.wait(300);
    expect(titles()).toEqual(["room-7"]);
    page.look({ filter: "direct" });
    await rig.wait(300);
    expect(titles().sort()).toEqual(["direct-1", "direct-2"]);
    page.look({ filter: "all", find: "KIT observe" });
    await rig.wait(300);
    expect(titles()).toEqual(["room-3"]);
    rig.say("room-9", "Kit");
    await rig.wait(1_500);
    expect(titles().sort()).toEqual(["room-3", "room-9"]);
    expect(page.model.filters).toEqual({ all: names.length, engaged: 0, guarded: 1, direct: 2 });
  });
});

describe("who looks at few of many rooms", () => {
  const many = (rig: RoomListRig, count = 1_000) => {
    for (let n = 0; n < count; n += 1) rig.say(`room-${n}`);
  };

  test("makes the hosts tell of those only", async () => {
    const rig = createRoomListRig();
    many(rig);
    const page = rig.open({ follow: false });
    await rig.wait(300);
    expect(rig.asked()).toBe(10);
    for (let round = 0; round < 5; round += 1) {
      many(rig);
      await rig.wait(250);
    }
    expect(rig.asked()).toBe(10 + 5 * 10);
    expect(page.rows().map((row) => row?.recent)).toEqual(Array(10).fill("oooooo"));
    page.look({ from: 500 });
    await rig.wait(250);
    expect(rig.asked()).toBe(70);
    many(rig);
    await rig.wait(250);
    expect(rig.asked()).toBe(80);
    page.close();
    many(rig);
    await rig.wait(5_000);
    expect(rig.asked()).toBe(80);
    expect(rig.clock.nextDue()).toBeNull();
  });

  test("is told a row once, and again when it changed", async () => {
    const rig = createRoomListRig();
    many(rig, 40);
    const page = rig.open({ follow: false, limit: 20 });
    await rig.wait(1_000);
    const before = page.frames();
    const kept = page.rows()[5];
    rig.rooms.listener.changed(hash52(kept?.key as string));
    await rig.wait(250);
    expect(page.rows()[5]).toBe(kept);
    rig.say(kept?.title as string);
    await rig.wait(250);
    expect(page.rows()[5]).not.toBe(kept);
    expect(page.frames() - before).toBe(1);
  });

  test("finds a room by its key, wherever it stands", async () => {
    const rig = createRoomListRig();
    many(rig);
    const page = rig.open({ follow: false, at: keyOf("room-600") });
    await rig.wait(300);
    const at = page.model.begin();
    expect(page.model.rowAt(at as number)?.title).toBe("room-600");
    expect(page.model.begin()).toBeNull();
    const nowhere = rig.open({ at: keyOf("room-4000") });
    await rig.wait(300);
    expect(nowhere.model.begin()).toBeNull();
    expect(nowhere.rows()).toHaveLength(10);
  });

  test("shares frames of the rows with others who look, each in a window of its own", async () => {
    const rig = createRoomListRig();
    many(rig, 100);
    const pages = [0, 5, 50].map((from) => rig.open({ from, follow: false }));
    await rig.wait(300);
    many(rig, 100);
    await rig.wait(300);
    const [one, two, other] = pages.map((page) => page.rows());
    expect(one?.slice(5)).toEqual(two?.slice(0, 5));
    expect(other?.map((row) => row?.recent)).toEqual(Array(10).fill("oo"));
  });
});

describe("who reads slowly", () => {
  test("is told nothing meanwhile, and then how things are by then", async () => {
    const rig = createRoomListRig();
    for (const name of names) rig.say(name);
    const page = rig.open({ limit: 30, follow: false });
    await rig.wait(300);
    page.slow = true;
    const before = page.frames();
    for (let n = 0; n < 200; n += 1) {
      rig.say(names[n % names.length] as string);
      await rig.wait(50);
    }
    rig.stand("room-5", { attention: "engaged.running", guard: "tripped" });
    await rig.wait(10_000);
    expect(page.frames()).toBe(before);
    page.slow = false;
    await rig.wait(1_000);
    expect(page.frames() - before).toBe(1);
    const fresh = rig.open({ limit: 30, follow: false });
    await rig.wait(300);
    const byKey = (rows: ReturnType<typeof page.rows>) =>
      [...rows].sort((a, b) => ((a?.key ?? "") < (b?.key ?? "") ? -1 : 1));
    expect(byKey(page.rows())).toEqual(byKey(fresh.rows()));
    expect(page.rows().find((row) => row?.title === "room-5")?.state).toBe("running");
  });

  test("does not hold up those who read fast", async () => {
    const rig = createRoomListRig();
    rig.say("room-1");
    const [slow, fast] = [rig.open(), rig.open()];
    await rig.wait(300);
    slow.slow = true;
    rig.say("room-1", "Bo");
    await rig.wait(300);
    expect(fast.rows()[0]?.last?.author).toBe("Bo");
    expect(slow.rows()[0]?.last?.author).toBe("Ann");
  });
});

describe("the order", () => {
  test("stays as it is until somebody wants another, and rooms without a place are counted", async () => {
    const rig = createRoomListRig();
    for (const name of ["a", "b", "c"]) {
      rig.say(name);
      await rig.wait(1);
    }
    const page = rig.open({ follow: false });
    const titles = () => page.rows().map((row) => row?.title);
    await rig.wait(300);
    expect(titles()).toEqual(["c", "b", "a"]);
    rig.say("a");
    rig.say("new");
    await rig.wait(10_000);
    expect(titles()).toEqual(["c", "b", "a"]);
    expect(page.model.fresh).toBe(1);
    page.look({ sort: true });
    await rig.wait(100);
    expect(titles().slice(0, 2).sort()).toEqual(["a", "new"]);
    expect(page.model.fresh).toBe(0);
    rig.say("b");
    page.look({ follow: true });
    await rig.wait(2_250);
    expect(titles()[0]).toBe("b");
  });

  test("begins with the first room that speaks, without anybody asking", async () => {
    const rig = createRoomListRig();
    const page = rig.open({ follow: false });
    await rig.wait(1_000);
    expect(page.model.ready).toBe(true);
    expect(page.model.total).toBe(0);
    rig.say("first");
    await rig.wait(250);
    expect(page.rows().map((row) => row?.title)).toEqual(["first"]);
  });
});

test("a daemon that is busy tells less often", async () => {
  const framesIn20s = async (lateMs: number) => {
    const rig = createRoomListRig();
    rig.say("room-1");
    const page = rig.open({ follow: false });
    await rig.wait(2_000);
    const before = page.frames();
    for (const from = rig.clock.now(); rig.clock.now() < from + 20_000; ) {
      rig.say("room-1");
      // Time passes, and timers that are due wait.
      rig.clock.moveTo(rig.clock.now() + lateMs);
      await rig.wait(10);
    }
    return page.frames() - before;
  };
  const [free, busy] = [await framesIn20s(0), await framesIn20s(400)];
  expect(free).toBe(80);
  expect(busy).toBeGreaterThanOrEqual(15);
  expect(busy).toBeLessThanOrEqual(30);
});

test("nobody looks elsewhere through a view that is over, or never was", async () => {
  const rig = createRoomListRig();
  const page = rig.open();
  await rig.wait(300);
  expect(page.look({ from: 1 })).toBe(true);
  page.close();
  expect(page.look({ from: 2 })).toBe(false);
});
