/**
 * The door of the server: who gets an answer at all. Real sockets; what no client sends is written
 * by hand.
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type SmallServer, startSmallServer } from "../../support/daemon/small-server.ts";

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => server.stop());

const statusOf = (answer: string) => Number(answer.split(" ")[1]);
const request = (lines: readonly string[]) => `${lines.join("\r\n")}\r\n\r\n`;

/** How a WebSocket handshake is answered. */
function handshake(headers: Record<string, string>, path = "/ws"): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
    socket.on("open", () => {
      resolve(101);
      socket.close();
    });
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
    socket.on("error", () => undefined);
  });
}

describe("the token", () => {
  test("opens the API as a bearer token, and only so", async () => {
    expect((await server.get("/api/status")).status).toBe(200);
    expect((await server.get("/api/status", {})).status).toBe(401);
    expect((await server.get(`/api/status?token=${server.token}`, {})).status).toBe(401);
    expect((await server.get("/api/status", { authorization: server.token })).status).toBe(401);
    expect((await server.get("/api/status", { cookie: `token=${server.token}` })).status).toBe(401);
    const wrong = { authorization: `Bearer ${server.token.slice(0, -1)}` };
    const refused = await server.get("/api/status", wrong);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: "token" } });
  });

  test("a role that a client declares for itself changes nothing", async () => {
    const declared = { "x-role": "owner", "x-scopes": "admin", "x-forwarded-for": "127.0.0.1" };
    expect((await server.get("/api/status", declared)).status).toBe(401);
  });

  test("written anew shuts the old one out with the next request, and opens it again", async () => {
    const path = join(server.stateDir, "token");
    const other = "n".repeat(40);
    await writeFile(path, other);
    expect((await server.get("/api/status")).status).toBe(401);
    expect((await server.get("/api/status", { authorization: `Bearer ${other}` })).status).toBe(
      200,
    );
    await writeFile(path, server.token);
    expect((await server.get("/api/status")).status).toBe(200);
  });

  test("opens nothing while others may read its file", async () => {
    const path = join(server.stateDir, "token");
    await chmod(path, 0o644);
    expect((await server.get("/api/status")).status).toBe(401);
    await chmod(path, 0o600);
    expect((await server.get("/api/status")).status).toBe(200);
  });
});

describe("Host and Origin", () => {
  const foreign = [
    "evil.example",
    "127.0.0.1.evil.example",
    "127.evil.com",
    "localhost.",
    "0x7f.1",
    "127.1",
    "127.0.0.1",
    "127.0.0.1:1",
  ];
  test.each(foreign)("a request for %s is misdirected", async (host) => {
    const answer = await server.raw(
      request(["GET /healthz HTTP/1.1", `Host: ${host}`, "Connection: close"]),
    );
    expect(statusOf(answer)).toBe(421);
  });

  test("our own names are answered", async () => {
    for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      const answer = await server.raw(
        request(["GET /healthz HTTP/1.1", `Host: ${host}`, "Connection: close"]),
      );
      expect(statusOf(answer)).toBe(200);
    }
  });

  test.each(["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])(
    "Origin %s is foreign to the API and to the socket, token or not",
    async (origin) => {
      expect((await server.get("/api/status", { ...server.authorized, origin })).status).toBe(403);
      expect(await handshake({ origin })).toBe(403);
    },
  );

  test("our own Origin is let in", async () => {
    const origin = server.base;
    expect((await server.get("/api/status", { ...server.authorized, origin })).status).toBe(200);
    expect(await handshake({ origin })).toBe(101);
  });

  test("a socket for another Host or path is refused", async () => {
    expect(await handshake({ host: "evil.example" })).toBe(421);
    expect(await handshake({}, "/api/events")).toBe(404);
    expect(await handshake({}, "/")).toBe(404);
  });
});

describe("methods and paths", () => {
  const raw = (line: string) =>
    server.raw(
      request([
        line,
        `Host: 127.0.0.1:${server.port}`,
        `Authorization: Bearer ${server.token}`,
        "Connection: close",
      ]),
    );
  test("tricks with the path find nothing", async () => {
    expect(statusOf(await raw("GET //api/status HTTP/1.1"))).toBe(400);
    expect(statusOf(await raw("GET http://evil.example/api/status HTTP/1.1"))).toBe(400);
    expect(statusOf(await raw("GET /%2e%2e/token HTTP/1.1"))).toBe(404);
    expect(statusOf(await raw("GET /../token HTTP/1.1"))).toBe(404);
    expect(statusOf(await raw("GET /assets/..%2f..%2ftoken HTTP/1.1"))).toBe(404);
  });

  test("another method than the documented one changes nothing", async () => {
    expect(statusOf(await raw("GET /api/inbound HTTP/1.1"))).toBe(404);
    expect(statusOf(await raw("DELETE /api/inbound HTTP/1.1"))).toBe(405);
    expect(statusOf(await raw("TRACE /api/status HTTP/1.1"))).toBe(405);
    expect(server.runtime.heard).toEqual([]);
  });
});

describe("pages", () => {
  test("come without a token and with a policy that allows no inline script", async () => {
    const page = await fetch(`${server.base}/`);
    expect(page.status).toBe(200);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("health needs no token and tells why it is not ready", async () => {
    expect((await fetch(`${server.base}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.base}/readyz`)).status).toBe(200);
    server.runtime.problem = "the store fails: the disk is full";
    const answer = await fetch(`${server.base}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("the disk is full");
    server.runtime.problem = null;
  });

  test("metrics are there for this machine", async () => {
    await server.post("/api/inbound", {
      chat: { id: "m", kind: "direct" },
      id: "metric",
      author: { id: "a" },
      text: "hi",
    });
    const text = await (await fetch(`${server.base}/metrics`)).text();
    expect(text).toContain('earshot_decisions_total{decision="engage",rule="dm"} 1');
    expect(text).toContain('earshot_build_info{version="0.0.0-test"} 1');
  });
});
