/**
 * When a session ends by itself, and which words end it. The daily rule is compared with a plain
 * reading of local clocks, quarter by quarter, in zones that change them by an hour, by half an hour,
 * and at midnight.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { afterResetTrigger } from "../../../src/machines/commands/reset-words.ts";
import {
  isOver,
  latestHour,
  type ResetPolicy,
  resetPolicy,
  type ZoneOffset,
} from "../../../src/machines/routing/session-policy.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana"];

/** What a clock on the wall shows: hours and minutes since that day's midnight, and the day. */
function wallClock(zone: string): (at: number) => { day: string; minutes: number } {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    ...({ year: "numeric", month: "2-digit", day: "2-digit" } as const),
    ...({ hour: "2-digit", minute: "2-digit" } as const),
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map((part) => [part.type, part.value]),
    );
    const minutes = Number(parts.hour) * 60 + Number(parts.minute);
    return { day: `${parts.year}-${parts.month}-${parts.day}`, minutes };
  };
}
function offsetOf(zone: string): ZoneOffset {
  const clock = wallClock(zone);
  return (at) => {
    const { day, minutes } = clock(at);
    return (
      Date.parse(`${day}T00:00:00Z`) + minutes * minuteMs - Math.floor(at / minuteMs) * minuteMs
    );
  };
}

/** When each local day first shows the hour or more. Clocks change at a full quarter only. */
function boundaries(zone: string, from: number, to: number, atHour: number): number[] {
  const clock = wallClock(zone);
  const first = new Map<string, number>();
  for (let at = Math.floor(from / quarterMs) * quarterMs; at <= to; at += quarterMs) {
    const { day, minutes } = clock(at);
    if (minutes >= atHour * 60 && !first.has(day)) first.set(day, at);
  }
  // The first day is seen from its middle on.
  return [...first.values()].slice(1);
}

const changes = [
  Date.UTC(2026, 2, 29),
  Date.UTC(2026, 9, 25),
  Date.UTC(2026, 2, 8),
  Date.UTC(2026, 10, 1),
  Date.UTC(2026, 3, 5),
  Date.UTC(2026, 9, 4),
  Date.UTC(2026, 6, 1),
];

describe("the daily hour", () => {
  const cases = zones.flatMap((zone) => [0, 1, 2, 3, 4, 23].map((hour) => ({ zone, hour })));

  test.each(cases)("the hour $hour in $zone is when a clock first shows it", ({ zone, hour }) => {
    const offset = offsetOf(zone);
    for (const day of changes) {
      const expected = boundaries(zone, day - 2 * dayMs, day + 2 * dayMs, hour);
      expect(expected.length).toBeGreaterThan(1);
      for (const at of expected) {
        expect(latestHour(at, hour, offset), new Date(at).toISOString()).toBe(at);
        expect(latestHour(at - 1, hour, offset)).toBeLessThan(at - 20 * hourMs);
        expect(latestHour(at + 20 * hourMs, hour, offset)).toBe(at);
      }
    }
  });

  const zone = fc.constantFrom(...zones);
  const day = fc.constantFrom(...changes);
  const minutes = fc.array(fc.integer({ min: -2_880, max: 2_880 }), {
    minLength: 1,
    maxLength: 12,
  });

  property([zone, day, fc.integer({ min: 0, max: 23 }), minutes], { numRuns: rounds(20, 40) })(
    "for any turns, back and forth in time, a session is over where the hour lies between",
    (where, middle, atHour, offsets) => {
      const offset = offsetOf(where);
      const policy: ResetPolicy = { mode: "daily", atHour, idleMinutes: 60 };
      const moments = boundaries(where, middle - 4 * dayMs, middle + 3 * dayMs, atHour);
      let last = middle;
      for (const minute of offsets) {
        const now = middle + minute * minuteMs;
        const passed = moments.some((at) => last < at && at <= now);
        expect(isOver(policy, last, now, offset)).toBe(passed);
        last = now;
      }
    },
  );
});

describe("a quiet time", () => {
  const idle: ResetPolicy = { mode: "idle", atHour: 4, idleMinutes: 30 };
  const never: ZoneOffset = () => 0;

  property([fc.integer({ min: -100 * minuteMs, max: 100 * minuteMs })])(
    "ends a session after exactly that long, and a clock set back never does",
    (passed) => {
      const last = 1_800_000_000_000;
      expect(isOver(idle, last, last + passed, never)).toBe(passed >= 30 * minuteMs);
      expect(isOver({ ...idle, mode: "none" }, last, last + passed, never)).toBe(false);
    },
  );
});

test("what a channel says is over what a kind says is over the rest, field by field", () => {
  const { session } = scenarioConfig({
    session: {
      reset: {
        mode: "daily",
        atHour: 5,
        byType: { thread: { mode: "idle", idleMinutes: 10 }, direct: { atHour: 6 } },
        byChannel: { slack: { idleMinutes: 90 } },
      },
    },
  });
  const of = (key: string) => resetPolicy(session.reset, key);
  expect(of("agent:main:telegram:group:1")).toEqual({ mode: "daily", atHour: 5, idleMinutes: 60 });
  expect(of("agent:main:main")).toEqual({ mode: "daily", atHour: 6, idleMinutes: 60 });
  expect(of("agent:main:telegram:group:1:topic:7")).toMatchObject({
    mode: "idle",
    idleMinutes: 10,
  });
  expect(of("agent:main:slack:channel:C1:thread:7")).toEqual({
    mode: "idle",
    atHour: 5,
    idleMinutes: 90,
  });
  expect(of("agent:main:__proto__:group:1")).toMatchObject({ mode: "daily" });
});

describe("a trigger", () => {
  const said = (text: string) => afterResetTrigger({ text, mentions: [] }, ["/new", "start over"]);

  property([fc.constantFrom("/new", "/NEW", "Start Over"), fc.string({ unit: "grapheme" })])(
    "is taken off, and what follows it after a space stays",
    (trigger, rest) => {
      expect(said(`${trigger} ${rest}`)).toBe(rest.trim());
    },
  );

  property([fc.string({ unit: "grapheme", minLength: 1 })])(
    "counts only as a whole word, after which a colon may stand",
    (more) => {
      fc.pre(!/^[\s:]/u.test(more));
      expect(said(`/new${more}`)).toBeNull();
    },
  );

  test("is the message's first word or none", () => {
    expect(said("hello /new")).toBeNull();
    expect(said("/new")).toBe("");
    expect(said("/new: the roof")).toBe("the roof");
    expect(said("start over: the roof")).toBeNull();
    expect(said("")).toBeNull();
  });
});
