/**
 * What agents answer over a protocol of others: messages of the Agent Client Protocol from a program,
 * and the streams of models, as OpenAI's and Anthropic's servers send them. The real client libraries read
 * it. Whatever comes, a turn ends with events, and says in few words why it failed.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { acpDriver } from "../../../src/adapters/agents/acp/driver.ts";
import { modelDriver } from "../../../src/adapters/agents/model/driver.ts";
import type { AgentDriver, AgentEvent, AgentPort } from "../../../src/domain/ports/index.ts";
import { collect, openAgent, sampleTurn } from "../../../src/testing/agent-contract.ts";
import type { Frames } from "../harness/mutate.ts";
import { frames, jsonFrames, type Log, refusesNothing, type Target } from "../harness/target.ts";

const linesOf = (lines: Frames) => Buffer.concat(lines.flatMap((line) => [line, newline]));
const newline = Buffer.from("\n");

/** The events of a turn; a failure is logged, as the daemon does. */
async function turn(agent: AgentPort, prompt: string, log: Log): Promise<AgentEvent[]> {
  const events = await collect(agent, sampleTurn({ prompt, transcript: [] }));
  for (const event of events)
    if (event.type === "error") log("error", "turn.failed", { message: event.message });
  return events;
}

const program = join(import.meta.dirname, "../../support/agents/raw-acp-agent.mjs");
let opened: Promise<AgentPort> | null = null;
const update = (more: object) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "s", update: more },
});
const text = (said: string) => ({ type: "text", text: said });
const acp: Target = {
  name: "acp-agent",
  claim: "an agent's messages are events, or are passed over",
  seeds: [
    {
      name: "updates",
      frames: jsonFrames(
        update({ sessionUpdate: "agent_thought_chunk", content: text("hm") }),
        update({ sessionUpdate: "agent_message_chunk", content: text("hello") }),
        update({
          sessionUpdate: "tool_call",
          toolCallId: "1",
          title: "Read a.txt",
          kind: "read",
          status: "pending",
          rawInput: { path: "a.txt" },
        }),
        update({
          sessionUpdate: "tool_call_update",
          toolCallId: "1",
          status: "failed",
          content: [{ type: "content", content: text("no such file") }],
        }),
        update({
          sessionUpdate: "plan",
          entries: [{ content: "x", priority: "low", status: "pending" }],
        }),
        update({ sessionUpdate: "available_commands_update", availableCommands: [] }),
      ),
    },
    {
      name: "requests",
      frames: jsonFrames(
        {
          jsonrpc: "2.0",
          id: "p1",
          method: "session/request_permission",
          params: {
            sessionId: "s",
            toolCall: { toolCallId: "1", title: "Remove", kind: "delete" },
            options: [{ optionId: "y", name: "Yes", kind: "allow_once" }],
          },
        },
        { jsonrpc: "2.0", id: 1, method: "fs/read_text_file", params: { path: "/etc/passwd" } },
        update({ sessionUpdate: "agent_message_chunk", content: text("done") }),
      ),
    },
    {
      name: "answers",
      frames: frames(
        "it logs a line",
        JSON.stringify(update({ sessionUpdate: "agent_message_chunk", content: text("hello") })),
        '{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"max_tokens"}}',
        '{"jsonrpc":"2.0","id":99999,"error":{"code":-32603,"message":"no"}}',
      ),
    },
  ],
  async read(lines, log) {
    opened ??= openAgent(acpDriver as AgentDriver, { command: process.execPath, args: [program] });
    const prompt = `raw:${linesOf(lines).toString("base64")}`;
    const events = await turn(await opened, prompt, log);
    // What the turn before has sent behind its end may end the program; the daemon tries again, too.
    const isCrashed = events.some((one) => one.type === "error" && one.kind === "crashed");
    return isCrashed ? turn(await opened, prompt, log) : events;
  },
  refuses: refusesNothing,
  secretsOf: () => [],
  async close() {
    const ending = opened;
    opened = null;
    await (await ending)?.close?.();
  },
};

/** A server of models that answers every request with the bytes of the input, as a stream. */
let server: Promise<Server> | null = null;
let bytes: Buffer = Buffer.alloc(0);
const serve = () =>
  new Promise<Server>((resolve) => {
    const made = createServer((request, response) => {
      request.resume().once("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(bytes);
      });
    });
    made.listen(0, "127.0.0.1", () => resolve(made));
  });
const closeServer = async () => {
  const ending = server;
  server = null;
  (await ending)?.close();
};

const event = (data: object) => ["data: ".concat(JSON.stringify(data)), ""];
const chunk = (more: object) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: null, ...more }],
});
const openAi = frames(
  ...event(chunk({ delta: { role: "assistant", reasoning_content: "hm" } })),
  ...event(chunk({ delta: { content: "hello" } })),
  ...event(
    chunk({
      delta: {
        tool_calls: [
          { index: 0, id: "t", type: "function", function: { name: "x", arguments: "{}" } },
        ],
      },
    }),
  ),
  ...event(chunk({ delta: {}, finish_reason: "stop" })),
  ...event({
    ...chunk({}),
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
  "data: [DONE]",
  "",
);
const named = (data: { readonly type: string; readonly [field: string]: unknown }) => [
  `event: ${data.type}`,
  ...event(data),
];
const block = (index: number, content: object) => ({
  type: "content_block_start",
  index,
  content_block: content,
});
const delta = (index: number, more: object) => ({
  type: "content_block_delta",
  index,
  delta: more,
});
const anthropic = frames(
  ...named({
    type: "message_start",
    message: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  }),
  ...named(block(0, { type: "thinking", thinking: "", signature: "" })),
  ...named(delta(0, { type: "thinking_delta", thinking: "hm" })),
  ...named({ type: "content_block_stop", index: 0 }),
  ...named({ type: "ping" }),
  ...named(block(1, { type: "text", text: "" })),
  ...named(delta(1, { type: "text_delta", text: "hello" })),
  ...named({ type: "content_block_stop", index: 1 }),
  ...named(block(2, { type: "tool_use", id: "t", name: "x", input: {} })),
  ...named(delta(2, { type: "input_json_delta", partial_json: '{"a":1}' })),
  ...named({ type: "content_block_stop", index: 2 }),
  ...named({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 4 },
  }),
  ...named({ type: "message_stop" }),
);

const model = (provider: string, seed: Frames): Target => ({
  name: `model-${provider}`,
  claim: "a model's stream is events, or one short reason why it failed",
  seeds: [{ name: "stream", frames: seed }],
  async read(lines, log) {
    server ??= serve();
    const { port } = (await server).address() as AddressInfo;
    bytes = linesOf(lines);
    const agent = await openAgent(modelDriver as AgentDriver, {
      provider,
      model: "m",
      apiKey: "key",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      maxRetries: 0,
      maxSteps: 2,
    });
    return turn(agent, "hello", log);
  },
  refuses: refusesNothing,
  secretsOf: () => [],
  close: closeServer,
});

export const answeringTargets: readonly Target[] = [
  acp,
  model("openai-compatible", openAi),
  model("anthropic", anthropic),
];
