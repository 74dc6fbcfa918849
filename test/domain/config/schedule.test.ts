/** Entries of the schedule that cannot be: refused with the place in the config and the fix. */
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/domain/config/index.ts";

const to = { channel: "webhook", chat: { id: "garden", kind: "group" } };
const daily = { name: "tea", cron: "0 9 * * *", to, text: "Tea?" };
const refusal = (...schedule: object[]): string => {
  try {
    parseConfig({ agents: { list: [{ id: "scout" }] }, schedule });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test.each([
  [
    { cron: "0 9 * *" },
    "schedule[1].cron is invalid: expected five fields, such as 0 9 * * 1-5, received",
  ],
  [
    { cron: "0 25 * * *" },
    "schedule[1].cron is invalid: expected a cron expression such as 0 9 * * 1-5 (Invalid value for hour: 25)",
  ],
  [
    { cron: "0 9 * * MOON" },
    "schedule[1].cron is invalid: expected a cron expression such as 0 9 * * 1-5 (configuration entry 5 (MOON)",
  ],
  [{ cron: "0 9 30 2 *" }, "schedule[1].cron is invalid: expected a time that exists"],
  [
    { timeZone: "Europe/Berlinn" },
    "schedule[1].timeZone is invalid: expected a time zone such as Europe/Berlin, received",
  ],
  [
    { cron: undefined, at: "tomorrow" },
    "schedule[1].at is invalid: expected a time such as 2026-12-24T18:00+01:00, received",
  ],
  [{ at: "2026-12-24T18:00:00Z" }, "schedule[1].cron is invalid: expected either cron or at"],
  [{ prompt: "Say tea." }, "schedule[1].text is invalid: expected either text or prompt"],
  [{ name: "tea" }, "schedule[1].name is invalid: another entry has this name"],
  [
    { agent: "scuot" },
    'schedule[1].agent is invalid: unknown agent "scuot". Did you mean "scout"?',
  ],
  [{ timezone: "UTC" }, 'unknown key "timezone" in schedule[1]. Did you mean "timeZone"?'],
])("%j", (over, line) => {
  expect(refusal(daily, { ...daily, name: "other", ...over })).toContain(line);
});

test("those of every field, zone and kind that can be are taken", () => {
  const { cron: _, ...once } = { ...daily, at: "2026-12-24T18:00:00+01:00" };
  const leap = { ...daily, name: "leap", cron: "0 9 29 2 *", timeZone: "Australia/Lord_Howe" };
  const minute = { ...once, name: "minute", at: "2026-12-24T18:00Z" };
  expect(
    refusal(once, minute, { ...leap, agent: "scout" }, { ...daily, name: "named", cron: "@daily" }),
  ).toBe("");
});
