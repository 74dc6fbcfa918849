/**
 * Requests that are answered without the framework are answered as the framework would answer them.
 * Each is said twice over a real socket: with an address that is answered directly, and with another
 * spelling of the same address, which only the framework reads.
 */
import { once } from "node:events";
import { createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onFirstRequest } from "../../../src/daemon/http/direct.ts";
import { limits } from "../../../src/domain/limits.ts";
import { type SmallServer, startSmallServer } from "../../support/daemon/small-server.ts";

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => server.stop());

interface Said {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Another spelling of an address: an empty parameter more. */
const otherSpelling = (url: string) => `${url}${url.includes("?") ? "&" : "?"}`;

/** Status, headers and body of an answer, without what differs with the time. */
async function answerTo({ method, url, headers, body }: Said) {
  server.runtime.heard.length = 0;
  const head = [`${method} ${url} HTTP/1.1`, ...headers, "Connection: close"].join("\r\n");
  const answer = await server.raw(`${head}\r\n\r\n${body}`);
  const [top = "", ...rest] = answer.split("\r\n\r\n");
  const [status, ...lines] = top.split("\r\n");
  const fields = lines
    .map((line) => line.replace(/^[^:]+/u, (name) => name.toLowerCase()))
    .filter((line) => !line.startsWith("date:"))
    .sort();
  return { status, fields, body: rest.join("\r\n\r\n"), heard: server.runtime.heard.length };
}

const line = { chat: { id: "room", kind: "group" }, id: "m1", author: { id: "ann" }, text: "hi" };
const bodies = [
  JSON.stringify(line),
  JSON.stringify([line, { ...line, id: "m2" }]),
  JSON.stringify({ ...line, author: {} }),
  JSON.stringify({ edit: { chat: "room", id: "m1", text: "ho" } }),
  JSON.stringify({ ...line, text: "ä".repeat(300) }),
  "[]",
  "{",
  "",
  `\ufeff${JSON.stringify(line)}`,
] as const;

const said = fc
  .record({
    method: fc.constantFrom("POST", "POST", "POST", "GET", "HEAD", "PUT"),
    url: fc.constantFrom(
      ...["/api/inbound", "/api/inbound", "/api/inbound?wait=decision", "/api/inbound?wait=no"],
      ...["/healthz", "/readyz"],
    ),
    body: fc.constantFrom(...bodies),
    length: fc.constantFrom("right", "right", "right", "none", "chunked", "too-large"),
    host: fc.constantFrom("own", "own", "own", "foreign", "twice", "none"),
    token: fc.constantFrom("right", "right", "right", "wrong", "none", "twice", "basic"),
    type: fc.constantFrom(
      ...["application/json", "application/json", "Application/JSON; charset=utf-8"],
      ...["text/plain", null],
    ),
    others: fc.subarray(
      [
        "Content-Encoding: gzip",
        "Origin: https://evil.example",
        "Sec-Fetch-Site: cross-site",
        "Content-Type: application/json",
        "Accept: */*",
      ],
      { maxLength: 1 },
    ),
  })
  .map(({ method, url, body, length, host, token, type, others }) => ({
    method,
    url,
    body,
    headers: (port: number, secret: string) => [
      ...(host === "none" ? [] : [`Host: ${host === "foreign" ? "evil" : "127.0.0.1"}:${port}`]),
      ...(host === "twice" ? [`Host: 127.0.0.1:${port}`] : []),
      ...(token === "none"
        ? []
        : [
            `Authorization: ${token === "basic" ? "Basic" : "Bearer"} ${token === "wrong" ? "no" : secret}`,
          ]),
      ...(token === "twice" ? [`Authorization: Bearer ${secret}`] : []),
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      ...others,
      ...(length === "right" ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
      ...(length === "too-large" ? [`Content-Length: ${limits.bodyBytesMax + 1}`] : []),
      ...(length === "chunked" ? ["Transfer-Encoding: chunked"] : []),
    ],
    sent:
      length === "chunked"
        ? `${body === "" ? "" : `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`}0\r\n\r\n`
        : length === "none"
          ? ""
          : body,
  }));

describe("a request with a known address", () => {
  test("same-answer: status, headers, body and what was heard are the framework's", async () => {
    await fc.assert(
      fc.asyncProperty(said, async ({ method, url, headers, sent }) => {
        const given = { method, headers: headers(server.port, server.token), body: sent };
        const direct = await answerTo({ ...given, url });
        expect(direct).toEqual(await answerTo({ ...given, url: otherSpelling(url) }));
      }),
    );
  });

  test("is taken, and a probe is answered", async () => {
    const post = await server.post("/api/inbound?wait=decision", line);
    expect([post.status, post.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(post.headers.get("content-security-policy")).toContain("default-src 'none'");
    server.runtime.problem = "the store is away";
    const away = await server.get("/readyz", {});
    expect([away.status, await away.json()]).toMatchObject([
      503,
      { ready: false, error: { code: "not-ready", message: "the store is away" } },
    ]);
    server.runtime.problem = null;
    expect((await server.get("/readyz", {})).status).toBe(200);
  });

  test("counts in the metrics as any other", async () => {
    const count = async () => {
      const text = await (await fetch(`${server.base}/metrics`)).text();
      const value = (labels: string) =>
        Number(new RegExp(`http_requests_total\\{${labels}\\} (\\d+)`).exec(text)?.[1] ?? 0);
      return [value('route="api",status="200"'), value('route="api",status="400"')] as const;
    };
    const [fine, wrong] = await count();
    for (const url of ["/api/inbound", "/api/inbound?"])
      for (const body of [line, "{"]) await server.post(url, body);
    expect(await count()).toEqual([fine + 2, wrong + 2]);
  });
});

describe("what is loaded with the first request", () => {
  /** Answers of a server that loads its listener; `load` is called for each attempt. */
  async function served(load: () => Promise<RequestListener>) {
    const logged: string[] = [];
    const listener = onFirstRequest(load, (_, event) => void logged.push(event));
    const http = createServer(listener).listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const get = () =>
      new Promise<number>((resolve, reject) => {
        const asked = request({ port, path: "/" }, (answer) => {
          answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
        });
        asked.on("error", reject).end();
      });
    return { get, logged, close: () => http.close() };
  }

  test("is loaded once, and only when it is asked for", async () => {
    let loads = 0;
    const { get, close } = await served(async () => {
      loads += 1;
      return (_, outgoing) => void outgoing.writeHead(204).end();
    });
    expect(loads).toBe(0);
    expect(await Promise.all([get(), get(), get()])).toEqual([204, 204, 204]);
    expect(await get()).toBe(204);
    expect(loads).toBe(1);
    close();
  });

  test("that cannot be loaded is answered with an error, logged, and tried again", async () => {
    let loads = 0;
    const { get, logged, close } = await served(async () => {
      loads += 1;
      if (loads === 1) throw new Error("a file of the program is gone");
      return (_, outgoing) => void outgoing.writeHead(204).end();
    });
    expect(await get()).toBe(500);
    expect(logged).toEqual(["api.failed"]);
    expect(await get()).toBe(204);
    close();
  });
});
