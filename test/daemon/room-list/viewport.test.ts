/**
 * What a page sees of the list: after whatever happened and wherever it looked, its rows are those
 * that a page would be told that opens now.
 */
import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { type RoomFilter, roomFilters } from "../../../src/daemon/api-types/values.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { createRoomListRig, keyOf, type RoomListRig } from "../../support/daemon/room-list-rig.ts";

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

async function deed(house: RoomListRig, page: ReturnType<RoomListRig["open"]>, one: Deed) {
  if (one.do === "say") house.say(one.room, one.author, one.decision);
  else if (one.do === "stand") house.stand(one.room, one.standing);
  else if (one.do === "look") page.look(one.look);
  else if (one.do === "slow") page.slow = one.slow;
  else await house.wait(one.ms);
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
  test.prop([fc.array(deeds, { maxLength: 60, size: "max" })], { numRuns: 60 })(
    "shows what a page that opens now is told, whatever happened before",
    async (list) => {
      const house = createRoomListRig();
      const page = house.open();
      await house.wait(100);
      for (const one of list) await deed(house, page, one);
      page.slow = false;
      page.look({ sort: true });
      await house.wait(2_500);
      const looks = list.flatMap((one) => (one.do === "look" ? [one.look] : []));
      const look = Object.assign({}, ...looks.map(({ sort: _, ...rest }) => rest));
      const fresh = house.open({ ...look, follow: false });
      await house.wait(1_500);
      expect(page.rows()).toEqual(fresh.rows());
      expect(page.rows()).not.toContain(undefined);
      expect(page.model.total).toBe(fresh.model.total);
      expect(page.model.filters).toEqual(fresh.model.filters);
      expect([page.model.fresh, fresh.model.fresh]).toEqual([0, 0]);
      page.close();
      fresh.close();
      await house.wait(5_000);
      expect(house.clock.nextDue()).toBeNull();
    },
  );

  test.prop([fc.array(deeds, { maxLength: 60, size: "max" })], { numRuns: 60 })(
    "has every row as it stands, in an order of its own, and counts as a recount does",
    async (list) => {
      const house = createRoomListRig();
      const page = house.open({ follow: false });
      await house.wait(100);
      for (const one of list) await deed(house, page, one);
      page.slow = false;
      await house.wait(2_500);
      const { rows } = await house.rooms.list({ find: "", state: null, from: 0, limit: 100 });
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const row of page.rows()) expect(row).toEqual(byKey.get(row?.key as string));
      for (const name of roomFilters)
        expect(page.model.filters[name]).toBe(rows.filter(passes[name]).length);
      page.close();
    },
  );

  test("has the rooms of each filter and of a search, and others as they come to pass", async () => {
    const house = createRoomListRig();
    for (const name of names) house.say(name, name === "room-3" ? "Kit" : "Ann");
    const page = house.open({ filter: "engaged" });
    const titles = () => page.rows().map((row) => row?.title);
    await house.wait(300);
    expect(titles()).toEqual([]);
    house.stand("room-7", { attention: "engaged.gathering", guard: "clear" });
    await house.wait(300);
    expect(titles()).toEqual(["room-7"]);
    house.stand("room-7", { attention: "observing", guard: "muted" });
    await house.wait(300);
    expect(titles()).toEqual([]);
    page.look({ filter: "guarded" });
    await house.wait(300);
    expect(titles()).toEqual(["room-7"]);
    page.look({ filter: "direct" });
    await house.wait(300);
    expect(titles().sort()).toEqual(["direct-1", "direct-2"]);
    page.look({ filter: "all", find: "KIT observe" });
    await house.wait(300);
    expect(titles()).toEqual(["room-3"]);
    house.say("room-9", "Kit");
    await house.wait(1_500);
    expect(titles().sort()).toEqual(["room-3", "room-9"]);
    expect(page.model.filters).toEqual({ all: names.length, engaged: 0, guarded: 1, direct: 2 });
  });
});

describe("who looks at few of many rooms", () => {
  const many = (house: RoomListRig, count = 1_000) => {
    for (let n = 0; n < count; n += 1) house.say(`room-${n}`);
  };

  test("makes the hosts tell of those only", async () => {
    const house = createRoomListRig();
    many(house);
    const page = house.open({ follow: false });
    await house.wait(300);
    expect(house.asked()).toBe(10);
    for (let round = 0; round < 5; round += 1) {
      many(house);
      await house.wait(250);
    }
    expect(house.asked()).toBe(10 + 5 * 10);
    expect(page.rows().map((row) => row?.recent)).toEqual(Array(10).fill("oooooo"));
    page.look({ from: 500 });
    await house.wait(250);
    expect(house.asked()).toBe(70);
    many(house);
    await house.wait(250);
    expect(house.asked()).toBe(80);
    page.close();
    many(house);
    await house.wait(5_000);
    expect(house.asked()).toBe(80);
    expect(house.clock.nextDue()).toBeNull();
  });

  test("is told a row once, and again when it changed", async () => {
    const house = createRoomListRig();
    many(house, 40);
    const page = house.open({ follow: false, limit: 20 });
    await house.wait(1_000);
    const before = page.frames();
    const kept = page.rows()[5];
    house.rooms.listener.changed(hash52(kept?.key as string));
    await house.wait(250);
    expect(page.rows()[5]).toBe(kept);
    house.say(kept?.title as string);
    await house.wait(250);
    expect(page.rows()[5]).not.toBe(kept);
    expect(page.frames() - before).toBe(1);
  });

  test("finds a room by its key, wherever it stands", async () => {
    const house = createRoomListRig();
    many(house);
    const page = house.open({ follow: false, at: keyOf("room-600") });
    await house.wait(300);
    const at = page.model.begin();
    expect(page.model.rowAt(at as number)?.title).toBe("room-600");
    expect(page.model.begin()).toBeNull();
    const nowhere = house.open({ at: keyOf("room-4000") });
    await house.wait(300);
    expect(nowhere.model.begin()).toBeNull();
    expect(nowhere.rows()).toHaveLength(10);
  });

  test("shares frames of the rows with others who look, each in a window of its own", async () => {
    const house = createRoomListRig();
    many(house, 100);
    const pages = [0, 5, 50].map((from) => house.open({ from, follow: false }));
    await house.wait(300);
    many(house, 100);
    await house.wait(300);
    const [one, two, other] = pages.map((page) => page.rows());
    expect(one?.slice(5)).toEqual(two?.slice(0, 5));
    expect(other?.map((row) => row?.recent)).toEqual(Array(10).fill("oo"));
  });
});

