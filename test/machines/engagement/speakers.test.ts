/** Who a conversation remembers as present: the limits and the moments at which somebody is forgotten. */
import { describe, expect, test } from "vitest";
import type { Participant } from "../../../src/domain/decision.ts";
import { limits } from "../../../src/domain/limits.ts";
import { noteSpeaker } from "../../../src/machines/engagement/humans.ts";

const dayMs = 86_400_000;
const days = 7;
const now = 100 * dayMs;
type Who = Parameters<typeof noteSpeaker>[1];

const author = (id: string, isBot = false) => ({ id, name: id, isBot }) as unknown as Who;
const seen = (id: string, lastSeenAt: number, isBot = false) =>
  ({ ...author(id, isBot), lastSeenAt }) as unknown as Participant;
const crowd = (count: number, kind: string) =>
  Array.from({ length: count }, (_, n) => seen(`${kind}${n}`, now - count + n, kind === "bot"));
const ids = (participants: readonly Participant[]) => participants.map(({ id }) => String(id));

describe("who spoke", () => {
  test("is the last one, once, and nobody else is moved", () => {
    const before = [seen("ann", now - 3), seen("bo", now - 2), seen("cy", now - 1)];
    const { participants, isNew } = noteSpeaker(before, author("bo"), now, days);
    expect(ids(participants)).toEqual(["ann", "cy", "bo"]);
    expect(participants.at(-1)?.lastSeenAt).toBe(now);
    expect(isNew).toBe(false);
  });

  test("is not seen earlier than before when the clock went back", () => {
    const { participants } = noteSpeaker([seen("bo", now)], author("bo"), now - 5, days);
    expect(participants).toMatchObject([{ lastSeenAt: now }]);
  });

  test("is new who was not known, or was away for more than the days, and not one who was there until then", () => {
    const since = now - days * dayMs;
    const isNew = (before: Participant[]) => noteSpeaker(before, author("bo"), now, days).isNew;
    expect(isNew([])).toBe(true);
    expect(isNew([seen("bo", since - 1)])).toBe(true);
    expect(isNew([seen("bo", since)])).toBe(false);
  });

  test("stays a bot who was one", () => {
    const { participants } = noteSpeaker([seen("bo", now, true)], author("bo"), now, days);
    expect(participants).toMatchObject([{ isBot: true }]);
  });
});

describe("who did not speak", () => {
  test("is forgotten behind the days if a person, never if a bot", () => {
    const since = now - days * dayMs;
    const before = [seen("gone", since - 1), seen("rusty", since - 1, true), seen("ann", since)];
    const { participants } = noteSpeaker(before, author("bo"), now, days);
    expect(ids(participants)).toEqual(["rusty", "ann", "bo"]);
  });

  test.each([
    ["person", limits.participantsCountMax, "bot", limits.peerBotsCountMax],
    ["bot", limits.peerBotsCountMax, "person", limits.participantsCountMax],
  ])(
    "goes if the oldest %s beyond %i, and none of the other kind",
    (kind, max, other, otherMax) => {
      const isBot = kind === "bot";
      const others = crowd(otherMax, other);
      const almost = noteSpeaker(
        [...others, ...crowd(max - 1, kind)],
        author("x", isBot),
        now,
        days,
      );
      expect(almost.participants).toHaveLength(otherMax + max);
      const full = noteSpeaker([...others, ...crowd(max, kind)], author("x", isBot), now, days);
      expect(full.participants).toHaveLength(otherMax + max);
      expect(ids(full.participants)).not.toContain(`${kind}0`);
      expect(ids(full.participants)).toContain(`${other}0`);
      expect(ids(full.participants).at(-1)).toBe("x");
    },
  );
});
