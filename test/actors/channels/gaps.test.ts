/** What accounts could not recover: logged once, kept for a while, and no more than it may be. */
import { expect, test } from "vitest";
import { createGaps } from "../../../src/actors/channels/gaps.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { Gap, LogLevel } from "../../../src/domain/ports/index.ts";

const gap = (from: number, more: Partial<Gap> = {}): Gap => ({
  from,
  to: from + 60_000,
  rooms: ["garden"],
  lost: "messages",
  ...more,
});

function rig() {
  let now = 1_000_000;
  const logs: { level: LogLevel; event: string; fields: unknown }[] = [];
  const gaps = createGaps({ now: () => now });
  const add = (one: Gap, account = "a") =>
    gaps.add(
      "irc",
      account,
      one,
      (level, event, fields) => void logs.push({ level, event, fields }),
    );
  const wait = (ms: number) => {
    now += ms;
  };
  return { gaps, logs, add, wait, kept: (account = "a") => gaps.of("irc", account) };
}

test("a report is a line of the log, with its span; the same one again is not", () => {
  const { logs, add, kept } = rig();
  add(gap(0));
  add(gap(0));
  expect(logs).toEqual([
    {
      level: "warn",
      event: "connection.gap",
      fields: {
        lost: "messages",
        rooms: ["garden"],
        from: "1970-01-01T00:00:00.000Z",
        to: "1970-01-01T00:01:00.000Z",
        seconds: 60,
      },
    },
  ]);
  expect(kept()).toHaveLength(1);
});

test("lost edits are no warning, and apart from lost messages of the same time", () => {
  const { logs, add, kept } = rig();
  add(gap(0, { lost: "edits" }));
  add(gap(0));
  expect(logs.map(({ level }) => level)).toEqual(["info", "warn"]);
  expect(kept().map(({ lost }) => lost)).toEqual(["edits", "messages"]);
});

test("rooms that are reported one by one for the same time are one entry", () => {
  const { logs, add, kept } = rig();
  add(gap(0));
  add(gap(0, { rooms: ["shed"] }));
  expect(kept()).toMatchObject([{ rooms: ["garden", "shed"] }]);
  expect(logs).toHaveLength(2);
});

test("each account has its own, and one that was seen is gone", () => {
  const { gaps, add, kept } = rig();
  add(gap(0), "a");
  add(gap(0), "b");
  const [first] = kept("a");
  expect(gaps.forget(String(first?.id))).toBe(true);
  expect(gaps.forget(String(first?.id))).toBe(false);
  expect(kept("a")).toEqual([]);
  expect(kept("b")).toHaveLength(1);
});

test("it is kept for three days", () => {
  const { add, kept, wait } = rig();
  add(gap(0));
  wait(limits.gapKeptMsMax);
  expect(kept()).toHaveLength(1);
  wait(1);
  expect(kept()).toEqual([]);
});

test("an account that breaks all the time keeps the newest only, and names of rooms are one line", () => {
  const { add, kept } = rig();
  for (let at = 0; at < limits.gapsKeptMax + 3; at += 1) add(gap(at));
  expect(kept()).toHaveLength(limits.gapsKeptMax);
  expect(kept()[0]?.from).toBe(3);
  add(gap(99, { rooms: ["a\nb", ...Array.from({ length: 500 }, (_, n) => `r${n}`)] }));
  const { rooms = [] } = kept().at(-1) ?? {};
  expect(rooms[0]).toBe("a b");
  expect(rooms).toHaveLength(limits.gapRoomsMax);
});