describe("who reads slowly", () => {
  test("is told nothing meanwhile, and then how things are by then", async () => {
    const house = createRoomListRig();
    for (const name of names) house.say(name);
    const page = house.open({ limit: 30, follow: false });
    await house.wait(300);
    page.slow = true;
    const before = page.frames();
    for (let n = 0; n < 200; n += 1) {
      house.say(names[n % names.length] as string);
      await house.wait(50);
    }
    house.stand("room-5", { attention: "engaged.running", guard: "tripped" });
    await house.wait(10_000);
    expect(page.frames()).toBe(before);
    page.slow = false;
    await house.wait(1_000);
    expect(page.frames() - before).toBe(1);
    const fresh = house.open({ limit: 30, follow: false });
    await house.wait(300);
    const byKey = (rows: ReturnType<typeof page.rows>) =>
      [...rows].sort((a, b) => ((a?.key ?? "") < (b?.key ?? "") ? -1 : 1));
    expect(byKey(page.rows())).toEqual(byKey(fresh.rows()));
    expect(page.rows().find((row) => row?.title === "room-5")?.state).toBe("running");
  });

  test("does not hold up those who read fast", async () => {
    const house = createRoomListRig();
    house.say("room-1");
    const [slow, fast] = [house.open(), house.open()];
    await house.wait(300);
    slow.slow = true;
    house.say("room-1", "Bo");
    await house.wait(300);
    expect(fast.rows()[0]?.last?.author).toBe("Bo");
    expect(slow.rows()[0]?.last?.author).toBe("Ann");
  });
});

describe("the order", () => {
  test("stays as it is until somebody wants another, and rooms without a place are counted", async () => {
    const house = createRoomListRig();
    for (const name of ["a", "b", "c"]) {
      house.say(name);
      await house.wait(1);
    }
    const page = house.open({ follow: false });
    const titles = () => page.rows().map((row) => row?.title);
    await house.wait(300);
    expect(titles()).toEqual(["c", "b", "a"]);
    house.say("a");
    house.say("new");
    await house.wait(10_000);
    expect(titles()).toEqual(["c", "b", "a"]);
    expect(page.model.fresh).toBe(1);
    page.look({ sort: true });
    await house.wait(100);
    expect(titles().slice(0, 2).sort()).toEqual(["a", "new"]);
    expect(page.model.fresh).toBe(0);
    house.say("b");
    page.look({ follow: true });
    await house.wait(2_250);
    expect(titles()[0]).toBe("b");
  });

  test("begins with the first room that speaks, without anybody asking", async () => {
    const house = createRoomListRig();
    const page = house.open({ follow: false });
    await house.wait(1_000);
    expect(page.model.ready).toBe(true);
    expect(page.model.total).toBe(0);
    house.say("first");
    await house.wait(250);
    expect(page.rows().map((row) => row?.title)).toEqual(["first"]);
  });
});

test("a daemon that is busy tells less often", async () => {
  const toldIn20s = async (lateMs: number) => {
    const house = createRoomListRig();
    house.say("room-1");
    const page = house.open({ follow: false });
    await house.wait(2_000);
    const before = page.frames();
    for (const from = house.clock.now(); house.clock.now() < from + 20_000; ) {
      house.say("room-1");
      // Time passes, and whoever is due by then waits for his turn.
      house.clock.moveTo(house.clock.now() + lateMs);
      await house.wait(10);
    }
    return page.frames() - before;
  };
  const [free, busy] = [await toldIn20s(0), await toldIn20s(400)];
  expect(free).toBe(80);
  expect(busy).toBeGreaterThanOrEqual(15);
  expect(busy).toBeLessThanOrEqual(30);
});

test("nobody looks elsewhere through a view that is over, or never was", async () => {
  const house = createRoomListRig();
  const page = house.open();
  await house.wait(300);
  expect(page.look({ from: 1 })).toBe(true);
  page.close();
  expect(page.look({ from: 2 })).toBe(false);
});
