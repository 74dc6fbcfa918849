/** What the caches of transcripts count is what they hold in memory. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test, vi } from "vitest";
import { createTranscriptCache } from "../../../src/actors/sessions/transcript-cache.ts";
import { createTranscriptsSoFar } from "../../../src/actors/sessions/transcript-so-far.ts";
import { openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";

setFlagsFromString("--expose-gc");
// What tests before these have compiled goes bit by bit, with the collections here.
setFlagsFromString("--no-flush-bytecode");
afterAll(() => setFlagsFromString("--flush-bytecode"));
const collectGarbage = runInNewContext("gc") as () => void;
/** Memory that threads share is counted by no heap. */
const shared: WeakRef<SharedArrayBuffer>[] = [];
vi.stubGlobal(
  "SharedArrayBuffer",
  new Proxy(SharedArrayBuffer, {
    construct(made, given) {
      const memory = Reflect.construct(made, given) as SharedArrayBuffer;
      shared.push(new WeakRef(memory));
      return memory;
    },
  }),
);
const [sessions, linesEach, bytesMax] = [30, 250, 2_000_000];

/** Collects, or until nothing more goes: other tests in this process have left some, too. */
const held = async ({ again }: { again: boolean }) => {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    // A reference that was made or read in this turn of the event loop keeps its memory.
    await setImmediate();
    collectGarbage();
    const inHeap = process.memoryUsage().heapUsed;
    const now = shared.reduce((sum, one) => sum + (one.deref()?.byteLength ?? 0), inHeap);
    if (!again || before - now < bytesMax / 50) return now;
    before = now;
  }
};

const everywhere = Array.from(
  { length: sessions },
  (_, n) => `0198c2f4-1111-2222-3333-${n + 1e11}`,
);

async function filled(letter: string) {
  const store = openTemporaryStore();
  for (const [conv, sessionId] of everywhere.entries()) {
    const line = (n: number): TranscriptLine => {
      const id = conv * linesEach + n + 1;
      const text = `${letter.repeat(200)} ${id}`;
      const author = { id: `u${n % 5}`, name: "Ann" };
      const role = n % 2 === 0 ? "user" : "assistant";
      const turnId = `0198c2f4-1111-2222-4444-${id + 1e11}`;
      return { id, sessionId, at: id, turnId, role, text, author, messageId: `m${id}` };
    };
    const lines = Array.from({ length: linesEach }, (_, n) => line(n));
    await store.commit(lines.map((one) => ({ kind: "transcript", conv, line: one })));
  }
  return store;
}

test.each(["x", "ж"])("as lines, and as agents see them, where people write %s", async (letter) => {
  const store = await filled(letter);
  const empty = await held({ again: true });
  const lines = createTranscriptCache(store, bytesMax);
  for (const sessionId of everywhere) await lines.read(sessionId);
  const withLines = await held({ again: false });
  const soFar = createTranscriptsSoFar(bytesMax);
  for (const sessionId of everywhere)
    soFar.of(sessionId, await lines.read(sessionId), false, ["u0", "u1"]);
  const withBoth = await held({ again: false });
  // More than fits was read, so both are full; a session that goes makes place for the next.
  expect((withLines - empty) / bytesMax).toBeGreaterThan(0.6);
  expect((withLines - empty) / bytesMax).toBeLessThan(1.6);
  expect((withBoth - withLines) / bytesMax).toBeGreaterThan(0.6);
  expect((withBoth - withLines) / bytesMax).toBeLessThan(1.6);
  expect((await lines.read(everywhere[0] as string)).lines).toHaveLength(linesEach);
  expect(soFar.of("another", { mark: null, lines: [] }, false, []).entries).toEqual([]);
  await store.close();
});
