/**
 * What agents answer, a program and a web service in each form, and what host threads say across the
 * trust boundary; and what a host is given: journal rows and records of conversations.
 */

import { decodeEvent, eventsIn } from "../../../src/actors/protocol/event-codec.ts";
import type { HostEvents } from "../../../src/actors/protocol/host-link.ts";
import { guardEvents } from "../../../src/actors/protocol/validate-host-calls.ts";
import { resultProblem } from "../../../src/actors/protocol/validate-results.ts";
import { linesOf } from "../../../src/adapters/agents/shared/lines.ts";
import { readLine } from "../../../src/adapters/agents/shared/wire.ts";
import { eventsOf } from "../../../src/adapters/agents/webhook/answer.ts";
import { encodeVerdict } from "../../../src/domain/decision.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Frames } from "../harness/mutate.ts";
import {
  canary,
  frames,
  jsonFrames,
  jsonIn,
  refusesNothing,
  type Target,
} from "../harness/target.ts";

const refusesWith = (code: string) => (error: unknown) =>
  error instanceof EarshotError && error.code === code;

/** The bytes of the frames, a line each, in chunks that end anywhere. */
async function* chunksOf(lines: Frames): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  for (let at = 0, size = 7; at < bytes.length; at += size, size = size * 2 + 1)
    yield bytes.subarray(at, at + size);
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const events = [
  { type: "text", text: "hello" },
  { type: "reasoning", text: "hm" },
  { type: "status", text: "looking" },
  { type: "message-end" },
  { type: "tool-start", name: "search", input: { query: "tea" } },
  { type: "tool-end", name: "search", ok: true },
  { type: "tool-call", id: 1, name: "channel_react", input: { emoji: "👍" } },
  { type: "usage", inputTokens: 3, outputTokens: 4, costUsd: 0.1 },
  { type: "later", what: "an event of another version" },
  { type: "done" },
];
const command: Target = {
  name: "command-agent",
  claim: "a program's lines are events, or EAR_AGENT_FAILED that quotes the line",
  seeds: [{ name: "lines", frames: jsonFrames(...events) }],
  async read(lines) {
    const read: unknown[] = [];
    for await (const line of linesOf(chunksOf(lines)))
      read.push(line.trim() === "" ? null : readLine(line));
    return read;
  },
  refuses: refusesWith("EAR_AGENT_FAILED"),
  secretsOf: () => [],
};

const answers = (name: string, type: string, seed: Frames): Target => ({
  name,
  claim: `a web service's answer as ${type} is events, or EAR_AGENT_FAILED`,
  seeds: [{ name: "answer", frames: seed }],
  read: (lines) => listOf(eventsOf(type, chunksOf(lines))),
  refuses: refusesWith("EAR_AGENT_FAILED"),
  secretsOf: () => [],
});
const webhookAgents: readonly Target[] = [
  answers(
    "webhook-agent-json",
    "application/json",
    jsonFrames({ text: "hello", react: "👍", disengage: true, events }),
  ),
  answers("webhook-agent-lines", "application/x-ndjson", jsonFrames(...events)),
  answers(
    "webhook-agent-sse",
    "text/event-stream",
    frames(
      ...events.flatMap((event) => [`data: ${JSON.stringify(event)}`, ""]),
      "data: [DONE]",
      "",
    ),
  ),
];

const verdict = encodeVerdict({ decision: "observe", rule: "default", credit: "none" });
const asked = { epoch: 3, events: 1, lastSeq: 20, knows: (conv: number) => conv === 7 };
const results: Target = {
  name: "worker-results",
  claim: "a host's answer to a batch is taken, or refused with one short reason",
  seeds: [
    {
      name: "answer",
      frames: jsonFrames({
        id: 1,
        epoch: 3,
        codes: [verdict],
        steps: [
          { seq: 20, conv: 7, key: "k", at: 1, code: verdict, effects: [{ type: "typing" }] },
        ],
        passivated: [7],
        rejected: [{ conv: 7, seq: 20, error: "no" }],
        checkpoints: [{ conv: 7, recordSeq: 20, record: "[]" }],
        unreadable: [{ conv: 7, error: "no" }],
        live: 1,
      }),
    },
  ],
  read: (lines, log) =>
    jsonIn(lines).map((value) => {
      const problem = resultProblem(value, asked);
      if (problem !== null) log("error", "host.refused", { problem });
      return problem;
    }),
  refuses: refusesNothing,
};

const turn = { conv: 7, key: "agent:main:main", turnId: "t1" };
const reported = (event: object) => ({
  ...turn,
  n: 0,
  attempt: 0,
  event: { at: 1, turnId: "t1", ...event },
});
const calls: Target = {
  name: "worker-calls",
  claim: "a host's calls have their form, or are refused with one short reason",
  seeds: [
    {
      name: "calls",
      frames: jsonFrames(
        [
          reported({ type: "agent.started", attempt: 0 }),
          reported({ type: "agent.text", index: 0, from: 0, to: 2, text: "hi", mentions: ["a"] }),
          reported({ type: "agent.tool", name: "x", input: { a: [1] } }),
          reported({ type: "agent.usage", inputTokens: 1, outputTokens: 2, costUsd: 0.1 }),
          reported({ type: "agent.failed", code: "error", message: "no" }),
        ],
        { ...turn, text: "h" },
        { ...turn, index: 0, text: "h" },
        [{ kind: "event", readers: [1], actor: "x:1", eventJson: "{}" }],
        { ...turn, tool: "attachment_list", input: {} },
        ["warn", "agent.said", { a: 1 }],
      ),
    },
  ],
  async read(lines, log) {
    const heard: unknown[] = [];
    const hear = (...given: readonly unknown[]) => void heard.push(given);
    const guarded = guardEvents(
      {
        onReports: hear,
        onDelta: hear,
        onDraft: hear,
        onInspect: hear,
        onLog: hear,
        ask: async (given: unknown) => String(heard.push(given)),
      } as unknown as HostEvents,
      (problem) => log("error", "host.refused", { problem }),
    );
    const [reports, delta, draft, inspected, question, line] = jsonIn(lines) as never[];
    if (reports !== undefined) guarded.onReports(reports);
    if (delta !== undefined) guarded.onDelta(delta);
    if (draft !== undefined) guarded.onDraft(draft);
    if (inspected !== undefined) guarded.onInspect(inspected);
    if (question !== undefined) heard.push(await guarded.ask(question));
    if (Array.isArray(line)) guarded.onLog(...(line as Parameters<HostEvents["onLog"]>));
    return heard;
  },
  refuses: refusesNothing,
};

const stored: Target = {
  name: "journal-row",
  claim: "a stored row is an event, or EAR_RECORD_INVALID with its number",
  seeds: [
    {
      name: "rows",
      frames: jsonFrames(
        { type: "message.received", at: 1, seq: 0, message: { id: "1", text: "hello" } },
        {
          type: "agent.reported",
          at: 2,
          seq: 0,
          turnId: "t",
          events: [{ type: "agent.ended", at: 2 }],
        },
        { type: "deadline.due", at: 3, id: "x" },
      ),
    },
  ],
  read: (lines) =>
    lines.map((line, index) =>
      eventsIn(decodeEvent({ seq: index + 1, body: line.toString("utf8") })),
    ),
  refuses: refusesWith("EAR_RECORD_INVALID"),
  secretsOf: () => [canary],
};

export const agentTargets: readonly Target[] = [command, ...webhookAgents, results, calls, stored];
