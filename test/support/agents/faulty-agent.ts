/**
 * An agent that misbehaves on demand
 * ==================================
 * A message whose first word names a fault gets it; every other message is answered `fine`. It
 * claims to take new messages meanwhile, and ignores it.
 */
import { z } from "zod";
import { type AgentEvent, type AgentTurn, defineAgent } from "../../../src/domain/ports/index.ts";

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;
type Run = (turn: AgentTurn, sleep: Sleep) => AsyncIterable<AgentEvent>;

/** A signal that never comes: a wait with it cannot be aborted. */
const deaf = () => new AbortController().signal;
const text = (words: string): AgentEvent => ({ type: "text", text: words });

async function* streaming(sleep: Sleep, every: AgentEvent): AsyncGenerator<AgentEvent> {
  for (let n = 0; n < 100; n += 1) {
    await sleep(500, deaf());
    yield every;
  }
}

/** Ends, and goes on ending and talking. */
function endless(): AsyncIterable<AgentEvent> {
  const values: IteratorResult<AgentEvent>[] = [
    { done: false, value: text("once") },
    { done: false, value: { type: "message-end" } },
    { done: false, value: { type: "message-end" } },
    { done: true, value: undefined },
    { done: false, value: text("twice") },
  ];
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => values.shift() ?? { done: true, value: undefined },
    }),
  };
}

export const faults: Readonly<Record<string, Run>> = {
  "throws-at-once": () => {
    throw new Error("boom");
  },
  "throws-later": async function* (_turn, sleep) {
    await sleep(1_000, deaf());
    yield text("half of it");
    throw new Error("boom");
  },
  fails: async function* (_turn, sleep) {
    await sleep(1_000, deaf());
    yield { type: "error", message: "boom", retryable: false };
    yield text("and yet");
  },
  hangs: async function* () {
    yield { type: "reasoning", text: "hm" };
    await new Promise<never>(() => undefined);
  },
  "never-ends": (_turn, sleep) => streaming(sleep, { type: "reasoning", text: "hm" }),
  "streams-on": (_turn, sleep) => streaming(sleep, text("more and more. ")),
  "ends-twice": endless,
  "sends-garbage": async function* () {
    yield 7 as unknown as AgentEvent;
  },
  "says-too-much": async function* () {
    for (let n = 0; n < 20; n += 1) yield text("x".repeat(200_000));
  },
  "says-nothing": async function* () {},
  "calls-what-is-not-there": async function* (turn) {
    yield text(await turn.callTool("no_such_tool", { a: 1 }));
  },
};

export const faulty = defineAgent({
  kind: "faulty",
  configSchema: z.unknown(),
  open: ({ sleep }) => ({
    capabilities: { steer: true, tools: true, images: false },
    steer(_turnId, words) {
      if (words.includes("refuse")) throw new Error("not now");
      return !words.includes("too late");
    },
    run(turn) {
      const fault = faults[turn.said.split(/\s/)[0] ?? ""];
      return fault === undefined ? fine(sleep) : fault(turn, sleep);
    },
  }),
});

async function* fine(sleep: Sleep): AsyncGenerator<AgentEvent> {
  await sleep(800, deaf());
  yield text("fine");
}
