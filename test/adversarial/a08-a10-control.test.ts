/**
 * A08 to A10: the control plane. Tricks with method, path, Host and Origin; tokens that are missing,
 * old, elsewhere or readable by others; addresses that only look like this machine. A whole daemon
 * or a start that is refused; every refusal beside what is let in.
 */
import { chmod, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type DaemonOptions, startDaemon } from "../../src/daemon/daemon.ts";
import { ensureToken, rotateToken, tokenFileOf } from "../../src/daemon/state/token.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import { newFolder } from "../support/daemon/folder.ts";
import {
  type HookDaemon,
  kitchen,
  messageBody,
  openHookDaemon,
  requestText,
  signed,
  statusOf,
} from "../support/daemon/hook-daemon.ts";

const quiet = { port: 0, workers: 0, env: {}, writeLog: () => undefined } satisfies DaemonOptions;

/** A request by hand; `lines` in place of the usual Host. */
const ask = (door: HookDaemon, first: string, lines: readonly string[] = [], body = "") => {
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : [`Host: 127.0.0.1:${door.port}`];
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const all = [`${first} HTTP/1.1`, ...host, ...lines, ...length, "Connection: close"];
  return door.raw(requestText(all, body)).then(statusOf);
};
const signedLines = (body: string) =>
  Object.entries(signed(body)).map(([name, value]) => `${name}: ${value}`);

describe("A08 method and path", () => {
  test("A08 a hook is one method at one path: everything near it is refused", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    const post = (path: string, method = "POST") =>
      ask(door, `${method} ${path}`, signedLines(body), body);
    const before = door.rows();
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
      expect(await post(kitchen, method)).toBe(405);
    for (const path of [
      "//hooks/webhook/kitchen",
      "http://evil.example/hooks/webhook/kitchen",
      `http://127.0.0.1:${door.port}/hooks/webhook/kitchen`,
      "\\hooks\\webhook\\kitchen",
      "*",
      "hooks/webhook/kitchen",
    ])
      expect([400, 404]).toContain(await post(path));
    for (const path of [
      "/hooks//webhook/kitchen",
      "/hooks/webhook//kitchen",
      "/hooks/webhook/kitchen/",
      "/hooks/webhook/kitchen%00",
      "/hooks/webhook/kitchen%2f",
      "/hooks/webhook/./kitchen",
      "/hooks/webhook/%2e/kitchen",
      "/hooks/x/../webhook/kitchen",
      "/hooks/x/%2e%2e/webhook/kitchen",
      "/hooks/webhook%2fkitchen",
      "/HOOKS/webhook/kitchen",
      "/hooks/Webhook/kitchen",
      "/hooks/webhook/kitchen;x",
      "/hooks/webhook/%E0%A4%A",
    ])
      expect([404, 405]).toContain(await post(path));
    expect(door.rows()).toBe(before);
    expect(await post(kitchen)).toBe(200);
    expect(await post(`${kitchen}?anything=at-all`)).toBe(200);
    expect(door.rows()).toBe(before + 1);
  });

  test("A08 no way round the token: a path that resolves into the API is still the API's", async () => {
    const door = await openHookDaemon();
    for (const path of [
      "/hooks/%2e%2e/api/status",
      "/hooks/../api/status",
      "/assets/../api/status",
      "/./api/status",
      "/api/./status",
      "/api//status",
      "/API/status",
      "/%61pi/status",
      "/api/status/",
    ])
      expect([401, 404, 405]).toContain(await ask(door, `GET ${path}`));
    const token = `Authorization: Bearer ${door.daemon.token}`;
    expect(await ask(door, "GET /api/status", [token])).toBe(200);
  });

  test("A08 another Host or a page of another site gets nothing, token or signature or not", async () => {
    const door = await openHookDaemon();
    const token = `Authorization: Bearer ${door.daemon.token}`;
    const body = messageBody("m1");
    const own = `127.0.0.1:${door.port}`;
    const before = door.rows();
    for (const host of ["evil.example", `evil.example:${door.port}`, `${own}.evil.example`, ""]) {
      const line = `Host: ${host}`;
      expect([400, 421]).toContain(await ask(door, "GET /api/status", [line, token]));
      expect([400, 421]).toContain(
        await ask(door, `POST ${kitchen}`, [line, ...signedLines(body)], body),
      );
    }
    for (const origin of [
      "https://evil.example",
      "null",
      `https://${own}`,
      `http://${own}.evil.x`,
    ]) {
      const line = `Origin: ${origin}`;
      expect(await ask(door, "GET /api/status", [line, token])).toBe(403);
      expect(await ask(door, `POST ${kitchen}`, [line, ...signedLines(body)], body)).toBe(403);
    }
    expect(await ask(door, "GET /api/status", ["Sec-Fetch-Site: cross-site", token])).toBe(403);
    for (const hosts of [
      [`Host: ${own}`, "Host: evil.example"],
      ["host: evil.example", `Host: ${own}`],
    ])
      expect([400, 421]).toContain(await ask(door, "GET /api/status", [...hosts, token]));
    expect(door.rows()).toBe(before);
    expect(await ask(door, "GET /api/status", [`Origin: http://${own}`, token])).toBe(200);
    expect(await ask(door, `POST ${kitchen}`, signedLines(body), body)).toBe(200);
  });

  test("A08 a socket is opened at /ws only, for our own pages only, and tells nothing before the token", async () => {
    const door = await openHookDaemon();
    const upgrade = (path: string, lines: readonly string[] = []) =>
      ask(door, `GET ${path}`, [
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ...lines,
      ]);
    // `Connection: close` makes it no upgrade: a plain request, for which there is nothing here.
    expect(await upgrade("/ws")).toBe(404);
    const open = (path: string, headers: Record<string, string> = {}) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${door.port}${path}`, { headers });
        socket.on("open", () => {
          resolve(101);
          socket.terminate();
        });
        socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode ?? 0));
        socket.on("error", () => undefined);
      });
    for (const path of ["/", "/api/events", kitchen, "//ws", "/ws/", "/ws?token=x", "/%77s"])
      expect(await open(path)).toBe(404);
    expect(await open("/ws", { origin: "https://evil.example" })).toBe(403);
    expect(await open("/ws", { host: "evil.example" })).toBe(421);
    expect(await open("/ws")).toBe(101);
    const frames: string[] = [];
    const closed = await new Promise<number>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${door.port}/ws`);
      socket.on("message", (data) => frames.push(String(data)));
      socket.on("open", () => socket.send(JSON.stringify({ type: "message", id: "x", text: "x" })));
      socket.on("close", resolve);
    });
    expect([4_400, 4_401]).toContain(closed);
    expect(frames).toEqual([]);
  });
});

