/** Every built-in driver against the public contract, and what is particular to each. */
import { mkdtemp, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import { guideAnswer } from "../../../src/adapters/agents/shared/guide.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import {
  agentContract,
  collect,
  openAgent,
  sampleTurn,
  spoken,
} from "../../../src/testing/agent-contract.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";

const driver = (kind: string) => drivers.get(kind) as AgentDriver;
let server: ModelServer;
let folder: string;
beforeAll(async () => {
  server = await startModelServer();
  folder = await mkdtemp(join(tmpdir(), "earshot-agents-"));
});
afterAll(() => server.close());

const model = (over: object = {}) => ({
  baseUrl: server.baseUrl,
  model: "tiny",
  maxRetries: 0,
  ...over,
});

agentContract({
  name: "guide",
  driver: driver("guide"),
  speaking: async () => ({ config: {}, answer: /No model is connected[\s\S]*rule `dm`/ }),
});

agentContract({
  name: "scripted",
  driver: driver("scripted"),
  speaking: async () => ({
    config: { runs: [{ steps: [{ text: "Hel" }, { waitMs: 5 }, { text: "lo" }] }] },
    answer: "Hello",
  }),
  hanging: async () => ({ runs: [{ steps: [{ hang: true }] }] }),
  failing: async () => ({ runs: [{ steps: [{ error: "boom" }] }] }),
  babbling: async () => ({
    runs: [
      { steps: Array.from({ length: 2_000 }, (_, n) => (n % 2 ? { waitMs: 2 } : { text: "on " })) },
    ],
  }),
  calling: async (tool, input) => ({ runs: [{ steps: [{ tool, input }] }] }),
});

agentContract({
  name: "model",
  driver: driver("model"),
  speaking: async () => {
    server.reply({ say: ["Hel", "lo"] });
    return { config: model(), answer: "Hello" };
  },
  hanging: async () => {
    server.reply({ stallAfter: ["one moment"] });
    return model();
  },
  failing: async () => {
    server.reply({ status: 400 });
    return model();
  },
  babbling: async () => {
    server.reply({ say: Array<string>(2_000).fill("on "), everyMs: 2 });
    return model();
  },
  calling: async (name, input) => {
    server.reply({ call: { name, input } }, { say: ["done"] });
    return model();
  },
});

const moduleFile = async (name: string, source: string) => {
  const path = join(folder, name);
  await writeFile(path, source);
  return { module: path };
};

agentContract({
  name: "module",
  driver: driver("module"),
  speaking: async () => ({
    config: await moduleFile(
      "speaks.mjs",
      "export default async function* (turn, { signal }) { signal.throwIfAborted();\n yield { type: 'text', text: 'heard ' + turn.said }; }",
    ),
    answer: "heard hello",
  }),
  hanging: () =>
    moduleFile(
      "hangs.mjs",
      "export default async function* (turn, { signal }) { await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))); }",
    ),
  failing: () =>
    moduleFile("fails.mjs", "export default async function* () { throw new Error('boom'); }"),
  babbling: () =>
    moduleFile(
      "babbles.mjs",
      `export default async function* (turn, { signal }) { for (;;) { signal.throwIfAborted();
        yield { type: "text", text: "on " }; await new Promise((go) => setTimeout(go, 2)); } }`,
    ),
  calling: (name, input) =>
    moduleFile(
      "calls.mjs",
      `const name = ${JSON.stringify(name)}, input = ${JSON.stringify(input)};
      export default async function* (turn, { signal }) {
        yield { type: "tool-start", name, input };
        const gone = new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
        await Promise.race([turn.callTool(name, input), gone]);
        yield { type: "tool-end", name, ok: true }; }`,
    ),
});

