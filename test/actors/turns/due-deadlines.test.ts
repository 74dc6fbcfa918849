/** Deadlines that fall due are journalled. */
import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/actors/protocol/event-codec.ts";
import { createDueDeadlines } from "../../../src/actors/turns/due-deadlines.ts";

test("a deadline that is set again for the time that has passed falls due again", async () => {
  const journalled: NewEvent[] = [];
  const due = createDueDeadlines({
    clock: { now: () => 200 },
    log: () => undefined,
    store: { conversation: async () => ({ key: "agent:main:main" }) },
    configs: { version: () => 1 },
    slots: { takeFree: () => false, release: () => undefined },
    sessionStart: { grantNow: () => null },
    agentOf: () => "main",
    append: (events: readonly NewEvent[]) => void journalled.push(...events),
    again: () => undefined,
  } as unknown as Parameters<typeof createDueDeadlines>[0]);
  // The second message was received in the same ms as the first, and came when its window had closed.
  due({ conv: 1, id: "flush", at: 100 }, 105);
  due({ conv: 1, id: "flush", at: 100 }, 130);
  await expect.poll(() => journalled.length).toBe(2);
  const [first, second] = journalled.map(({ write }) => write.identity);
  expect(first).not.toBe(second);
});
