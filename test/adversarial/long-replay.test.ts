/**
 * Memory of long replays and recordings: it follows what is remembered of the rooms, and not how
 * much was said. Each message says six thousand letters, so whatever keeps one shows at once.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { newEvent } from "../../src/actors/protocol/event-codec.ts";
import { recordingText } from "../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../src/daemon/replay/simulate.ts";
import { encodeVerdict } from "../../src/domain/decision.ts";
import type { Inbound } from "../../src/domain/message.ts";
import type { EventRow } from "../../src/domain/ports/index.ts";
import type { ScenarioLine } from "../../src/domain/scenario/scenario.ts";
import type { MessageReceived } from "../../src/machines/events/events.ts";
import { rounds } from "../support/rounds.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that are still in use: on the heap, and beside it. */
function held(): { readonly heap: number; readonly beside: number } {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, beside: arrayBuffers };
}

const nobody = { commandAuthorized: false, owner: false };
const rooms = 40;
const units = 6_000;
const gapMs = 500;
const start = 1_763_700_000_000;

/** The n-th message, in one room after the other; one in five asks the agent. */
function message(n: number): Inbound {
  const isAsked = Math.floor(n / rooms) % 5 === 0;
  const author = isAsked ? "asker" : `talker ${n % 7}`;
  return {
    channel: "telegram",
    account: "default",
    thread: null,
    id: `m${n}`,
    chat: { id: `-100${n % rooms}`, kind: "group" },
    author: { id: author, name: author, isBot: false, isSelf: false },
    text: `${n} `.padEnd(units, "ab c"),
    mentions: isAsked ? [{ id: "self", isSelf: true }] : [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
    sentAt: start + n * gapMs,
  };
}

test("a replay holds no more at its end than after two thirds of it", async () => {
  // Caches with a bound of their own are full after two thirds of it.
  const count = rounds(1_500, 6_000);
  const runs = Array.from({ length: count / 5 }, () => ({ afterMs: 0, steps: [{ text: "Yes." }] }));
  function* lines(): Generator<ScenarioLine> {
    yield { t: 0, agent: { agentId: "main", runs } };
    for (let n = 0; n < count; n += 1) yield { t: n * gapMs, in: message(n) };
  }
  const at: ReturnType<typeof held>[] = [];
  let decisions = 0;
  let turns = 0;
  await simulateScenario(
    {
      header: { earshot: 1, start, config: { messages: { dedupe: { entries: 500 } } } },
      lines: { [Symbol.iterator]: lines },
      count: count + 1,
      last: null,
      kinds: new Set(["in", "agent"] as const),
    },
    {
      onLine(line) {
        if ("decision" in line) decisions += 1;
        if ("event" in line && line.event === "agent_end") turns += 1;
      },
      onProgress(done) {
        const third = (done - 1) / (count / 3);
        if (third === 0 || third === 2 || third === 3) at.push(held());
      },
    },
  );
  expect(decisions).toBe(count);
  expect(turns).toBeGreaterThanOrEqual(count / 5);
  const [first, before, end] = at;
  // Millions of letters later, of which a fifth went through turns.
  expect((end?.heap ?? 0) - (before?.heap ?? 0)).toBeLessThan(2_000_000);
  expect((end?.beside ?? 0) - (first?.beside ?? 0)).toBeLessThan(32_000_000);
});

test("a recording holds no more at its end than after its first third", async () => {
  const count = rounds(900, 1_500);
  const key = (n: number) => ({ conv: 1 + (n % rooms), key: `agent:main:telegram:group:-100${n}` });
  const code = encodeVerdict({ decision: "observe", rule: "default", credit: "none" });
  const row = (seq: number): EventRow => {
    const heard = message(seq);
    const event: MessageReceived = {
      type: "message.received",
      at: heard.sentAt ?? start,
      seq,
      authority: nobody,
      message: heard,
    };
    const { write } = newEvent(key(seq % rooms), 1, event, { identity: heard.id });
    const { at, conv, cfg, body } = write;
    return { seq, at, conv, cfg, body, code };
  };
  const store = {
    scan: async (after: number, limit: number) =>
      Array.from({ length: Math.min(limit, count - after) }, (_, n) => row(after + 1 + n)),
    lastSeq: async () => count,
    config: async () => "{}",
    conversation: async () => null,
    access: async () => [],
  };
  const at: number[] = [];
  let reported = 0;
  for await (const text of recordingText(store, { since: 0, redact: true })) {
    if (!text.includes('"in":')) continue;
    reported += 1;
    if (reported === count / 3 || reported === count) at.push(held().heap);
  }
  expect(reported).toBe(count);
  const [third = 0, end = 0] = at;
  expect(end - third).toBeLessThan(1_500_000);
});