describe("model driver", () => {
  test("sends system, transcript and prompt, and reports usage", async () => {
    server.reply({ say: ["yes"] });
    const agent = await openAgent(driver("model"), model({ apiKey: "sk-canary" }));
    const transcript = [
      { role: "user" as const, text: "before", at: 1 },
      { role: "assistant" as const, text: "after", at: 2 },
    ];
    const events = await collect(agent, sampleTurn({ transcript }));
    const request = server.requests.at(-1);
    expect(request?.authorization).toBe("Bearer sk-canary");
    expect(request?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
    expect(events.at(-1)).toEqual({ type: "usage", inputTokens: 11, outputTokens: 7 });
  });

  test("lets the model call a tool and go on with its result", async () => {
    server.reply({ call: { name: "channel_react", input: { emoji: "👍" } } }, { say: ["reacted"] });
    const called: unknown[] = [];
    const agent = await openAgent(driver("model"), model());
    const events = await collect(
      agent,
      sampleTurn({
        tools: [
          {
            name: "channel_react",
            description: "React to the message.",
            inputSchema: { type: "object", properties: { emoji: { type: "string" } } },
          },
        ],
        callTool: async (name, input) => {
          called.push([name, input]);
          return "done";
        },
      }),
    );
    expect(called).toEqual([["channel_react", { emoji: "👍" }]]);
    expect(events.map(({ type }) => type)).toEqual([
      "tool-start",
      "tool-end",
      "text",
      "message-end",
      "usage",
    ]);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("done");
  });

  test("tries the fallback when the first model answers 429 before its first word", async () => {
    server.reply({ status: 429 }, { say: ["from the second"] });
    const fallbacks = [{ baseUrl: server.baseUrl, model: "second" }];
    const agent = await openAgent(driver("model"), model({ fallbacks }));
    const events = await collect(agent);
    expect(spoken(events)).toBe("from the second");
    expect(events[0]).toMatchObject({ type: "fallback", to: "second" });
    expect(events[0]).toHaveProperty("why", expect.stringContaining("HTTP 429"));
    expect(server.requests.at(-1)?.model).toBe("second");
  });

  test("does not try the fallback once the first model has spoken", async () => {
    server.reply({ cutAfter: ["half an ans"] }, { say: ["never"] });
    const fallbacks = [{ baseUrl: server.baseUrl, model: "second" }];
    const agent = await openAgent(driver("model"), model({ fallbacks }));
    const events = await collect(agent);
    expect(spoken(events)).toBe("half an ans");
    expect(events.at(-1)?.type).toBe("error");
    expect(spoken(await collect(agent))).toBe("never");
  });

  test.each([
    [
      "HTML instead of a stream",
      { raw: ["<html><body>Bad gateway</body></html>"], type: "text/html" },
    ],
    ["a frame that is not JSON", { raw: ["data: {oh no\n\n"] }],
    ["JSON of another shape", { raw: ['data: {"hello":"world"}\n\n', "data: [DONE]\n\n"] }],
    ["an empty stream", { raw: ["data: [DONE]\n\n"] }],
    ["invalid UTF-8", { raw: [Buffer.from([0xff, 0xfe, 0x00, 0x80])] }],
  ])("tells %s as a failure, never as an empty answer", async (_, reply) => {
    server.reply(reply);
    const agent = await openAgent(driver("model"), model());
    const events = await collect(agent);
    expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
  });

  test("reads frames that are cut anywhere, a byte at a time", async () => {
    const frame = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "grüß 👋" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    const bytes = Buffer.from(frame);
    server.reply({ raw: Array.from(bytes, (byte) => Buffer.from([byte])) });
    const agent = await openAgent(driver("model"), model());
    expect(spoken(await collect(agent))).toBe("grüß 👋");
  });

  test("keeps the key out of its errors", async () => {
    server.reply({
      status: 401,
      body: JSON.stringify({ error: { message: "bad key sk-canary" } }),
    });
    const agent = await openAgent(driver("model"), model({ apiKey: "sk-canary" }));
    const events = await collect(agent);
    expect(events.at(-1)?.type).toBe("error");
    expect(JSON.stringify(events)).not.toContain("sk-canary");
  });

  test("closes its connection when the turn is aborted", async () => {
    server.reply({ stallAfter: ["wait"] });
    const before = server.aborted();
    const agent = await openAgent(driver("model"), model());
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("stopped")), 50);
    await collect(agent, sampleTurn(), stop.signal);
    await expect.poll(() => server.aborted()).toBe(before + 1);
  });

  test("a message steered between two steps reaches the next step", async () => {
    server.reply({ call: { name: "look", input: {} } }, { say: ["seen"] });
    const agent = await openAgent(driver("model"), model());
    const tools = [{ name: "look", description: "Look.", inputSchema: { type: "object" } }];
    await collect(
      agent,
      sampleTurn({
        tools,
        callTool: async () => {
          expect(agent.steer?.("01TURN", "and the window too")).toBe(true);
          return "a door";
        },
      }),
    );
    expect(server.requests.at(-1)?.messages.at(-1)).toEqual({
      role: "user",
      content: "and the window too",
    });
  });

  test("a message steered during the last step gets a step of its own", async () => {
    server.reply({ say: ["first"] }, { say: ["second"] });
    const agent = await openAgent(driver("model"), model());
    let steered = false;
    const texts: string[] = [];
    for await (const event of agent.run(sampleTurn(), { signal: new AbortController().signal })) {
      if (event.type !== "text") continue;
      texts.push(event.text);
      if (!steered) steered = agent.steer?.("01TURN", "one more thing") ?? false;
    }
    expect(texts.join("|")).toBe("first|second");
    expect(agent.steer?.("01TURN", "too late")).toBe(false);
  });

  test("an openai-compatible provider without a base URL is refused by the schema", () => {
    expect(driver("model").configSchema.safeParse({ model: "x" }).success).toBe(false);
  });
});

