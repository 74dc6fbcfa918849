/** The numbers of the last 15 minutes, whatever arrives and when somebody looks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ActivityWindow } from "../../../src/daemon/room-list/activity-window.ts";
import { property } from "../../support/property.ts";

const spanMs = 120 * 7_500;
const start = 1_700_000_000_000;
const arrivals = fc.array(
  fc.record({
    after: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(spanMs - 1, spanMs, spanMs + 7_500) },
    ),
    engaged: fc.boolean(),
  }),
  { maxLength: 60 },
);

property([arrivals, fc.integer({ min: 0, max: 2 * spanMs })])(
  "bars hold what was heard in their stretch, and nothing else",
  (list, later) => {
    const activity = new ActivityWindow();
    let at = start;
    const heard = list.map(({ after, engaged }) => {
      at += after;
      activity.countMessage(at, engaged);
      return { at, engaged };
    });
    const now = at + later;
    const { bars, barMs, perMinute } = activity.view(now);
    expect(bars).toHaveLength(120);
    const newest = Math.floor(now / barMs);
    bars.forEach(([all, engaged], index) => {
      const bar = newest - 119 + index;
      const here = heard.filter((one) => Math.floor(one.at / barMs) === bar);
      expect(all).toBe(here.length);
      expect(engaged).toBe(here.filter((one) => one.engaged).length);
    });
    const lastEight = heard.filter((one) => Math.floor(one.at / barMs) > newest - 8);
    expect(perMinute).toBe(lastEight.length);
  },
);

test("a clock that was set back adds to the bars it knows, and to none before them", () => {
  const activity = new ActivityWindow();
  activity.countMessage(start, true);
  activity.countMessage(start - 7_500, false);
  activity.countMessage(start - 2 * spanMs, false);
  const sum = activity.view(start).bars.reduce((total, [all]) => total + all, 0);
  expect(sum).toBe(2);
});

property([fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 400 })])(
  "99 of 100 decisions took no longer than is p99",
  (times) => {
    const activity = new ActivityWindow();
    for (const ms of times) activity.decidedIn(ms);
    const p99 = activity.view(start).decidedMsP99 ?? Number.NaN;
    expect(times).toContain(p99);
    expect(times.filter((ms) => ms > p99).length).toBeLessThanOrEqual(times.length / 100);
  },
);

test("before anything was heard there is nothing to tell", () => {
  const view = new ActivityWindow().view(start);
  expect(view).toMatchObject({ perMinute: 0, engagedPercent: null, decidedMsP99: null });
});
