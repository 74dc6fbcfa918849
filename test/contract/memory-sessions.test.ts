/** What a long simulation forgets of its sessions, and that nothing is forgotten unasked. */
import { expect, test } from "vitest";
import { createMemorySessions } from "../../src/adapters/stores/memory.sessions.ts";

function spoken(bounds: Parameters<typeof createMemorySessions>[0], count: number) {
  const { put, reads } = createMemorySessions(bounds);
  const who = { conv: 1, key: "agent:main:irc:group:1", agentId: "main", sessionId: "s" };
  put({ kind: "session", op: "open", ...who, at: 0 });
  for (let id = 1; id <= count; id += 1) {
    const line = {
      id,
      sessionId: "s",
      turnId: `t${id}`,
      at: id,
      role: "user",
      text: `${id}`,
    } as const;
    put({ kind: "transcript", conv: 1, line });
  }
  return reads;
}

test("the newest lines and turns of a session are kept, the older ones go", async () => {
  const reads = spoken({ linesMax: 10, turnsMax: 5 }, 95);
  const lines = await reads.transcript({ sessionId: "s", limit: 1_000 });
  expect(lines.length).toBeGreaterThanOrEqual(10);
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(lines.at(-1)?.id).toBe(95);
  const newest = await reads.transcript({ sessionId: "s", limit: 10, newest: true });
  expect(newest.map(({ id }) => id)).toEqual([86, 87, 88, 89, 90, 91, 92, 93, 94, 95]);
  expect((await reads.sessionOfTurn("t91"))?.sessionId).toBe("s");
  expect(await reads.sessionOfTurn("t90")).toBeNull();
});

test("without a bound everything is kept", async () => {
  const reads = spoken(undefined, 95);
  expect(await reads.transcript({ sessionId: "s", limit: 1_000 })).toHaveLength(95);
  expect((await reads.sessionOfTurn("t1"))?.sessionId).toBe("s");
});
