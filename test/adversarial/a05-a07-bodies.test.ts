/**
 * A05 to A07: bodies that are too large, too slow, too deep or not what they seem. A whole daemon,
 * bytes by hand; the same daemon takes a plain message after each of them.
 */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import WebSocket from "ws";
import { limits } from "../../src/domain/limits.ts";
import {
  type HookDaemon,
  hookSecret,
  kitchen,
  messageBody,
  nowSeconds,
  openHookDaemon,
  requestText,
  signed,
  statusOf,
} from "../support/daemon/hook-daemon.ts";

let count = 0;
/** The positive twin of every refusal: a plain signed message is taken, and has a row. */
async function expectAlive(door: HookDaemon): Promise<void> {
  count += 1;
  const before = door.rows();
  const body = messageBody(`alive-${count}`);
  expect((await door.post(kitchen, body, signed(body))).status).toBe(200);
  const api = await door.api("/api/inbound", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: messageBody(`alive-api-${count}`),
  });
  expect(api.status).toBe(200);
  expect(door.rows()).toBeGreaterThanOrEqual(before + 2);
}

/** Heads of requests to the hook and to the API, up to the headers about the body. */
const heads = (door: HookDaemon, body = "") => ({
  hook: [
    `POST ${kitchen} HTTP/1.1`,
    `Host: 127.0.0.1:${door.port}`,
    ...Object.entries(signed(body)).map(([name, value]) => `${name}: ${value}`),
  ],
  api: [
    "POST /api/inbound HTTP/1.1",
    `Host: 127.0.0.1:${door.port}`,
    `Authorization: Bearer ${door.daemon.token}`,
    "Content-Type: application/json",
  ],
});

/** Writes `bytes` of body for as long as it is let; what was answered, and how much was written. */
function flood(port: number, head: string, bytes: number, frame: (part: Buffer) => Buffer) {
  return new Promise<{ answer: string; written: number }>((resolve) => {
    const part = frame(Buffer.alloc(65_536, "x"));
    let written = 0;
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head);
      push();
    });
    const push = () => {
      while (written < bytes && !socket.destroyed) {
        written += part.length;
        if (!socket.write(part)) return void socket.once("drain", push);
      }
    };
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ answer, written }));
  });
}

const megabytes = (n: number) => n * 1_048_576;
const plain = (part: Buffer) => part;
const chunked = (part: Buffer) =>
  Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);

