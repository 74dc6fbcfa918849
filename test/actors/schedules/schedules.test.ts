/**
 * Texts and prompts at set times, with a simulated clock: each due time once, over a crash at any
 * moment, late ones within their limit, and a wall clock that somebody sets.
 */
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createSchedules } from "../../../src/actors/schedules/schedules.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import { nextDue, type Schedule, scheduleSchema } from "../../../src/domain/schedule.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const to = { channel: "telegram", chat: { id: "room", kind: "group" } };
const minute = 60_000;
const hour = 60 * minute;
/** The world begins at 2023-11-14 22:13:20 UTC. */
const begin = 1_700_000_000_000;
const entry = (over: object): Schedule =>
  scheduleSchema.parse({ name: "one", to, text: "Tea.", ...over });
const hourly = { name: "one", to, text: "Tea.", cron: "0 * * * *" };
const said = (world: World) => world.sent.map(({ text, at }) => [text, at - begin]);
const atHour = (n: number) => 46 * minute + 40_000 + (n - 1) * hour;

test("a line of the config is said each time it is due, and not in between", async () => {
  const world = await new World({ config: { schedule: [hourly] } }).start();
  await world.pass(3 * hour);
  const times = said(world).map(([, at]) => at);
  expect(times).toEqual([atHour(1), atHour(2), atHour(3)]);
  expect(world.runtime.schedules().list()).toMatchObject([
    { name: "one", origin: "config", next: begin + atHour(4), last: { result: "said" } },
  ]);
});

test("a prompt is a turn of the agent", async () => {
  const { text: _, ...rest } = hourly;
  const world = await new World({
    config: { schedule: [{ ...rest, prompt: "Say tea." }] },
  }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "It is tea time." }] });
  await world.pass(hour);
  expect(world.sent.map(({ text }) => text)).toEqual(["It is tea time."]);
});

property([fc.array(fc.integer({ min: 1, max: 40 * minute }), { minLength: 1, maxLength: 6 })], {
  numRuns: rounds(4, 15),
})("each due time is said once, whenever the process is killed", async (waits) => {
  const world = await new World({ config: { schedule: [hourly] } }).start();
  for (const wait of waits) {
    await world.pass(wait);
    await world.kill();
  }
  await world.pass(hour);
  const passed = world.clock.now() - begin;
  const due = [1, 2, 3, 4, 5, 6, 7].map(atHour).filter((at) => at <= passed);
  expect(said(world).map(([, at]) => at)).toEqual(due);
});

test("what was missed is said once if it is not too late, else skipped and told", async () => {
  const config = { schedule: [hourly] };
  const world = await new World({ config }).start();
  await world.pass(10 * minute);
  await world.runtime.stop();
  world.clock.advanceTo(begin + atHour(3) + 20 * minute);
  await world.start(config);
  await world.pass(minute);
  expect(world.sent).toHaveLength(1);
  await world.runtime.stop();

  const daily = { schedule: [{ ...hourly, cron: "0 23 * * *" }] };
  const other = await new World({ config: daily }).start();
  await other.runtime.stop();
  other.clock.advanceTo(begin + atHour(1) + limits.scheduleLateMsMax + minute);
  await other.start(daily);
  await other.pass(minute);
  expect(other.sent).toEqual([]);
  expect(other.logged.filter(({ event }) => event === "schedule.skipped")).toHaveLength(1);
  expect(other.runtime.schedules().list()).toMatchObject([
    { last: { result: "skipped", due: begin + atHour(1) }, next: begin + atHour(25) },
  ]);
});

test("a moment is said once and is gone, and lines can be paused and removed", async () => {
  const world = await new World({ config: { schedule: [hourly] } }).start();
  const schedules = world.runtime.schedules();
  const at = new Date(begin + 10 * minute).toISOString();
  expect(await schedules.add(entry({ name: "once", at }))).toBe("added");
  expect(await schedules.add(entry({ name: "once", at }))).toBe("taken");
  expect(await schedules.add(entry({ name: "often", cron: "*/5 * * * *" }))).toBe("added");
  await world.pass(11 * minute);
  await world.kill();
  const again = world.runtime.schedules();
  expect(again.list().map(({ name }) => name)).not.toContain("once");
  expect(said(world).filter(([, time]) => time === 10 * minute)).toHaveLength(1);
  const before = world.sent.length;
  expect(await again.pause("often", true)).toBe(true);
  await world.pass(20 * minute);
  expect(world.sent).toHaveLength(before);
  expect(await again.pause("often", false)).toBe(true);
  await world.pass(5 * minute);
  expect(world.sent).toHaveLength(before + 1);
  expect(await again.remove("often")).toBe("removed");
  expect(await again.remove("often")).toBe("unknown");
  expect(await again.remove("one")).toBe("configured");
  await world.kill();
  expect(world.runtime.schedules().list()).toHaveLength(1);
});

