/**
 * Rooms that show one rule each, through the whole runtime on a simulated clock. What matters is
 * claimed here; the files beside them hold everything that was printed, so that nothing changes
 * unseen (`npx vitest run test/replay -u` writes them again).
 */
import { describe, expect, test } from "vitest";
import {
  decisions,
  drops,
  ends,
  expectedOf,
  play,
  playRoom,
  printed,
  prompts,
  roomLines,
  sends,
  starts,
  verdicts,
} from "../../support/replay/replay.ts";
import { rounds } from "../../support/rounds.ts";

const rooms = [
  "mention",
  "sticky",
  "held",
  "addressed-elsewhere",
  "disengage",
  "loop-guard",
  "queue",
  "media",
  "edits",
  "failures",
  "threads",
  "crash-host",
  "crash-process",
  "passivate",
  "cold-start",
  "pairing",
] as const;

/** Of so many rooms, one is played again: what is on file was played in another process. */
const again = rounds(4, 1);

for (const [index, room] of rooms.entries()) {
  test(`${room}: prints what is on file, and the same again`, async () => {
    const lines = printed(await playRoom(room, { prompts: true }));
    await expect(lines).toMatchFileSnapshot(expectedOf(room));
    if (index % again === 0) expect(printed(await playRoom(room, { prompts: true }))).toBe(lines);
  });
}

