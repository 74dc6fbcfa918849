/**
 * The transcripts cached for the next turn: equal to the store, and within the limit.
 */
import { expect, test } from "vitest";
import { createTranscriptCache } from "../../../src/actors/sessions/transcript-cache.ts";
import { openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { TranscriptQuery } from "../../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";

function store() {
  const disk = openTemporaryStore();
  const read: string[] = [];
  return {
    add: (said: TranscriptLine) => disk.commit([{ kind: "transcript", conv: 1, line: said }]),
    read,
    transcriptMark: disk.transcriptMark,
    transcript(query: TranscriptQuery) {
      read.push(query.sessionId);
      return disk.transcript(query);
    },
  };
}

const line = (id: number, sessionId: string): TranscriptLine => ({
  id,
  sessionId,
  at: id,
  turnId: `t${id}`,
  role: "user",
  text: `${id} `.padEnd(800, "x"),
});

test("sessions that grow line by line stay within the bound of all texts", async () => {
  const kept = store();
  const tails = createTranscriptCache(kept, 26_000);
  const sessions = Array.from({ length: 10 }, (_, n) => `s${n}`);
  for (const sessionId of sessions) await tails.read(sessionId);
  let id = 0;
  for (let round = 0; round < 5; round += 1)
    for (const sessionId of sessions) {
      id += 1;
      await kept.add(line(id, sessionId));
      tails.add([line(id, sessionId)]);
    }
  kept.read.length = 0;
  for (const sessionId of [...sessions].reverse())
    expect((await tails.read(sessionId)).lines).toHaveLength(5);
  // Five lines of 1,300 bytes each: at most four of the ten fit, the last one surely.
  expect(kept.read.length).toBeGreaterThanOrEqual(6);
  expect(kept.read).not.toContain("s9");
});

test("what fits is not read from the store again", async () => {
  const kept = store();
  const tails = createTranscriptCache(kept);
  await tails.read("s");
  for (let id = 1; id <= 50; id += 1) {
    await kept.add(line(id, "s"));
    tails.add([line(id, "s")]);
    expect((await tails.read("s")).lines.at(-1)?.id).toBe(id);
  }
  expect(kept.read).toEqual(["s"]);
});
