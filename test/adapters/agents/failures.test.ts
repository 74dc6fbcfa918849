/**
 * Why an agent failed, by kind and in the driver's own words: real drivers against servers and
 * programs that go wrong.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { type AgentDriver, kindOf } from "../../../src/domain/ports/index.ts";
import { collect, openAgent, sampleTurn } from "../../../src/testing/agent-contract.ts";

type Reply = (response: ServerResponse) => void;

let reply: Reply = (response) => void response.end();
let server: Server;
let base = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => reply(response));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((go) => server.close(go));
});

const status =
  (code: number, body = JSON.stringify({ error: { message: `because ${code}` } })): Reply =>
  (response) =>
    void response.writeHead(code, { "content-type": "application/json" }).end(body);
const html: Reply = (response) =>
  void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
const reset: Reply = (response) => void response.socket?.destroy();
const halfThenReset: Reply = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = { choices: [{ index: 0, delta: { content: "Well, " }, finish_reason: null }] };
  response.write(`data: ${JSON.stringify({ id: "1", model: "m", ...chunk })}\n\n`, () =>
    response.socket?.destroy(),
  );
};

async function failureOf(driver: string, config: object) {
  const agent = await openAgent(drivers.get(driver) as AgentDriver, config);
  const turn = sampleTurn({});
  try {
    const last = (await collect(agent, turn)).at(-1);
    if (last?.type !== "error") throw new Error(`it did not fail: ${JSON.stringify(last)}`);
    return { kind: last.kind, message: last.message };
  } finally {
    await agent.close?.();
  }
}

describe.each(["openai-compatible", "anthropic", "openai"])("a model of %s", (provider) => {
  const model = (over: object = {}) => {
    const config = { provider, baseUrl: `${base}/v1`, model: "m1", apiKey: "sk-very-secret-key" };
    return failureOf("model", { ...config, maxRetries: 0, ...over });
  };

  test.each([
    [401, "auth"],
    [403, "auth"],
    [404, "not-found"],
    [408, "timeout"],
    [400, "invalid"],
    [429, "rate-limit"],
    [500, "server"],
    [503, "server"],
  ] as const)("HTTP %i is %s", async (code, kind) => {
    reply = status(code);
    expect(await model()).toMatchObject({ kind });
    expect((await model()).message).toContain(`HTTP ${code}`);
  });

  test("a page of HTML for an answer", async () => {
    reply = html;
    expect(await model()).toMatchObject({ kind: "invalid" });
  });

  test("a connection that is cut, before an answer and within it", async () => {
    reply = reset;
    expect(await model()).toMatchObject({ kind: "refused" });
    // Its half answer is in one provider's form.
    if (provider !== "openai-compatible") return;
    reply = halfThenReset;
    expect(await model()).toMatchObject({ kind: "refused" });
  });

  test("nobody listens", async () => {
    const gone = createServer();
    await new Promise<void>((go) => gone.listen(0, "127.0.0.1", go));
    const { port } = gone.address() as AddressInfo;
    await new Promise((go) => gone.close(go));
    expect(await model({ baseUrl: `http://127.0.0.1:${port}/v1` })).toMatchObject({
      kind: "refused",
    });
  });

  test("the key is in no message", async () => {
    reply = status(401, JSON.stringify({ error: { message: "bad key sk-very-secret-key" } }));
    expect((await model()).message).not.toContain("very-secret");
  });
});

describe("a web service", () => {
  test.each([
    [401, "auth"],
    [404, "not-found"],
    [429, "rate-limit"],
    [502, "server"],
    [302, "invalid"],
  ] as const)("HTTP %i is %s", async (code, kind) => {
    reply = status(code, "no such luck");
    const failure = await failureOf("webhook", { url: base, secret: "a-secret-of-some-length" });
    expect(failure).toMatchObject({ kind });
    if (code !== 302) expect(failure.message).toContain("no such luck");
  });

  test("one that hangs, one that is cut", async () => {
    reply = () => undefined;
    const config = { url: base, secret: "a-secret-of-some-length", timeoutMs: 1_000 };
    expect(await failureOf("webhook", config)).toMatchObject({ kind: "timeout" });
    reply = reset;
    expect(await failureOf("webhook", config)).toMatchObject({ kind: "refused" });
  });

  test("HTML for an answer", async () => {
    reply = html;
    const config = { url: base, secret: "a-secret-of-some-length" };
    expect(await failureOf("webhook", config)).toMatchObject({ kind: "invalid" });
  });
});

describe("a program", () => {
  const program = (source: string) =>
    failureOf("command", {
      command: process.execPath,
      args: ["--input-type=module", "-e", source],
      tools: false,
    });

  test("that is not there", async () => {
    const config = { command: "no-such-program-anywhere", tools: false };
    expect(await failureOf("command", config)).toMatchObject({
      kind: "not-found",
      message: expect.stringContaining("ENOENT"),
    });
    expect(await failureOf("acp", { command: "no-such-program-anywhere" })).toMatchObject({
      kind: "not-found",
    });
  });

  test("that ends with a code, with the end of its standard error", async () => {
    const source = "console.error('out of cheese'); process.exit(3);";
    expect(await program(source)).toMatchObject({
      kind: "crashed",
      message: expect.stringMatching(/exited with code 3: out of cheese/u),
    });
  });

  test("that says what is no event", async () => {
    expect(await program("console.log('hello')")).toMatchObject({ kind: "invalid" });
  });

  test("that names the kind itself; an unknown kind is none", async () => {
    const says = (kind: string) =>
      program(`console.log(JSON.stringify({ type: "error", message: "no", kind: "${kind}" }))`);
    expect(await says("rate-limit")).toEqual({ kind: "rate-limit", message: "no" });
    expect(await says("whatever")).toEqual({ kind: undefined, message: "no" });
  });
});

test("errors of code are of the kind of what caused them", async () => {
  const missing = import(join(import.meta.dirname, "no-such-module.mjs")) as Promise<unknown>;
  expect(kindOf(await missing.catch((error: unknown) => error))).toBe("not-found");
  reply = reset;
  const fetched = fetch(base).catch((error: unknown) => error);
  expect(kindOf(new Error("could not ask", { cause: await fetched }))).toBe("refused");
  expect(kindOf(AbortSignal.timeout(0).reason ?? new DOMException("", "TimeoutError"))).toBe(
    "timeout",
  );
  expect(kindOf(new Error("a bug"))).toBe("crashed");
  expect(kindOf("a text")).toBe("crashed");
});
