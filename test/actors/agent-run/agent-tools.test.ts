/**
 * What an agent does to its own conversation, end to end with every driver that can call tools: one
 * that has disengaged grants no credit with its last answer, and one that skips sends nothing. Real
 * programs, servers and modules; the platform is a list.
 */

import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { startWebhookService, type WebhookService } from "../../support/agents/webhook-agent.ts";
import { builtFile, builtUrl } from "../../support/built/files.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";

type Step =
  | { readonly text: string }
  | { readonly tool: string; readonly input: Record<string, unknown> };

let model: ModelServer;
let service: WebhookService;
let folder: string;
beforeAll(async () => {
  model = await startModelServer();
  service = await startWebhookService();
  folder = await mkdtemp(join(tmpdir(), "earshot-tools-"));
});
afterAll(async () => {
  await model.close();
  await service.close();
});

const program = join(import.meta.dirname, "../../support/agents/command-agent.mjs");
const acpProgram = builtFile("test/acp-agent");
const moduleSource = (steps: readonly Step[]) => `
  export default async function* (turn) {
    for (const step of ${JSON.stringify(steps)})
      if (step.text !== undefined) yield { type: "text", text: step.text };
      else await turn.callTool(step.tool, step.input);
  }`;

/** Driver options under which every turn takes these steps. */
type Plan = (steps: readonly Step[]) => Promise<{ kind: string } & Record<string, unknown>>;

const plans: Record<string, Plan> = {
  scripted: async (steps) => ({ kind: "scripted", runs: [{ steps }, { steps }] }),
  model: async (steps) => {
    const turn = steps.map((step) =>
      "text" in step ? { say: [step.text] } : { call: { name: step.tool, input: step.input } },
    );
    model.reply(...turn, ...turn);
    return { kind: "model", baseUrl: model.baseUrl, model: "tiny" };
  },
  module: async (steps) => {
    const path = join(folder, `${crypto.randomUUID()}.mjs`);
    await writeFile(path, moduleSource(steps));
    return { kind: "module", module: path };
  },
  command: async (steps) => ({
    kind: "command",
    command: process.execPath,
    args: [program, "plan", JSON.stringify(steps)],
  }),
  "webhook, as a stream": async (steps) => {
    const events = steps.map((step) =>
      "text" in step
        ? { type: "text", text: step.text }
        : { type: "tool-call", name: step.tool, input: step.input },
    );
    const parts = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const answer = { type: "text/event-stream", parts };
    service.answer(answer, answer);
    return { kind: "webhook", url: service.url, secret: "canary-secret-canary" };
  },
  "webhook, as an object": async (steps) => {
    const does = (tool: string) => steps.some((step) => "tool" in step && step.tool === tool);
    const text = steps.flatMap((step) => ("text" in step ? [step.text] : [])).join("");
    const body = { text, disengage: does("channel_disengage"), skip: does("skip_response") };
    const answer = { type: "application/json", parts: [JSON.stringify(body)] };
    service.answer(answer, answer);
    return { kind: "webhook", url: service.url, secret: "canary-secret-canary" };
  },
};

interface Room {
  readonly runtime: Runtime;
  readonly sent: string[];
  readonly lines: StreamLine[];
}

let room: Room;
afterEach(() => room.runtime.stop());

async function enter(driver: object, workers = 0): Promise<void> {
  const sent: string[] = [];
  const lines: StreamLine[] = [];
  const send = async ({ text }: { text: string }) => {
    sent.push(text);
    return { messageIds: [`p${sent.length}`] };
  };
  const membership = () => ({ humans: 4, bots: 1, truncated: false, fetchedAt: Date.now() });
  const runtime = createRuntime({
    ...systemPorts(),
    store: createTestStore(),
    config: scenarioConfig({
      agents: { defaults: { driver } },
      messages: { ackReaction: "", inbound: { debounceMs: 5, debounceMaxMs: 20 } },
    }),
    drivers,
    hostModule: builtUrl("adapters/host-ports").href,
    directory: readyDirectory(send, membership),
    events: createRuntimeEvents(() => undefined, { line: (line) => lines.push(line) }),
    workers,
  });
  room = { runtime, sent, lines };
  await runtime.start();
}