describe("A05 a body that is too large", () => {
  test("A05 100 MB are refused at the cap, declared or chunked, and memory stays flat", async () => {
    const door = await openHookDaemon();
    const { hook, api } = heads(door);
    await expectAlive(door);
    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    for (const head of [hook, api])
      for (const [how, frame] of [
        [`Content-Length: ${megabytes(100)}`, plain],
        ["Transfer-Encoding: chunked", chunked],
      ] as const) {
        const text = requestText([...head, how]);
        const { answer } = await flood(door.port, text, megabytes(100), frame);
        expect(statusOf(answer)).toBe(413);
      }
    clearInterval(watch);
    // 400 MB were offered. What is held of a body is at most 1 MiB; the rest is the client's buffers,
    // which live in this process, too.
    expect(peak - before).toBeLessThan(megabytes(100));
    await expectAlive(door);
  });

  test("A05 unsigned, not even 64 kB of it are wanted", async () => {
    const door = await openHookDaemon();
    const head = requestText([
      `POST ${kitchen} HTTP/1.1`,
      `Host: 127.0.0.1:${door.port}`,
      `Content-Length: ${megabytes(100)}`,
    ]);
    const { answer } = await flood(door.port, head, megabytes(100), plain);
    expect(statusOf(answer)).toBe(401);
    await expectAlive(door);
  });

  test("A05 a length beside a coding, two lengths, a length that is none: not believed", async () => {
    const door = await openHookDaemon();
    const body = messageBody("lie");
    const { hook } = heads(door, body);
    const before = door.rows();
    const hex = Buffer.byteLength(body).toString(16);
    const chunks = `${hex}\r\n${body}\r\n0\r\n\r\n`;
    for (const about of [
      ["Content-Length: 5", "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked", `Content-Length: ${chunks.length}`],
      ["Content-Length: 5", "Content-Length: 6"],
      ["Content-Length: -1"],
      ["Content-Length: 1e9"],
      ["Transfer-Encoding: chunked, identity"],
      ["Transfer-Encoding: xchunked"],
    ]) {
      const answer = await door.raw(requestText([...hook, ...about, "Connection: close"], chunks));
      expect([400, 501]).toContain(statusOf(answer));
    }
    expect(door.rows()).toBe(before);
    // Chunks alone are fine: they are counted.
    const fine = requestText([...hook, "Transfer-Encoding: chunked", "Connection: close"], chunks);
    expect(statusOf(await door.raw(fine))).toBe(200);
    expect(door.rows()).toBe(before + 1);
  });

  test("A05 a body that ends before its length is no body", async () => {
    const door = await openHookDaemon();
    const body = messageBody("short");
    const { hook } = heads(door, body);
    const before = door.rows();
    const text = requestText([...hook, `Content-Length: ${body.length + 10}`], body);
    await new Promise<void>((resolve) => {
      const socket = connect(door.port, "127.0.0.1", () => socket.end(text)).resume();
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
    });
    expect(door.rows()).toBe(before);
    await expectAlive(door);
  });

  test("A05 what is compressed is not unfolded", async () => {
    const door = await openHookDaemon();
    const bomb = gzipSync(Buffer.alloc(megabytes(64), 32), { level: 1 });
    expect(bomb.length).toBeLessThan(limits.bodyBytesMax);
    const before = process.memoryUsage().arrayBuffers;
    for (const encoding of ["gzip", "br", "deflate", "gzip, identity", "x-anything"]) {
      const headers = { ...signed(bomb), "content-encoding": encoding };
      expect((await door.post(kitchen, bomb, headers)).status).toBe(415);
      const api = await door.api("/api/inbound", {
        method: "POST",
        headers: { "content-type": "application/json", "content-encoding": encoding },
        body: bomb as never,
      });
      expect(api.status).toBe(415);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(megabytes(32));
    await expectAlive(door);
  });
});

describe("A05 a socket that has not said who it is", () => {
  test("A05 may say hello and not a megabyte; one that is in may write a long message", async () => {
    const door = await openHookDaemon();
    const url = `ws://127.0.0.1:${door.port}/ws`;
    const strange = new WebSocket(url);
    const closed = new Promise<number>((resolve) => strange.on("close", resolve));
    strange.on("error", () => undefined);
    // A frame that is announced as large and never ends.
    strange.on("open", () => {
      const part = "x".repeat(65_536);
      for (let n = 0; n < 15; n += 1) strange.send(part, { fin: false });
    });
    expect(await closed).toBe(1_006);
    const page = new WebSocket(url);
    const reported: string[] = [];
    const taken = new Promise<void>((resolve) =>
      page.on("message", (data) => {
        reported.push(JSON.parse(String(data)).type);
        if (reported.includes("taken")) resolve();
        if (reported.length > 1) return;
        const text = "a long story ".repeat(5_000);
        page.send(JSON.stringify({ type: "message", id: "long", text, replyTo: null }));
      }),
    );
    page.on("open", () => {
      page.send(JSON.stringify({ type: "hello", token: door.daemon.token, after: 0 }));
    });
    await taken;
    expect(reported).toContain("taken");
    page.terminate();
  });
});

describe("A06 a body that comes too slowly", () => {
  /** Opens sockets that send a byte now and then; resolves with how long each was let. */
  function drip(door: HookDaemon, sockets: number) {
    const { hook, api } = heads(door);
    const starts = [
      requestText([...hook, "Content-Length: 1000"]),
      requestText([...api, "Content-Length: 1000"], "{"),
      `POST ${kitchen} HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nX-Slow: `,
      "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n",
    ];
    return Array.from(
      { length: sockets },
      (_, n) =>
        new Promise<number>((resolve) => {
          const began = performance.now();
          const socket = connect(door.port, "127.0.0.1", () => socket.write(starts[n % 4] ?? ""));
          const more = setInterval(() => socket.write("x"), 1_000);
          socket.on("error", () => undefined);
          socket.on("data", () => undefined);
          socket.on("close", () => {
            clearInterval(more);
            resolve(performance.now() - began);
          });
        }),
    );
  }

  test("A06 500 such sockets are closed in time, and everybody else is answered meanwhile", async () => {
    const door = await openHookDaemon();
    const ended = drip(door, 500);
    let slow = true;
    const over = Promise.all(ended).then((ms) => {
      slow = false;
      return ms;
    });
    let answered = 0;
    let bad = 0;
    const before = door.rows();
    while (slow) {
      const body = messageBody(`quick-${answered}`);
      const { status } = await door.post(kitchen, body, signed(body));
      if (status === 200) answered += 1;
      else bad += 1;
      await new Promise((go) => setTimeout(go, 200));
    }
    const ms = await over;
    expect(bad).toBe(0);
    // At one every fifth of a second for ten seconds, with much room for a slow machine.
    expect(answered).toBeGreaterThan(10);
    expect(door.rows()).toBe(before + answered);
    expect(Math.max(...ms)).toBeGreaterThan(limits.bodyMsMax - 1_000);
    expect(ms).toHaveLength(500);
  });
});

describe("A07 a body that is not what it seems", () => {
  const post = (door: HookDaemon, body: string | Uint8Array) =>
    door.post(kitchen, body, signed(body));
  const inbound = (door: HookDaemon, body: string) =>
    door.api("/api/inbound", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  /** Both doors: the hook and the API. Statuses, in this order. */
  const both = async (door: HookDaemon, body: string) => [
    (await post(door, body)).status,
    (await inbound(door, body)).status,
  ];

  test("A07 depth and numbers of keys end as 400, or are dropped, and cost no time to speak of", async () => {
    const door = await openHookDaemon();
    const deep = (n: number, open: string, close: string) => open.repeat(n) + close.repeat(n);
    expect(await both(door, deep(30_000, "[", "]"))).toEqual([400, 400]);
    expect(await both(door, deep(9_000, '{"a":', "}").replace(":}", ":1}"))).toEqual([400, 400]);
    const inside = messageBody("deep").replace("}", `,"x":${deep(20_000, "[", "]")}}`);
    expect(await both(door, inside)).toEqual([200, 200]);
    const large = deep(500_000, "[", "]");
    expect((await inbound(door, large)).status).toBe(400);
    const keys = Array.from({ length: 90_000 }, (_, n) => `"k${n}":0`).join(",");
    const many = messageBody("keys").replace("{", `{${keys},`);
    expect(Buffer.byteLength(many)).toBeLessThan(limits.bodyBytesMax);
    expect((await inbound(door, many)).status).toBe(200);
    await expectAlive(door);
  });

  test("A07 a 1 MB body that carries its digest is read, whatever is in it", async () => {
    const door = await openHookDaemon();
    const { createHash, createHmac } = await import("node:crypto");
    const body = "[".repeat(500_000) + "]".repeat(500_000);
    const timestamp = nowSeconds();
    const digest = createHash("sha256").update(body).digest("hex");
    const mac = createHmac("sha256", hookSecret).update(`${timestamp}.digest:${digest}`);
    const answer = await door.post(kitchen, body, {
      "earshot-timestamp": timestamp,
      "earshot-digest": `sha256=${digest}`,
      "earshot-signature": `sha256=${mac.digest("hex")}`,
    });
    expect(answer.status).toBe(400);
    await expectAlive(door);
  });

  test("A07 keys that name a prototype are data or refused, and no prototype changes", async () => {
    const door = await openHookDaemon();
    const keysBefore = Object.getOwnPropertyNames(Object.prototype).sort();
    for (const [n, key] of ["__proto__", "constructor", "prototype"].entries()) {
      const extra = `"${key}":{"isSelf":true,"polluted":1,"prototype":{"polluted":1}}`;
      const body = messageBody(`p${n}`).replace("{", `{${extra},`);
      expect(await both(door, body)).toEqual([200, 200]);
      const nested = messageBody(`q${n}`).replace('"author":{', `"author":{${extra},`);
      expect(await both(door, nested)).toEqual([200, 200]);
      const asId = messageBody(key, "x", { chat: { id: key, kind: "group" }, author: { id: key } });
      expect((await inbound(door, asId)).status).toBe(200);
    }
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(keysBefore);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    await expectAlive(door);
  });

  test("A07 ids are texts: numbers are refused, so none is rounded into another", async () => {
    const door = await openHookDaemon();
    const before = door.rows();
    const withId = (id: string) => messageBody("ID").replace('"ID"', id);
    for (const id of ["9007199254740993", "1e400", "-0", "null", "true", "[]", "{}", '""'])
      expect(await both(door, withId(id))).toEqual([400, 400]);
    expect(door.rows()).toBe(before);
    expect((await post(door, withId('"9007199254740993"'))).status).toBe(200);
    expect((await post(door, withId('"9007199254740992"'))).status).toBe(200);
    expect(door.rows()).toBe(before + 2);
  });

  test("A07 of a key that comes twice one value counts, and it is checked like any other", async () => {
    const door = await openHookDaemon();
    const twice = (first: string, last: string) =>
      messageBody("twice").replace('"id":"twice"', `"id":${first},"id":${last}`);
    expect(await both(door, twice('"a"', "7"))).toEqual([400, 400]);
    expect((await post(door, twice("7", '"last"'))).status).toBe(200);
    expect((await door.api("/api/why/last")).status).toBe(200);
    expect((await door.api("/api/why/a")).status).toBe(404);
  });

  test("A07 halves of characters, NUL and controls in ids and texts are taken as data", async () => {
    const door = await openHookDaemon();
    const before = door.rows();
    const odd = ["\\ud800", "\\udc00\\ud800", "\\u0000", "a\\u0000b", "\\u001b[2J", "\\u202e"];
    for (const [n, text] of odd.entries()) {
      const body = messageBody(`odd-${n}`, "TEXT").replace("TEXT", text);
      expect((await post(door, body)).status).toBe(200);
    }
    expect(door.rows()).toBe(before + odd.length);
    for (const id of ["\\u0000", "a\\u0000", "\\n", "\\u001b[2J"]) {
      const body = messageBody("ID", "x").replace('"ID"', `"${id}"`);
      expect([200, 400]).toContain((await post(door, body)).status);
    }
    expect(
      door.log.every((line) => !line.includes("\u001b") && line.trim().split("\n").length === 1),
    ).toBe(true);
    await expectAlive(door);
  });

  test("A07 what is no JSON is refused, and says nothing of what was in it", async () => {
    const door = await openHookDaemon();
    for (const body of ["", "{", "[1,]", "undefined", "NaN", "\u0000", "'x'", "canary{"]) {
      const [hook, api] = [await post(door, body), await inbound(door, body)];
      expect([hook.status, api.status]).toEqual([400, 400]);
      expect((await hook.text()) + (await api.text())).not.toContain("canary");
    }
    await expectAlive(door);
  });
});
