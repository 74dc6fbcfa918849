/** What a long simulation forgets of its sessions, and that transcripts outside the heap say the same. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLines } from "../../../src/adapters/stores/memory.lines.ts";
import { createMemorySessions } from "../../../src/adapters/stores/memory.sessions.ts";
import { createSpilledLines } from "../../../src/adapters/stores/on-disk-lines.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";

const line = (id: number, sessionId: string, text = `${id}`): TranscriptLine => ({
  id,
  sessionId,
  turnId: `t${id}`,
  at: id,
  role: "user",
  text,
});

function spoken(bounds: Parameters<typeof createMemorySessions>[0], count: number) {
  const { put, reads } = createMemorySessions(bounds);
  const who = { conv: 1, key: "agent:main:irc:group:1", agentId: "main", sessionId: "s" };
  put({ kind: "session", op: "open", ...who, at: 0 });
  for (let id = 1; id <= count; id += 1) put({ kind: "transcript", conv: 1, line: line(id, "s") });
  return reads;
}

test("the sessions of the newest turns are known, those of older ones go", async () => {
  const reads = spoken({ turnsMax: 5 }, 95);
  expect(await reads.transcript({ sessionId: "s", limit: 1_000 })).toHaveLength(95);
  expect(await reads.lastLine()).toBe(95);
  expect((await reads.lately(3)).map(({ sessionId }) => sessionId)).toEqual(["s"]);
  expect((await reads.sessionOfTurn("t91"))?.sessionId).toBe("s");
  expect(await reads.sessionOfTurn("t90")).toBeNull();
});

test("without a bound everything is kept", async () => {
  const reads = spoken(undefined, 95);
  expect(await reads.transcript({ sessionId: "s", limit: 1_000 })).toHaveLength(95);
  expect((await reads.sessionOfTurn("t1"))?.sessionId).toBe("s");
});

test("a transcript outside the heap is a plain one in every answer", () => {
  const said = fc.record({
    session: fc.constantFrom("a", "b", "c"),
    text: fc.string({ unit: "grapheme", maxLength: 40 }),
    gap: fc.integer({ min: 1, max: 3 }),
    covers: fc.option(fc.nat(40), { nil: undefined, freq: 6 }),
  });
  const query = fc.record({
    sessionId: fc.constantFrom("a", "b", "c", "nobody"),
    after: fc.nat(60),
    limit: fc.integer({ min: 1, max: 30 }),
    newest: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(said, { maxLength: 40 }), fc.array(query), (all, queries) => {
      const [plain, spilled] = [createLines(), createSpilledLines()];
      let id = 0;
      for (const { session, text, gap, covers } of all) {
        id += gap;
        const made = { ...line(id, session, text), ...(covers === undefined ? {} : { covers }) };
        for (const lines of [plain, spilled]) lines.add(made);
      }
      for (const one of queries) expect(spilled.read(one)).toEqual(plain.read(one));
      for (const session of ["a", "b", "c", "nobody"])
        expect(spilled.mark(session)).toEqual(plain.mark(session));
      spilled.close();
    }),
  );
});

test("lines that went to the file are found again", () => {
  const lines = createSpilledLines();
  const long = "é".repeat(50_000);
  for (let id = 1; id <= 400; id += 1) lines.add(line(id, `s${id % 3}`, `${id} ${long}`));
  expect(lines.read({ sessionId: "s1", limit: 2 })).toEqual([
    line(1, "s1", `1 ${long}`),
    line(4, "s1", `4 ${long}`),
  ]);
  const newest = lines.read({ sessionId: "s1", limit: 3, newest: true });
  expect(newest.map(({ id }) => id)).toEqual([394, 397, 400]);
  lines.close();
});
