/**
 * Who counts as here: speakers of a week, believed member reads, and what a flood cannot push out.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Participant } from "../../../src/domain/decision.ts";
import { limits } from "../../../src/domain/limits.ts";
import {
  countHumans,
  effectiveHumans,
  hasSeveralHumans,
  isMultiHumanGroup,
  isPresent,
  noteSpeaker,
} from "../../../src/machines/engagement/humans.ts";
import { property } from "../../support/property.ts";

const day = 86_400_000;
const now = 100 * day;
const who = (id: string, over: Partial<Participant> = {}): Participant => ({
  id,
  name: id,
  isBot: false,
  lastSeenAt: now,
  ...over,
});
const read = (humans: number, over = {}) => ({
  humans,
  bots: 1,
  truncated: false,
  fetchedAt: now,
  ...over,
});

describe("counting", () => {
  test("speakers count for seven days, to the millisecond, and bots do not", () => {
    const participants = [
      who("a"),
      who("b", { lastSeenAt: now - 7 * day }),
      who("c", { lastSeenAt: now - 7 * day - 1 }),
      who("d", { isBot: true }),
    ];
    expect(countHumans({ participants, membership: null }, {}, now)).toBe(2);
    expect(countHumans({ participants, membership: null }, { participantDays: 30 }, now)).toBe(3);
    const shown = effectiveHumans({ participants, membership: null }, {}, now);
    expect(shown).toEqual({ count: 2, source: "who has spoken" });
  });

  test("a fresh and complete member read is the truth, upwards and downwards", () => {
    const participants = [who("a"), who("b", { lastSeenAt: now - 60_000 })];
    const counted = (membership: ReturnType<typeof read>) =>
      effectiveHumans({ participants, membership }, {}, now);
    expect(counted(read(9))).toEqual({ count: 9, source: "member list, 0 s old" });
    expect(counted(read(1)).count).toBe(1);
    expect(counted(read(1, { fetchedAt: now - 59_999 })).count).toBe(1);
  });

  const speakers = fc.array(
    fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.boolean(), fc.nat(9 * day)),
  );
  const reads = fc.record({
    humans: fc.nat(3),
    bots: fc.nat(1),
    truncated: fc.boolean(),
    fetchedAt: fc.nat(120_000).map((ms) => now - ms),
  });
  property([speakers, fc.option(reads)])(
    "whether there are several is whether the count is above one",
    (rows, membership) => {
      const participants = rows.map(([id, isBot, ms]) => who(id, { isBot, lastSeenAt: now - ms }));
      for (const author of ["a", "e"]) {
        const room = { participants, membership };
        const count = countHumans(room, {}, now, author);
        expect(hasSeveralHumans(room, {}, now, author)).toBe(count > 1);
      }
    },
  );

  test("a fresh member read counts at least those who have spoken since, and the author", () => {
    const membership = read(1, { fetchedAt: now - 30_000 });
    const before = { lastSeenAt: now - 30_000 };
    const count = (participants: Participant[], author?: string) =>
      countHumans({ participants, membership }, {}, now, author);
    expect(count([who("a"), who("b")])).toBe(2);
    expect(count([who("a"), who("b", before)])).toBe(1);
    expect(count([who("a"), who("b", before)], "b")).toBe(2);
    expect(count([who("a"), who("b", before), who("c", { isBot: true })], "c")).toBe(1);
    const room = { participants: [who("a"), who("b")], membership };
    expect(effectiveHumans(room, {}, now)).toEqual({
      count: 2,
      source: "member list, 30 s old, and who has spoken since",
    });
  });

  test("a stale or incomplete read may only make us quieter", () => {
    const participants = [who("a"), who("b")];
    for (const over of [{ fetchedAt: now - 60_000 }, { truncated: true }]) {
      const room = (humans: number) => ({ participants, membership: read(humans, over) });
      expect(countHumans(room(1), {}, now)).toBe(2);
      expect(countHumans(room(7), {}, now)).toBe(7);
      expect(effectiveHumans(room(1), {}, now).source).toMatch(
        /, and (an incomplete|a stale) member list/,
      );
    }
  });

  test("a busy room is one with more than one person, and never a direct chat", () => {
    expect(isMultiHumanGroup(false, 2)).toBe(true);
    expect(isMultiHumanGroup(false, 1)).toBe(false);
    expect(isMultiHumanGroup(true, 2)).toBe(false);
  });
});

describe("remembering speakers", () => {
  test("a speaker is new once, and again after a week of silence", () => {
    const first = noteSpeaker([], who("a"), now, 7);
    expect(first.isNew).toBe(true);
    expect(noteSpeaker(first.participants, who("a"), now + 1, 7).isNew).toBe(false);
    expect(noteSpeaker(first.participants, who("a"), now + 7 * day + 1, 7).isNew).toBe(true);
  });

  test("once seen as a bot, always a bot", () => {
    const bot = noteSpeaker([], who("x", { isBot: true }), now, 7).participants;
    expect(noteSpeaker(bot, who("x"), now + 1, 7).participants[0]?.isBot).toBe(true);
    const person = noteSpeaker([], who("y"), now, 7).participants;
    const turned = noteSpeaker(person, who("y", { isBot: true }), now + 1, 7).participants;
    expect(turned).toEqual([who("y", { isBot: true, lastSeenAt: now + 1 })]);
  });

  test("a bot that was silent for months is still known by its name, and is not present", () => {
    const bots = noteSpeaker([], who("x", { isBot: true, name: "Relay" }), now, 7).participants;
    const later = now + 200 * day;
    const { participants } = noteSpeaker(bots, who("a"), later, 7);
    expect(participants.map(({ id }) => id)).toEqual(["x", "a"]);
    expect(participants.map((one) => isPresent(one, {}, later))).toEqual([false, true]);
    // A plain line from it is still a bot's.
    expect(noteSpeaker(participants, who("x"), later, 7).participants.at(-1)?.isBot).toBe(true);
  });

  const speakers = fc.array(
    fc.record({ id: fc.integer({ min: 0, max: 200 }).map(String), isBot: fc.boolean() }),
    { minLength: 1, maxLength: 400 },
  );
  property([speakers], { numRuns: 50 })(
    "people and bots are capped apart, the latest stay, the speaker is always in",
    (line) => {
      let participants: readonly Participant[] = [];
      line.forEach(({ id, isBot }, index) => {
        participants = noteSpeaker(
          participants,
          { id, name: id, isBot },
          now + index,
          7,
        ).participants;
        expect(participants.at(-1)?.id).toBe(id);
      });
      const bots = participants.filter(({ isBot }) => isBot).length;
      expect(bots).toBeLessThanOrEqual(limits.peerBotsCountMax);
      expect(participants.length - bots).toBeLessThanOrEqual(limits.participantsCountMax);
      expect(new Set(participants.map(({ id }) => id)).size).toBe(participants.length);
    },
  );

  test("a flood of bots does not push a person out", () => {
    let participants: readonly Participant[] = [who("ann")];
    for (let n = 0; n < 500; n += 1)
      participants = noteSpeaker(
        participants,
        who(`b${n}`, { isBot: true }),
        now + n,
        7,
      ).participants;
    expect(participants.some(({ id }) => id === "ann")).toBe(true);
    expect(participants).toHaveLength(1 + limits.peerBotsCountMax);
  });
});
