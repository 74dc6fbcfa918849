/**
 * Only the running turn of a conversation may ask, and only while it runs. The host that passes the
 * question on is not trusted.
 */
import { describe, expect, test } from "vitest";
import type { ContextQuestion } from "../../../src/actors/protocol/host-protocol.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createContextTools } from "../../../src/actors/turns/context-tools.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const route = {
  channel: "irc",
  account: "default",
  chat: { id: "a", kind: "group" },
  thread: null,
} as const;

const turn = { turnId: "t1", conv: 7, key: "agent:main:irc:group:a", since: 0, refs: [], route };
const question = { turnId: "t1", conv: 7, key: turn.key, tool: "attachment_list", input: {} };

function open(store: Store = createTestStore()) {
  const clock = new SimulatedClock(0);
  const unread = async () => ({ note: "nothing" });
  const asks = createContextTools({
    digest: sha256,
    clock,
    log: () => undefined,
    ids: { next: () => "FENCE" },
    store,
    media: { readOne: unread, pictureOne: async () => null },
    schedule: async () => "",
  });
  asks.opened(turn);
  return { asks, clock };
}

describe("a question", () => {
  test("of the running turn is answered", async () => {
    expect(await open().asks.answer(question)).toBe("There are no files in the recent messages.");
  });

  test.each<[string, Partial<ContextQuestion>]>([
    ["another turn", { turnId: "t0" }],
    ["another conversation", { conv: 8 }],
    ["another key", { key: "agent:main:irc:group:b" }],
    ["a tool that is none", { tool: "channel_reply" }],
    ["a tool from a prototype", { tool: "constructor" }],
    ["input with a path", { tool: "attachment_fetch", input: { path: "/etc/passwd" } }],
    ["an endless id", { tool: "attachment_fetch", input: { attachment_id: "a".repeat(65) } }],
    ["an endless query", { tool: "history_search", input: { query: "q".repeat(201) } }],
    ["no object", { input: "x" }],
  ])("of %s is refused in words", async (_what, other) => {
    expect(await open().asks.answer({ ...question, ...other })).toMatch(/^Refused: /);
  });

  test("of a turn whose conversation began another is refused", async () => {
    const { asks } = open();
    asks.opened({ ...turn, turnId: "t2" });
    expect(await asks.answer(question)).toBe("Refused: no such turn is running.");
    expect(await asks.answer({ ...question, turnId: "t2" })).not.toMatch(/^Refused/);
  });

  test("that the store does not answer ends after a while", async () => {
    const stuck = Object.create(createTestStore(), {
      lastSeq: { value: () => new Promise<number>(() => undefined) },
    }) as Store;
    const { asks, clock } = open(stuck);
    const answer = asks.answer(question);
    clock.advanceTo(limits.askMsMax);
    expect(await answer).toBe("Refused: it took too long.");
  });

  test("that the store fails on is refused without its reason", async () => {
    const failing = Object.create(createTestStore(), {
      lastSeq: { value: () => Promise.reject(new Error("/secret/path is broken")) },
    }) as Store;
    const answer = await open(failing).asks.answer(question);
    expect(answer).toBe("Refused: that cannot be looked up at the moment.");
  });
});