describe("the ladder over time", () => {
  test("a mention engages, and the turn is shown what was said before", async () => {
    const lines = await playRoom("mention", { prompts: true });
    expect(verdicts(lines)).toEqual(["m1 default", "m2 default", "m3 mention"]);
    expect(prompts(lines)[0]?.text).toMatch(
      /## Recent context.*lunch at one\?.*fine with me.*## Current message.*a table/s,
    );
    expect(sends(lines).map(({ text, replyTo, status }) => [text, replyTo, status])).toEqual([
      ["Booked for one.", "m3", "sent"],
    ]);
  });

  test("a follow-up engages once per reply, to the last millisecond of its window", async () => {
    expect(verdicts(await playRoom("sticky"))).toEqual([
      "m1 default",
      "m2 mention",
      "m3 sticky consumed",
      "m4 default",
      "m5 sticky consumed",
      "m6 default",
    ]);
  });

  test("a follow-up to a running turn is held and becomes the next turn, a bystander's is not", async () => {
    const lines = await playRoom("held");
    expect(verdicts(lines)).toEqual(["m1 default", "m2 mention", "m3 sticky held", "m4 default"]);
    expect(starts(lines).map(({ batch }) => batch)).toEqual([["m2"], ["m3"]]);
  });

  test("a line to someone else keeps the credit for the next one", async () => {
    expect(verdicts(await playRoom("addressed-elsewhere"))).toEqual([
      "m1 default",
      "m2 mention",
      "m3 addressed-elsewhere kept",
      "m4 addressed-elsewhere kept",
      "m5 sticky consumed",
    ]);
  });

  test("backing off is not undone by the reply that says so", async () => {
    expect(verdicts(await playRoom("disengage"))).toEqual([
      "m1 default",
      "m2 mention",
      "m3 default",
      "m4 mention",
      "m5 sticky consumed",
    ]);
  });

  test("two bots stop by themselves, and a person sets them free again", async () => {
    const lines = await playRoom("loop-guard");
    expect(verdicts(lines).slice(2)).toEqual([
      "b1 reply",
      "b2 reply",
      "b3 reply",
      "b4 reply",
      "b5 reply",
      "b6 loop-guard",
      "b7 loop-guard",
      "m1 default",
      "b8 reply",
    ]);
    expect(starts(lines).map(({ guard }) => guard)).toEqual([
      false,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(starts(lines).every(({ guard, nudge }) => guard !== nudge)).toBe(true);
  });

  test("a thread nobody knows is not a room of one; a repeated id is a duplicate", async () => {
    expect(verdicts(await playRoom("threads"))).toEqual([
      "m1 solo-human",
      "m2 thread-unknown",
      "m3 solo-human",
      "m3 duplicate",
      "m4 sticky consumed",
    ]);
  });
});

describe("turns", () => {
  test("what arrives while a turn runs waits, and what does not fit is dropped and said", async () => {
    const lines = await playRoom("queue");
    expect(starts(lines).map(({ batch }) => batch)).toEqual([["m1"], ["m3", "m4"]]);
    expect(drops(lines).map(({ message, why }) => [message, why])).toEqual([
      ["m2", "queue-cap-old"],
    ]);
  });

  test("an album is one turn, and seen pictures can be named", async () => {
    const lines = await playRoom("media", { prompts: true });
    expect(starts(lines).map(({ batch }) => batch)).toEqual([["m2", "m3"]]);
    const text = prompts(lines)[0]?.text ?? "";
    const named = [...text.matchAll(/attachment_id:(a\d+-0)\]/g)].map(([, name]) => name);
    expect(new Set(named).size).toBe(3);
    expect(text).not.toMatch(/^## y/m);
  });

  test("an edited message is shown as it reads now, a deleted one not at all", async () => {
    const lines = await playRoom("edits", { prompts: true });
    const text = prompts(lines)[0]?.text ?? "";
    expect(text).toContain("lunch at TWO");
    expect(text).toContain("book for six");
    expect(text).not.toMatch(/secret|lunch at one|for five/);
    expect(decisions(lines)).toHaveLength(4);
  });

  test("history is remembered and decides nothing", async () => {
    const lines = await playRoom("cold-start", { prompts: true });
    expect(verdicts(lines)).toEqual(["m1 mention"]);
    expect(prompts(lines)[0]?.text).toContain("from before");
  });

  test("failed sends, failed agents and silence each end their turn once", async () => {
    const lines = await playRoom("failures");
    expect(ends(lines).map(({ outcome }) => outcome)).toEqual([
      "undelivered",
      "replied",
      "replied",
      "failed",
      "silent",
      "silent",
    ]);
    expect(verdicts(lines)[2]).toBe("m2 default");
    expect(sends(lines).map(({ text }) => text)).not.toContain("never seen");
  });
});

describe("who may speak", () => {
  test("a stranger is told a code once, is let in by it, and stays let in after a crash", async () => {
    const lines = await playRoom("pairing");
    expect(verdicts(lines)).toEqual([
      "m1 dm-policy",
      "m2 dm-policy",
      "m3 dm-policy",
      "m4 claim",
      "m5 dm",
      "m6 command",
      "m7 group-policy",
      "m8 dm-policy",
      "m9 command",
    ]);
    const replies = sends(lines).map(({ chat, text }) => [chat, text.split(/[.,:] /)[0]]);
    expect(replies).toEqual([
      ["ann", "I do not know you yet"],
      ["cy", "I do not know you yet"],
      ["ann", "ok"],
      ["ann", "You are `telegram:ann`"],
      ["cy", "You are `telegram:cy`"],
    ]);
    expect(sends(lines)[3]?.text).toContain("an owner");
    expect(sends(lines)[4]?.text).not.toContain("an owner");
  });

  test("the code that a first run tells is the one to approve in the next", async () => {
    const lines = roomLines("pairing");
    const first = await play(lines);
    const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(sends(first)[0]?.text ?? "")?.[0];
    expect(code).toBeDefined();
    const byCode = lines.map((line) =>
      line.t === 1_000 && "sender" in (line.approve as object)
        ? { t: 1_000, approve: { code } }
        : line,
    );
    expect(printed(await play(byCode))).toBe(printed(first));
    const other = await play(lines, { seed: 5 });
    expect(sends(other)[0]?.text).not.toContain(code);
  });
});

describe("faults change nothing a room can see", () => {
  test("a lost host: the turn is tried again, one start, one end, one reply", async () => {
    const lines = await playRoom("crash-host");
    expect(verdicts(lines)).toEqual(["m0 default", "m1 mention", "m2 sticky consumed"]);
    expect(starts(lines)).toHaveLength(2);
    expect(ends(lines).map(({ outcome }) => outcome)).toEqual(["replied", "replied"]);
    expect(sends(lines).map(({ text }) => text)).toEqual(["After all.", "ok"]);
  });

  test("a killed process: the same, from what was committed", async () => {
    const lines = await playRoom("crash-process");
    expect(verdicts(lines)).toEqual([
      "m0 default",
      "m1 mention",
      "m2 sticky consumed",
      "m3 sticky consumed",
    ]);
    expect(starts(lines)).toHaveLength(3);
    expect(sends(lines).map(({ text }) => text)).toEqual(["Before.", "After all.", "ok"]);
  });
});