test("a wall clock that is set moves what is due, and repeats nothing", async () => {
  const clock = { shift: 0 };
  const options = { config: { schedule: [hourly] } };
  const world: World = new World({
    ...options,
    ports: { wall: () => world.clock.now() + clock.shift },
  });
  await world.start();
  await world.pass(10 * minute);
  clock.shift = 40 * minute;
  await world.pass(minute);
  expect(world.sent).toHaveLength(1);
  clock.shift = 0;
  await world.pass(hour);
  expect(world.sent).toHaveLength(1);
  clock.shift = -300 * hour;
  await world.pass(2 * hour);
  expect(world.sent.length).toBeGreaterThan(1);
});

test("a moment that was not said stays with its reason until its name is used again", async () => {
  const world = await new World().start();
  const schedules = world.runtime.schedules();
  const at = (ms: number) => new Date(begin + ms).toISOString();
  const unknown = { channel: "telegram", chat: { id: "elsewhere" } };
  const nobody = entry({ name: "nobody", to: unknown, at: at(minute) });
  expect(await schedules.add(nobody)).toBe("added");
  expect(await schedules.add(entry({ name: "late", at: at(2 * minute) }))).toBe("added");
  expect(await schedules.add(entry({ name: "past", at: at(-minute) }))).toBe("over");
  await world.pass(minute);
  await world.runtime.stop();
  world.clock.advanceTo(begin + 2 * hour);
  await world.start();
  await world.pass(minute);
  await world.kill();
  const again = world.runtime.schedules();
  expect(world.sent).toEqual([]);
  expect(again.list()).toMatchObject([
    { name: "nobody", next: null, last: { result: "failed" } },
    { name: "late", next: null, last: { result: "skipped" } },
  ]);
  expect(await again.add(entry({ name: "late", at: at(3 * hour) }))).toBe("added");
  expect(await again.remove("nobody")).toBe("removed");
  await world.pass(hour);
  expect(world.sent).toHaveLength(1);
  expect(again.list()).toEqual([]);
});

test("a failing entry says why, and the others go on", async () => {
  const world = await new World({ config: { schedule: [hourly] } }).start();
  const unknown = { channel: "telegram", chat: { id: "elsewhere" } };
  await world.runtime.schedules().add(entry({ ...hourly, name: "two", to: unknown }));
  await world.pass(hour);
  expect(world.sent).toHaveLength(1);
  const [two] = world.runtime
    .schedules()
    .list()
    .filter(({ name }) => name === "two");
  expect(two?.last).toMatchObject({ result: "failed" });
  expect(two?.last?.why).toContain('it is unknown whether "elsewhere"');
});

test("an entry for an agent or an account that does not exist is refused, and not kept", async () => {
  const world = await new World({}).start();
  const { add, list } = world.runtime.schedules();
  await expect(add(entry({ ...hourly, agent: "nobody" }))).rejects.toMatchObject({
    code: "EAR_USAGE",
    message: 'Cannot add the entry: no agent is called "nobody". Use one of main',
  });
  world.accounts = ["telegram:default"];
  const work = { ...to, account: "work" };
  await expect(add(entry({ ...hourly, to: work }))).rejects.toMatchObject({
    code: "EAR_USAGE",
    message:
      'Cannot add the entry: no account "telegram:work" is configured. Use one of telegram:default',
  });
  expect(list()).toEqual([]);
});