let ids = 0;
/** Ann says something in a group of four; the rule that decided. */
async function ann(text: string, mention: boolean): Promise<string | undefined> {
  ids += 1;
  const message = inboundSchema.parse({
    channel: "telegram",
    id: `m${ids}`,
    author: { id: "ann" },
    text,
    chat: { id: "room", kind: "group" },
    ...(mention ? { mentions: [{ id: "bot", isSelf: true }] } : {}),
  });
  const events = [{ type: "message", message }] as const;
  const heard = await room.runtime.ingest("telegram", "default", events, { wait: "decision" });
  return heard[0]?.receivers[0]?.verdict?.rule;
}
const outcomes = () =>
  room.lines.flatMap((line) =>
    "event" in line && line.event === "agent_end" ? [String(line.outcome)] : [],
  );
async function turnOver(): Promise<void> {
  await expect.poll(outcomes, { timeout: 60_000 }).toHaveLength(1);
  await room.runtime.settled();
}

describe.each(Object.entries(plans))("%s", (_, plan) => {
  test("a reply gives its author a credit (or the next claim would prove nothing)", async () => {
    await enter(await plan([{ text: "Hi." }]));
    expect(await ann("hello", true)).toBe("mention");
    await turnOver();
    expect(room.sent).toEqual(["Hi."]);
    expect(await ann("and then?", false)).toBe("sticky");
  });

  test("who has disengaged may say goodbye and gets no credit for it", async () => {
    await enter(await plan([{ tool: "channel_disengage", input: {} }, { text: "Bye." }]));
    expect(await ann("leave us alone", true)).toBe("mention");
    await turnOver();
    expect(room.sent).toEqual(["Bye."]);
    expect(await ann("and then?", false)).toBe("default");
    expect(outcomes()).toHaveLength(1);
  });

  test("who skips the response says nothing, whatever it writes after that", async () => {
    await enter(await plan([{ tool: "skip_response", input: {} }, { text: "never" }]));
    expect(await ann("psst", true)).toBe("mention");
    await turnOver();
    expect(room.sent).toEqual([]);
    expect(outcomes()).toEqual(["silent"]);
    expect(await ann("and then?", false)).toBe("default");
  });
});

test("tools reach a program that was started for a worker thread", async () => {
  const steps = [{ tool: "channel_disengage", input: {} }, { text: "Bye." }];
  await enter(await (plans.command as Plan)(steps), 1);
  expect(await ann("leave us alone", true)).toBe("mention");
  await turnOver();
  expect(room.sent).toEqual(["Bye."]);
  expect(await ann("and then?", false)).toBe("default");
});

test("an ACP agent answers from a worker thread, in one session of its own", async () => {
  await enter({ kind: "acp", command: process.execPath, args: [acpProgram, "remember"] }, 1);
  await ann("hello", true);
  await turnOver();
  expect(await ann("and then?", false)).toBe("sticky");
  await expect.poll(outcomes, { timeout: 60_000 }).toEqual(["replied", "replied"]);
  const [first, second] = room.sent.map((text) => text.split(" "));
  expect([first?.[1], second?.[1]]).toEqual(["1", "2"]);
  expect(second?.[0]).toBe(first?.[0]);
});

test("a program that babbles on after its abort is not heard, and its turn ends once", async () => {
  const begun = join(folder, "begun");
  const args = [program, "babble", begun];
  await enter({ kind: "command", command: process.execPath, args }, 1);
  await ann("hello", true);
  await expect.poll(() => existsSync(begun), { timeout: 60_000 }).toBe(true);
  const { key } = room.lines.find((line) => "event" in line) as { key: string };
  expect(await room.runtime.abortTurn(key, "the operator")).toBe(true);
  await expect.poll(outcomes).toEqual(["cancelled"]);
  const said = room.sent.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(room.sent).toHaveLength(said);
  expect(outcomes()).toEqual(["cancelled"]);
});