/** A page that is in; `closed` is the code it is closed with. */
function openPage(door: HookDaemon, token: string) {
  const socket = new WebSocket(`${door.daemon.base.replace("http", "ws")}/ws`);
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  const ready = new Promise<void>((resolve) => socket.on("message", () => resolve()));
  socket.on("open", () => socket.send(JSON.stringify({ type: "hello", token, after: 0 })));
  return { socket, ready, closed };
}

/** Resolves to whether the stream ended within `ms`. */
async function endsWithin(answer: Response, ms: number): Promise<boolean> {
  const reader = answer.body?.getReader();
  const ended = (async () => {
    try {
      while ((await reader?.read())?.done === false);
    } catch {
      // Cut off is ended, too.
    }
    return true;
  })();
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ms));
  const first = await Promise.race([ended, late]);
  await reader?.cancel().catch(() => undefined);
  return first;
}

describe("A09 the token", () => {
  test("A09 none, another, half of one, in the query, in a cookie: refused; as a bearer: let in", async () => {
    const door = await openHookDaemon();
    const { token } = door.daemon;
    for (const lines of [
      [],
      [`Authorization: Bearer ${token}x`],
      [`Authorization: Bearer ${token.slice(0, -1)}`],
      [`Authorization: Basic ${Buffer.from(`x:${token}`).toString("base64")}`],
      [`Authorization: ${token}`],
      [`Cookie: token=${token}`],
      [`X-Token: ${token}`],
      [`Proxy-Authorization: Bearer ${token}`],
    ])
      expect(await ask(door, "GET /api/status", lines)).toBe(401);
    expect(await ask(door, `GET /api/status?token=${token}`)).toBe(401);
    expect(await ask(door, `GET /api/status?access_token=${token}`)).toBe(401);
    for (const scheme of ["Bearer", "bearer"])
      expect(await ask(door, "GET /api/status", [`Authorization: ${scheme} ${token}`])).toBe(200);
  });

  test("A09 a role that a client gives itself is not looked at", async () => {
    const door = await openHookDaemon();
    const claims = [
      "X-Role: owner",
      "X-Scopes: admin",
      "X-Forwarded-User: owner",
      "X-Earshot-Scopes: operator.admin",
    ];
    expect(await ask(door, "GET /api/status", claims)).toBe(401);
    const body = messageBody("m1", "x", { role: "owner", scopes: ["admin"], owner: true });
    expect(await ask(door, "POST /api/inbound", ["Content-Type: application/json"], body)).toBe(
      401,
    );
    const page = openPage(door, "x".repeat(32));
    page.socket.on("open", () =>
      page.socket.send(
        JSON.stringify({ type: "hello", role: "owner", scopes: ["admin"], after: 0 }),
      ),
    );
    expect([4_400, 4_401]).toContain(await page.closed);
  });

  test("A09 a mutating call without the token changes nothing; with it, from our page, it does", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    const json = ["Content-Type: application/json"];
    const token = `Authorization: Bearer ${door.daemon.token}`;
    const before = door.rows();
    expect(await ask(door, "POST /api/inbound", json, body)).toBe(401);
    expect(
      await ask(door, "POST /api/inbound", [...json, token, "Origin: https://a.b"], body),
    ).toBe(403);
    // What a form of another site can send without asking first.
    const form = ["Content-Type: text/plain", token];
    expect(await ask(door, "POST /api/inbound", form, body)).toBe(415);
    expect(door.rows()).toBe(before);
    const own = `Origin: http://127.0.0.1:${door.port}`;
    expect(await ask(door, "POST /api/inbound", [...json, token, own], body)).toBe(200);
    expect(door.rows()).toBeGreaterThan(before);
  });

  test("A09 rotated, the old one is refused with the next request, and what it opened is closed", async () => {
    const door = await openHookDaemon();
    const old = door.daemon.token;
    const page = openPage(door, old);
    await page.ready;
    const live = ["/api/events", "/api/rooms/live", "/api/health/live"];
    const streams = await Promise.all(live.map((path) => door.api(path)));
    expect(streams.map(({ status }) => status)).toEqual(live.map(() => 200));
    const fresh = await rotateToken(door.daemon.stateDir);
    expect(fresh).not.toBe(old);
    expect(await ask(door, "GET /api/status", [`Authorization: Bearer ${old}`])).toBe(401);
    expect(await ask(door, "GET /api/status", [`Authorization: Bearer ${fresh}`])).toBe(200);
    expect(await page.closed).toBe(4_401);
    const ended = await Promise.all(streams.map((stream) => endsWithin(stream, 15_000)));
    expect(ended).toEqual(live.map(() => true));
    const again = openPage(door, fresh);
    await again.ready;
    const later = await fetch(`${door.daemon.base}/api/events`, {
      headers: { authorization: `Bearer ${fresh}` },
    });
    expect(await endsWithin(later, 1_500)).toBe(false);
    expect(again.socket.readyState).toBe(WebSocket.OPEN);
    again.socket.terminate();
    // The new token is a secret of the log's from the moment it is used.
    expect(door.log.join("")).not.toContain(fresh);
  });

  test("A09 an old page's next message is not taken, even before it is closed", async () => {
    const door = await openHookDaemon();
    const page = openPage(door, door.daemon.token);
    await page.ready;
    const before = door.rows();
    await rotateToken(door.daemon.stateDir);
    page.socket.send(JSON.stringify({ type: "message", id: "late", text: "x", replyTo: null }));
    expect(await page.closed).toBe(4_401);
    expect(door.rows()).toBe(before);
  });

  test("A09 a token file that is gone, or that others may read, shuts out everybody who is in", async () => {
    const door = await openHookDaemon();
    const path = tokenFileOf(door.daemon.stateDir);
    const bearer = [`Authorization: Bearer ${door.daemon.token}`];
    const page = openPage(door, door.daemon.token);
    await page.ready;
    await chmod(path, 0o644);
    expect(await ask(door, "GET /api/status", bearer)).toBe(401);
    expect(await page.closed).toBe(4_401);
    await chmod(path, 0o600);
    expect(await ask(door, "GET /api/status", bearer)).toBe(200);
    await rename(path, `${path}.away`);
    expect(await ask(door, "GET /api/status", bearer)).toBe(401);
    await rename(`${path}.away`, path);
    expect(await ask(door, "GET /api/status", bearer)).toBe(200);
  });

  test.each([0o644, 0o640, 0o660, 0o400, 0o700])(
    "A09 a token file of mode %o stops the start, and rotating it mends that",
    async (mode) => {
      const stateDir = newFolder();
      await ensureToken(stateDir);
      await chmod(tokenFileOf(stateDir), mode);
      await expect(startDaemon({ ...quiet, stateDir })).rejects.toThrow(
        `chmod 600 ${tokenFileOf(stateDir)}`,
      );
      const fresh = await rotateToken(stateDir);
      const daemon = await startDaemon({ ...quiet, stateDir });
      expect(daemon.token).toBe(fresh);
      await daemon.stop();
    },
  );

  test("A09 a token file that is a link, short or empty stops the start", async () => {
    const stateDir = newFolder();
    const elsewhere = join(newFolder(), "token");
    await writeFile(elsewhere, "t".repeat(40), { mode: 0o600 });
    await symlink(elsewhere, tokenFileOf(stateDir));
    await expect(startDaemon({ ...quiet, stateDir })).rejects.toThrow("symbolic link");
    for (const token of ["", "short", `${"t".repeat(20)} ${"t".repeat(20)}`]) {
      const other = newFolder();
      await writeFile(tokenFileOf(other), token, { mode: 0o600 });
      await expect(startDaemon({ ...quiet, stateDir: other })).rejects.toThrow("holds no token");
    }
  });
});