describe("scripted driver", () => {
  test("gives a turn that is tried again the run it had, and the next turn the next run", async () => {
    const runs = [{ steps: [{ text: "first" }] }, { steps: [{ text: "second" }] }];
    const agent = await openAgent(driver("scripted"), { runs });
    expect(spoken(await collect(agent, sampleTurn({ turnId: "a", attempt: 1 })))).toBe("first");
    expect(spoken(await collect(agent, sampleTurn({ turnId: "a", attempt: 2 })))).toBe("first");
    expect(spoken(await collect(agent, sampleTurn({ turnId: "b" })))).toBe("second");
    expect(spoken(await collect(agent, sampleTurn({ turnId: "c" })))).toBe("ok");
  });

  test("asks its source when the config has no run left", async () => {
    const source = { next: () => ({ afterMs: 0, steps: [{ text: "from the source" }] }) };
    const agent = await openAgent(createScriptedDriver(source) as AgentDriver, {});
    expect(spoken(await collect(agent))).toBe("from the source");
  });

  test("calls tools through the turn", async () => {
    const called: unknown[] = [];
    const runs = [{ steps: [{ tool: "channel_react", input: { emoji: "x" } }] }];
    const agent = await openAgent(driver("scripted"), { runs });
    const turn = sampleTurn({ callTool: async (...call) => String(called.push(call)) });
    expect((await collect(agent, turn)).map(({ type }) => type)).toEqual([
      "tool-start",
      "tool-end",
    ]);
    expect(called).toEqual([["channel_react", { emoji: "x" }]]);
  });
});

describe("guide", () => {
  const room = { ...sampleTurn().room, chatKind: "group" as const, humans: 3, heardQuietly: 2 };
  test("tells a group why it spoke and what it heard while quiet", () => {
    const because = [{ author: "Ann\n# Bo", rule: "sticky" as const }];
    const answer = guideAnswer({ said: "so?", transcript: [], room: { ...room, because } });
    expect(answer).toContain("2 messages observed since my last answer");
    expect(answer).toContain("3 people counted here");
    expect(answer).toContain("rule `sticky`");
    expect(answer).not.toContain("\n# Bo");
  });

  test("introduces itself once, and again only when asked how to connect", () => {
    const transcript = [{ role: "assistant" as const, text: "before", at: 0 }];
    expect(guideAnswer({ said: "hm", transcript, room })).not.toContain("earshot.json5");
    expect(guideAnswer({ said: "help", transcript, room })).toContain("earshot.json5");
  });
});

describe("module driver", () => {
  test("opens a module that exports a driver, with its options checked", async () => {
    const config = await moduleFile(
      "driver.mjs",
      `export default { kind: "mine",
        configSchema: { safeParse: (value) => value.word ? { success: true, data: value } : { success: false, error: { issues: [] } } },
        open: ({ config }) => ({ capabilities: { steer: false, tools: false, images: false },
          async *run() { yield { type: "text", text: config.word }; } }) };`,
    );
    const agent = await openAgent(driver("module"), { ...config, options: { word: "mine" } });
    expect(spoken(await collect(agent))).toBe("mine");
    await expect(openAgent(driver("module"), config)).rejects.toThrow(/options are invalid/);
  });

  test("names the module and the reason when it cannot be loaded", async () => {
    const missing = join(folder, "missing.mjs");
    await expect(openAgent(driver("module"), { module: missing })).rejects.toThrow(/missing\.mjs/);
    const wrong = await moduleFile("wrong.mjs", "export default 42;");
    await expect(openAgent(driver("module"), wrong)).rejects.toThrow(
      /neither a function nor a driver/,
    );
  });

  test("says the cause and its place, and loads the module once it is mended", async () => {
    const broken = await moduleFile("broken.mjs", "const a = 1;\nexport default missing(a);\n");
    await expect(openAgent(driver("module"), broken)).rejects.toThrow(
      /broken\.mjs\): ReferenceError: missing is not defined \(.*broken\.mjs:\d\)\. Fix it/,
    );
    await moduleFile("broken.mjs", "export default async function* () {}\n");
    await utimes(broken.module, 1, 1);
    await expect(openAgent(driver("module"), broken)).resolves.toHaveProperty("run");
  });
});
