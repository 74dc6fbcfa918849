/**
 * What arrives at a model's server: the turn's model, how much it may think, its pictures. The
 * server here only keeps the request and refuses it.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelDriver } from "../../../src/adapters/agents/model/driver.ts";
import type { AgentDriver, AgentTurn } from "../../../src/domain/ports/index.ts";
import { thinkingLevels } from "../../../src/domain/session.ts";
import { collect, openAgent, sampleTurn } from "../../../src/testing/agent-contract.ts";

type Body = Record<string, unknown> & { readonly model: string };

const driver = modelDriver as AgentDriver;
const bodies: Body[] = [];
let server: Server;
let baseUrl: string;
let status = 400;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    bodies.push(JSON.parse(Buffer.concat(parts).toString("utf8")) as Body);
    response.writeHead(status, { "content-type": "application/json" });
    response.end('{"error":{"message":"kept","type":"x"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** The bodies of the requests that a turn caused. */
async function sent(provider: string, over: Partial<AgentTurn>, more: object = {}) {
  const before = bodies.length;
  const config = { provider, baseUrl, apiKey: "key", model: "configured", maxRetries: 0, ...more };
  const agent = await openAgent(driver, config);
  const events = await collect(agent, sampleTurn(over));
  return { agent, events, bodies: bodies.slice(before), body: bodies[before] as Body };
}

const providers = ["openai-compatible", "openai", "anthropic"];

describe("what arrives at the model's server", () => {
  test.each(providers)("%s: the model of the turn, else the configured one", async (provider) => {
    expect((await sent(provider, {})).body.model).toBe("configured");
    const named = await sent(provider, { model: "named" });
    expect(named.body.model).toBe("named");
    expect(JSON.stringify(named.events)).toContain("The model named failed");
  });

  test("a turn's own model keeps the fallbacks", async () => {
    status = 429;
    const fallbacks = [{ baseUrl, model: "second" }];
    const { bodies } = await sent("openai-compatible", { model: "named" }, { fallbacks });
    status = 400;
    expect(bodies.map(({ model }) => model)).toEqual(["named", "second"]);
  });

  test("openai-compatible: the level as reasoning_effort, and nothing when off", async () => {
    for (const thinking of thinkingLevels) {
      const { body } = await sent("openai-compatible", { thinking });
      expect(body.reasoning_effort).toBe(thinking === "off" ? undefined : thinking);
    }
  });

  test("openai: the level as the effort of a reasoning model", async () => {
    const model = "gpt-5-mini";
    const on = await sent("openai", { thinking: "low" }, { model });
    expect(on.body.reasoning).toMatchObject({ effort: "low" });
    const off = await sent("openai", { thinking: "off" }, { model });
    expect(off.body).not.toHaveProperty("reasoning");
  });

  test("anthropic: more thinking is a larger budget, beside the answer's own", async () => {
    let before = 0;
    for (const thinking of thinkingLevels.slice(1)) {
      const { body } = await sent("anthropic", { thinking }, { maxOutputTokens: 500 });
      const { type, budget_tokens: budget } = body.thinking as Record<string, unknown>;
      expect(type).toBe("enabled");
      expect(budget).toBeGreaterThan(before);
      expect(body.max_tokens).toBeGreaterThan(budget as number);
      before = budget as number;
    }
    expect((await sent("anthropic", { thinking: "off" })).body).not.toHaveProperty("thinking");
  });

  test.each([
    ["openai-compatible", '"url":"data:image/png;base64,AQID"'],
    ["openai", '"image_url":"data:image/png;base64,AQID"'],
    ["anthropic", '"media_type":"image/png","data":"AQID"'],
  ])("%s: the pictures of the turn, if the model takes them", async (provider, shape) => {
    const data = new Uint8Array([1, 2, 3]);
    const images = [{ mime: "image/png", name: "a.png", data }];
    const seeing = await sent(provider, { images }, { images: true });
    expect(JSON.stringify(seeing.body)).toContain(shape);
    expect(seeing.agent.capabilities.images).toBe(true);
    const blind = await sent(provider, { images });
    expect(JSON.stringify(blind.body)).not.toContain("AQID");
    expect(blind.agent.capabilities.images).toBe(false);
  });

  test.each(providers)("%s: no reasoning in tags of an earlier answer", async (provider) => {
    const transcript = [
      { role: "user", text: "Is <think>x</think> a tag?", at: 1 },
      { role: "assistant", text: "<think>They ask about tags.</think>It is.", at: 2 },
      { role: "assistant", text: "<think>Nothing to add.</think>", at: 3 },
    ] as const;
    const body = JSON.stringify((await sent(provider, { transcript })).body);
    expect(body).toContain("It is.");
    expect(body).toContain("Is <think>x</think> a tag?");
    expect(body).not.toContain("They ask");
    expect(body).not.toContain("Nothing to add");
  });
});
