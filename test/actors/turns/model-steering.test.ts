/**
 * Steering and interrupting a model over the wire: what the model's server is asked, and how often.
 */

import { afterEach, expect, test } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { inTurn } from "../../support/rounds.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";

let server: ModelServer;
let runtime: Runtime;
const lines: StreamLine[] = [];
const sent: string[] = [];

async function start(mode: string, workers: number): Promise<void> {
  server = await startModelServer();
  const driver = {
    kind: "model",
    provider: "openai-compatible",
    model: "test",
    baseUrl: server.baseUrl,
    maxRetries: 0,
  };
  const send = async ({ text }: { text: string }) => {
    sent.push(text);
    return { messageIds: [`p${sent.length}`] };
  };
  runtime = createRuntime({
    ...systemPorts(),
    store: createTestStore(),
    config: scenarioConfig({
      agents: { defaults: { driver } },
      messages: {
        ackReaction: "",
        inbound: { debounceMs: 5, debounceMaxMs: 20 },
        queue: { mode, debounceMs: 5 },
      },
      stream: { mode: "off" },
    }),
    drivers,
    directory: readyDirectory(send),
    events: createRuntimeEvents(() => undefined, { line: (line) => lines.push(line) }),
    workers,
  });
  await runtime.start();
}
afterEach(async () => {
  await runtime.stop();
  await server.close();
  lines.length = 0;
  sent.length = 0;
});

const say = (id: string) => {
  const message = inboundSchema.parse({
    channel: "telegram",
    id,
    text: `words of ${id}`,
    author: { id: "ann", name: "Ann" },
    chat: { id: "ann", kind: "direct" },
  });
  return runtime.ingest("telegram", "default", [{ type: "message", message }]);
};
const events = (name: string) =>
  lines.filter((line) => "event" in line && line.event === name).length;
const idle = () => events("agent_start") > 0 && events("agent_end") === events("agent_start");
const patient = { timeout: 60_000, interval: 20 };

test.each(inTurn([0, 1], 0))(
  "with %i workers a message said during a step is in the next request to the model",
  async (workers) => {
    await start("steer", workers);
    const words = Array.from({ length: 50 }, (_, n) => `word ${n} `);
    server.reply({ say: words, everyMs: 100 }, { say: ["and the answer to both"] });
    await say("m1");
    await expect.poll(() => server.requests.length, patient).toBe(1);
    await say("m2");
    await expect.poll(() => sent.length > 0 && idle(), patient).toBe(true);
    expect(server.requests).toHaveLength(2);
    const asked = server.requests.map(({ messages }) => JSON.stringify(messages));
    expect(asked[0]).toContain("words of m1");
    expect(asked[0]).not.toContain("words of m2");
    const reported = server.requests[1]?.messages.at(-1);
    expect(reported?.role).toBe("user");
    expect(reported?.content).toMatch(
      /^## New message\(s\) .*\n\n<room-text (\w+)>\n\[id m2, .*\] Ann:\n {2}words of m2\n<\/room-text \1>$/,
    );
    expect(events("agent_start")).toBe(1);
    expect(sent.join(" ")).toContain("and the answer to both");
    const [why] = await runtime.why("m2");
    expect(why?.fate).toMatchObject({ turn: 1, outcome: "replied" });
  },
  600_000,
);

test("a message said after the last step is asked in a turn of its own", async () => {
  await start("steer", 0);
  await say("m1");
  await expect.poll(() => sent.length === 1 && idle(), patient).toBe(true);
  await say("m2");
  await expect.poll(() => sent.length === 2 && idle(), patient).toBe(true);
  expect(server.requests).toHaveLength(2);
  expect(events("agent_start")).toBe(2);
});

test("a hundred interruptions cost the model a few calls, and the last words are answered", async () => {
  await start("interrupt", 0);
  server.reply(...Array.from({ length: 200 }, () => ({ stallAfter: ["hm"] })));
  const interruptions = 100;
  for (let n = 0; n < interruptions; n += 1) {
    await say(`m${n}`);
    await new Promise((go) => setTimeout(go, 10));
  }
  await expect.poll(() => server.requests.length, patient).toBeGreaterThan(0);
  // One call a second at most, counted from the first, however long the hundred took.
  const asked = server.requests.length;
  expect(asked).toBeLessThan(interruptions / 4);
  server.reply();
  await say("last");
  await expect.poll(() => sent.some((text) => text.includes("words of last")), patient).toBe(true);
  expect(server.aborted()).toBeGreaterThanOrEqual(1);
});
