/** Agents that are web services: real HTTP on loopback, and every way an answer may be broken. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookDriver } from "../../../src/adapters/agents/webhook/driver.ts";
import type { AgentDriver, AgentTurn } from "../../../src/domain/ports/index.ts";
import {
  agentContract,
  collect,
  openAgent,
  sampleTurn,
  spoken,
} from "../../../src/testing/agent-contract.ts";
import {
  type ServiceAnswer,
  startWebhookService,
  type WebhookService,
} from "../../support/agents/webhook-agent.ts";

const driver = webhookDriver as AgentDriver;
const secret = "canary-secret-canary";
let service: WebhookService;
beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

const config = (over: object = {}) => ({ url: service.url, secret, ...over });
const json = (value: unknown): ServiceAnswer => ({
  type: "application/json; charset=utf-8",
  parts: [JSON.stringify(value)],
});
const frames = (...parts: (string | Buffer)[]): ServiceAnswer => ({
  type: "text/event-stream",
  parts,
});
const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const says = (text: string) => frame({ type: "text", text });
/** A turn answered so. */
const answered = async (
  answer: ServiceAnswer,
  over: object = {},
  turn: Partial<AgentTurn> = {},
) => {
  service.answer(answer);
  return collect(await openAgent(driver, config(over)), sampleTurn(turn));
};

agentContract({
  name: "webhook",
  driver,
  speaking: async () => {
    service.answer(frames(says("Hel"), says("lo")));
    return { config: config(), answer: "Hello" };
  },
  hanging: async () => {
    service.answer({ ...frames(says("one moment")), ending: "stall" });
    return config();
  },
  failing: async () => {
    service.answer({ status: 500, parts: ["boom"] });
    return config();
  },
  babbling: async () => {
    service.answer({ ...frames(...Array.from({ length: 5_000 }, () => says("on "))), everyMs: 2 });
    return config();
  },
  calling: async (name, input) => {
    service.answer(frames(frame({ type: "tool-call", name, input }), says("done")));
    return config();
  },
});

