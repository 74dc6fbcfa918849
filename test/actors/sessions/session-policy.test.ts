/**
 * Sessions that end by the clock, through the whole runtime: the session changes between two turns
 * exactly where the rule says, the new one starts like a first one, and a replay of the journal
 * agrees.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOver, type ResetPolicy } from "../../../src/machines/routing/session-policy.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { directKey, sessionWorld } from "../../support/runtime/session-world.ts";

const minuteMs = 60_000;
/** An hour is skipped at 2:00 of this zone's 15 November 2023, and comes twice on the 17th. */
const springs = Date.UTC(2023, 10, 15, 1);
const falls = Date.UTC(2023, 10, 17, 0);
const zoneOffset = (at: number) => (at >= springs && at < falls ? 120 : 60) * minuteMs;

const policies: ResetPolicy[] = [
  { mode: "none", atHour: 4, idleMinutes: 60 },
  { mode: "idle", atHour: 4, idleMinutes: 45 },
  { mode: "daily", atHour: 2, idleMinutes: 60 },
];
const pauses = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 2, maxLength: 8 });

describe.each(policies)("with the policy $mode", (policy) => {
  property([pauses], { numRuns: rounds(6, 12) })(
    "a session changes where the rule says",
    async (minutes) => {
      const world = await sessionWorld({ session: { reset: policy } }, { zoneOffset });
      let before = "";
      for (const pause of minutes) {
        await world.pass(pause * minuteMs);
        const last = (await world.runtime.session(directKey))?.updatedAt ?? null;
        await world.say("hello", { direct: true });
        // The turn begins when the debounce is over.
        await world.pass(500);
        const session = await world.runtime.session(directKey);
        const over = last !== null && isOver(policy, last, world.clock.now(), zoneOffset);
        expect(session?.sessionId !== before).toBe(last === null || over);
        const { transcript } = world.turns.at(-1) ?? { transcript: null };
        expect(transcript?.length === 0).toBe(last === null || over);
        before = session?.sessionId ?? "";
      }
      await world.runtime.stop();
    },
  );
});

test("a room is introduced again in a session that begins by the clock", async () => {
  const reset = { mode: "idle", idleMinutes: 10 } as const;
  const world = await sessionWorld({ session: { reset } });
  for (const pause of [0, 5, 20]) {
    await world.pass(pause * minuteMs);
    await world.talk("earshot, hello");
  }
  const introduced = world.turns.map(({ prompt }) => prompt.includes("This is a group"));
  expect(introduced).toEqual([true, false, true]);
  expect(await world.runtime.sessions({ all: true, limit: 10 })).toHaveLength(2);
});

test("what is only overheard keeps no session awake and makes none", async () => {
  const reset = { mode: "idle", idleMinutes: 10 } as const;
  const world = await sessionWorld({ session: { reset } });
  await world.talk("earshot, hello");
  for (let n = 0; n < 5; n += 1) {
    await world.pass(4 * minuteMs);
    await world.say("just talking", { author: { id: "bob", name: "Bob" } });
  }
  expect(await world.runtime.sessions({ all: true, limit: 10 })).toHaveLength(1);
  await world.talk("earshot, again");
  expect(await world.runtime.sessions({ all: true, limit: 10 })).toHaveLength(2);
});
