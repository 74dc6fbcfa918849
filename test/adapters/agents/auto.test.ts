/** What `driver: "auto"` finds, against a real HTTP server that answers as Ollama does. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { findModel } from "../../../src/adapters/agents/auto.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";

type Answer = (response: ServerResponse) => void;

async function withServer(
  answer: string | Answer,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    if (typeof answer !== "string") answer(response);
    else response.writeHead(request.url === "/api/tags" ? 200 : 404).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}
const nowhere = "http://127.0.0.1:9";
/** No answer here is late: that is a test of its own. */
const never = new AbortController().signal;

test("a key in the environment wins over a server on this machine", async () => {
  await withServer(JSON.stringify({ models: [{ name: "llama3.2" }] }), async (url) => {
    const found = await findModel({ OPENAI_API_KEY: "sk-canary" }, url);
    expect(found.driver).toMatchObject({ kind: "model", provider: "openai", apiKey: "sk-canary" });
    expect(found.because).not.toContain("sk-canary");
  });
});

test("a local Ollama becomes an openai-compatible model", async () => {
  await withServer(JSON.stringify({ models: [{ name: "llama3.2" }] }), async (url) => {
    const { driver } = await findModel({}, url, never);
    expect(driver).toEqual({
      kind: "model",
      provider: "openai-compatible",
      baseUrl: `${url}/v1`,
      model: "llama3.2",
    });
    expect(drivers.get("model")?.configSchema.safeParse(driver).success).toBe(true);
  });
});

test("nothing there, an empty key, or something that is not Ollama leaves the guide", async () => {
  expect((await findModel({ ANTHROPIC_API_KEY: "" }, nowhere, never)).driver).toEqual({
    kind: "guide",
  });
  await withServer("<html>", async (url) => {
    expect((await findModel({}, url, never)).driver).toEqual({ kind: "guide" });
  });
});

test("what takes the question and says nothing is waited for until the limit, and leaves the guide", async () => {
  const limit = new AbortController();
  await withServer(
    () => limit.abort(),
    async (url) => {
      expect((await findModel({}, url, limit.signal)).driver).toEqual({ kind: "guide" });
    },
  );
});