describe("webhook driver", () => {
  test("posts the whole turn, signed over its time and its bytes", async () => {
    service.answer(json({ text: "yes" }));
    const images = [{ mime: "image/png", name: "a.png", data: new Uint8Array([1, 2, 3]) }];
    const turn = sampleTurn({ said: "grüß 👋", images, model: "small", thinking: "low" });
    const agent = await driver.open({
      agentId: "main",
      agentName: "Scout",
      sleep: async () => undefined,
      config: driver.configSchema.parse(config()),
      now: () => 1_700_000_000_999,
    });
    expect(spoken(await collect(agent, turn))).toBe("yes");
    const { method, headers, body } = service.requests.at(-1) as (typeof service.requests)[0];
    expect(method).toBe("POST");
    const { callTool: _, ...rest } = turn;
    const sent = [{ mime: "image/png", name: "a.png", data: "AQID" }];
    expect(JSON.parse(body)).toEqual({ ...rest, images: sent, type: "turn" });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": "01TURN",
      "earshot-timestamp": "1700000000",
    });
    const mac = createHmac("sha256", secret).update(`1700000000.${body}`).digest("hex");
    expect(headers["earshot-signature"]).toBe(`sha256=${mac}`);
    expect(JSON.stringify(headers) + body).not.toContain(secret);
  });

  test("takes a JSON answer: text, events, and what it does to the turn", async () => {
    const called: unknown[] = [];
    const callTool = async (...call: unknown[]) => String(called.push(call));
    const answer = { react: "👍", disengage: true, text: "Bye.", events: [] };
    const events = await answered(json(answer), {}, { callTool });
    expect(called).toEqual([
      ["channel_react", { emoji: "👍" }],
      ["channel_disengage", {}],
    ]);
    expect(spoken(events)).toBe("Bye.");
    const usage = { type: "usage", inputTokens: 1, outputTokens: 2 };
    const listed = await answered(json({ events: [{ type: "text", text: "a" }, usage] }));
    expect(listed).toEqual([{ type: "text", text: "a" }, usage]);
  });

  test("an answer that skips says nothing, whatever else stands in it", async () => {
    const called: unknown[] = [];
    const callTool = async (...call: unknown[]) => String(called.push(call[0]));
    const events = await answered(json({ skip: true, text: "never" }), {}, { callTool });
    expect(called).toEqual(["skip_response"]);
    expect(spoken(events)).toBe("");
  });

  test("204 and an empty object are silence", async () => {
    expect(await answered({ status: 204 })).toEqual([]);
    expect(await answered(json({}))).toEqual([]);
  });

  test("reads a line each as well as server-sent events", async () => {
    const lines = [
      '{"type":"text","text":"a"}\n{"type":"weather"}\n',
      '\n{"type":"text","text":"b"}',
    ];
    for (const type of ["application/x-ndjson", "application/jsonl"])
      expect(spoken(await answered({ type, parts: lines }))).toBe("ab");
  });

  test("reads frames as the standard has them: comments, other fields, several data lines, CRLF", async () => {
    const parts = [
      ": a comment\r\n\r\nevent: message\r\nid: 1\r\nretry: 10\r\n",
      'data: {"type":"text",\r\ndata:"text":"a"}\r\n\r\n',
      "data: [DONE]\n\n",
      says("after the end"),
    ];
    expect(await answered(frames(...parts))).toEqual([{ type: "text", text: "a" }]);
  });

  test("reads frames that are cut anywhere, a byte at a time", async () => {
    const bytes = Buffer.from(says("grüß 👋"));
    expect(
      spoken(await answered(frames(...Array.from(bytes, (byte) => Buffer.from([byte]))))),
    ).toBe("grüß 👋");
  });

  test.each<[string, ServiceAnswer, RegExp]>([
    ["half a frame", frames(says("a"), 'data: {"type":"te'), /ends in the middle of an event/],
    ["a frame that is not JSON", frames("data: {oh no\n\n"), /not JSON \(received "\{oh no"\)/],
    ["an event of a wrong shape", frames(frame({ type: "text" })), /not an event/],
    ["bytes that are not UTF-8", frames(Buffer.from([0x64, 0xff, 0x0a])), /not UTF-8/],
    ["broken JSON", { type: "application/json", parts: ['{"text":'] }, /not JSON/],
    ["JSON of another shape", json({ text: 7 }), /text/],
    ["HTML", { type: "text/html", parts: ["<html>"] }, /neither JSON nor .*"text\/html"/],
    ["no content type", { parts: ["hello"] }, /neither JSON nor/],
    ["a line without end", frames("x".repeat(3_000_000)), /a line is over 2097152 bytes/],
    ["an endless answer", frames(...Array(90).fill(`: ${"x".repeat(100_000)}\n`)), /larger than/],
    [
      "a reset line",
      { ...frames(says("a")), ending: "reset", everyMs: 30 },
      /the connection failed/,
    ],
    ["a redirect", { status: 307, headers: { location: "/other" } }, /redirects are not followed/],
    ["an error of its own", json({ events: [{ type: "error", message: "no luck" }] }), /^no luck$/],
    ["401", { status: 401, parts: ["who?"] }, /answered 401/],
  ])("fails the turn at %s", async (_, answer, message) => {
    const events = await answered(answer);
    const errors = events.flatMap((event) => (event.type === "error" ? [event.message] : []));
    expect(errors).toEqual([expect.stringMatching(message)]);
    expect(events.at(-1)?.type).toBe("error");
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("a redirect is not followed, not even to itself", async () => {
    const before = service.requests.length;
    await answered({ status: 302, headers: { location: service.url } });
    expect(service.requests.length).toBe(before + 1);
  });

  test.each([
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [404, false],
  ])("status %i: worth another try is %s", async (status, retryable) => {
    expect(await answered({ status })).toEqual([expect.objectContaining({ retryable })]);
  });

  test("a service that trickles or stalls is given up after the time it was given", async () => {
    const trickle = { ...frames(..."data: no end".split("")), everyMs: 60 };
    const before = service.abandoned();
    for (const answer of [trickle, { ...frames(), ending: "stall" as const }]) {
      const events = await answered(answer, { timeoutMs: 200 });
      expect(events).toEqual([
        expect.objectContaining({ message: expect.stringMatching(/took longer than 200 ms/) }),
      ]);
    }
    await expect.poll(() => service.abandoned()).toBe(before + 2);
  });

  test("an abort closes the connection", async () => {
    service.answer({ ...frames(says("a")), ending: "stall" });
    const before = service.abandoned();
    const agent = await openAgent(driver, config());
    const stop = new AbortController();
    const read = async () => {
      for await (const _ of agent.run(sampleTurn(), { signal: stop.signal }))
        stop.abort(new Error("stopped"));
    };
    await expect(read()).rejects.toThrow("stopped");
    await expect.poll(() => service.abandoned()).toBe(before + 1);
  });

  test("a service that is not there is worth another try", async () => {
    const gone = await startWebhookService();
    await gone.close();
    const events = await collect(await openAgent(driver, config({ url: gone.url })));
    expect(events).toEqual([
      expect.objectContaining({ retryable: true, message: expect.stringMatching(/ECONNREFUSED/) }),
    ]);
  });

  test("two turns at once do not mix", async () => {
    service.answer(
      { ...frames(says("a"), says("b")), everyMs: 20 },
      { ...frames(says("c"), says("d")), everyMs: 20 },
    );
    const agent = await openAgent(driver, config());
    const turns = [1, 2].map((n) => collect(agent, sampleTurn({ turnId: String(n) })));
    expect((await Promise.all(turns)).map(spoken).sort()).toEqual(["ab", "cd"]);
  });

  test("needs an address and a secret worth the name", () => {
    const fits = (value: object) => driver.configSchema.safeParse(value).success;
    expect(fits(config())).toBe(true);
    expect(fits(config({ url: "file:///etc/passwd" }))).toBe(false);
    expect(fits(config({ secret: "short" }))).toBe(false);
    expect(fits({ url: service.url })).toBe(false);
  });
});