describe("A10 listening beyond this machine", () => {
  async function refusal(server: object): Promise<EarshotError> {
    const stateDir = newFolder();
    await writeFile(join(stateDir, "earshot.json5"), JSON.stringify({ server }));
    try {
      const daemon = await startDaemon({ ...quiet, stateDir });
      await daemon.stop();
    } catch (error) {
      if (error instanceof EarshotError) return error;
      throw error;
    }
    throw new Error("it started");
  }

  test.each([
    "0.0.0.0",
    "::",
    "192.0.2.7",
    "127.evil.com",
    "127.0.0.1.evil.com",
    "0x7f.1",
    "127.1",
    "2130706433",
    "localhost.",
    "::ffff:127.0.0.1",
    "[::1]",
    "127.0.0.1 ",
  ])("A10 %s is refused without `exposed`, and with it alone", async (host) => {
    const alone = await refusal({ host });
    expect(alone.code).toBe("EAR_CONFIG_UNSAFE");
    expect(alone.message).toContain("server.host");
    expect(alone.message).toContain("server.exposed");
    const bare = await refusal({ host, exposed: true });
    expect(bare.code).toBe("EAR_CONFIG_UNSAFE");
    expect(bare.message).toContain("server.exposed");
    expect(bare.message).toContain("server.tls");
    expect(bare.message).toContain("server.proxy");
  });

  test("A10 a proxy that is everybody is refused; one that is named, and loopback, start", async () => {
    const server = { host: "0.0.0.0", exposed: true };
    const everybody = await refusal({ ...server, proxy: { addresses: ["0.0.0.0/0"] } });
    expect(everybody.message).toContain("server.proxy.addresses");
    const path = await refusal({ publicUrl: "https://bot.example.com/earshot" });
    expect(path.message).toContain("server.publicUrl");
    const plain = await refusal({ publicUrl: "http://bot.example.com" });
    expect(plain.message).toContain("server.publicUrl");
    for (const fine of [
      { ...server, proxy: { addresses: ["192.0.2.1", "10.0.0.0/8"] } },
      { host: "127.0.0.1" },
      { host: "localhost" },
    ]) {
      const door = await openHookDaemon({ server: fine });
      expect((await door.api("/api/status")).status).toBe(200);
    }
  });
});