test("a store that fails is waited for, and tried again once a second", async () => {
  const world = await new World({ config: { schedule: [hourly] } }).start();
  await world.pass(46 * minute);
  world.disk.fail({ at: 1, forever: true });
  const timers = vi.spyOn(world.clock, "setTimer");
  await world.pass(minute);
  expect(world.sent).toEqual([]);
  // The other parts of the runtime have timers, too.
  expect(timers.mock.calls.length).toBeLessThan(1_000);
  world.disk.heal();
  await world.pass(2 * minute);
  expect(world.sent).toHaveLength(1);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "killed when the store ends at its call %i, it is the same one text",
  async (at) => {
    const world = await new World({ config: { schedule: [hourly] } }).start();
    await world.pass(46 * minute);
    world.disk.fail({ at, forever: true });
    await world.pass(minute);
    world.disk.heal();
    await world.kill();
    await world.pass(2 * minute);
    expect(new Set(world.sent.map(({ id }) => id)).size).toBe(1);
  },
);

test("in spring and autumn a line follows the clocks of its zone", () => {
  const berlin = (cron: string) => entry({ cron, timeZone: "Europe/Berlin" });
  const dues = (cron: string, from: string, count: number) => {
    const found: string[] = [];
    for (let after = Date.parse(from); found.length < count; ) {
      after = nextDue(berlin(cron), after) ?? Number.NaN;
      found.push(new Date(after).toISOString());
    }
    return found;
  };
  // 02:30 does not exist on 29 March 2026: the clocks go on from 02:00 to 03:00.
  expect(dues("30 2 * * *", "2026-03-28T00:00:00Z", 3)).toEqual([
    "2026-03-28T01:30:00.000Z",
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z",
  ]);
  // 02:30 comes twice on 25 October 2026.
  expect(dues("30 2 * * *", "2026-10-24T00:00:00Z", 3)).toEqual([
    "2026-10-24T00:30:00.000Z",
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z",
  ]);
  expect(dues("0 * * * *", "2026-10-24T23:30:00Z", 4)).toEqual([
    "2026-10-25T00:00:00.000Z",
    "2026-10-25T01:00:00.000Z",
    "2026-10-25T02:00:00.000Z",
    "2026-10-25T03:00:00.000Z",
  ]);
});

property([
  fc.integer({ min: 0, max: 59 }),
  fc.integer({ min: 0, max: 23 }),
  fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
  ),
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
])("the next due time is later, and follows from itself", (m, h, timeZone, after) => {
  const daily = entry({ cron: `${m} ${h} * * *`, timeZone });
  const due = nextDue(daily, after);
  expect(due).toBeGreaterThan(after);
  expect((due ?? 0) - after).toBeLessThanOrEqual(26 * hour);
  expect(nextDue(daily, (due ?? 0) - 1)).toBe(due);
});

test("an entry that cannot be is refused with its reason", () => {
  const problems = (over: object) =>
    scheduleSchema.safeParse({ ...hourly, ...over }).error?.issues.map(({ message }) => message);
  expect(problems({ cron: "0 9 * *" })).toEqual(["expected five fields, such as 0 9 * * 1-5"]);
  expect(problems({ cron: "0 0 9 * * *" })).toHaveLength(1);
  expect(problems({ timeZone: "Mars/Base" })).toEqual([
    "expected a time zone such as Europe/Berlin",
  ]);
  expect(problems({ at: "2026-12-24T18:00:00Z" })).toEqual(["expected either cron or at"]);
  expect(problems({ prompt: "x" })).toEqual(["expected either text or prompt"]);
  expect(problems({ text: " " })).toEqual(["expected some text"]);
});

test("a line that is paused while it is being said stays", async () => {
  const clock = new SimulatedClock(begin);
  let end: () => void = () => undefined;
  const schedules = createSchedules({
    clock,
    wall: () => clock.now(),
    log: () => undefined,
    rows: { row: async () => null, keep: async () => true, basis: () => 0 },
    shared: null,
    config: () => scenarioConfig({}),
    check: () => undefined,
    onRun: () => undefined,
    say: ({ id = "", place }) =>
      new Promise((said) => {
        end = () => said({ id, key: "k", route: place as never, parts: [], turn: false });
      }),
  });
  await schedules.load();
  schedules.start();
  await schedules.add(entry({ cron: "0 * * * *" }));
  clock.advanceTo(begin + hour);
  await new Promise(setImmediate);
  expect(schedules.busy()).toBe(1);
  expect(await schedules.pause("one", true)).toBe(true);
  end();
  await vi.waitUntil(() => schedules.busy() === 0);
  expect(schedules.list()).toMatchObject([{ name: "one", paused: true, last: { result: "said" } }]);
  schedules.stop();
});
