/**
 * The door of hooks by itself, with a hook of a few lines behind it: order of the checks, caps,
 * rate, repeats and what is answered when nothing can be taken.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createHookGuard } from "../../../src/daemon/http/hook-replay-guard.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { ChannelHook } from "../../../src/domain/ports/index.ts";
import { type SmallServer, startSmallServer } from "../../support/daemon/small-server.ts";

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => server.stop());

/** Lets in who says `who: friend` (proven) or `who: maybe` and ends his body with an exclamation. */
class FriendlyHook implements ChannelHook {
  readonly seen: string[] = [];
  readonly verified: number[] = [];
  failWith: EarshotError | null = null;

  inspectHeaders({ headers }: Parameters<ChannelHook["inspectHeaders"]>[0]) {
    if (headers.who === "friend") return { kind: "proven" as const };
    if (headers.who === "maybe") return { kind: "unproven" as const };
    return { kind: "refused" as const, why: "nobody knows you" };
  }

  verify({ headers }: Parameters<ChannelHook["verify"]>[0], body: Uint8Array) {
    this.verified.push(body.length);
    if (headers.who === "maybe" && body.at(-1) !== 33)
      return { kind: "refused" as const, why: "no exclamation" };
    return { kind: "verified" as const, replayId: headers.id ?? null };
  }

  async receive(body: Uint8Array) {
    if (this.failWith !== null) throw this.failWith;
    this.seen.push(Buffer.from(body).toString());
    return this.seen.length === 7 ? "seven" : { count: this.seen.length };
  }
}

let hook: FriendlyHook;
beforeEach(() => {
  hook = new FriendlyHook();
  server.hooks.clear();
  server.hooks.set("demo/a", hook);
  server.hooks.set("demo/b c", hook);
});

const post = (body: string, headers: Record<string, string> = {}, path = "/hooks/demo/a") =>
  fetch(`${server.base}${path}`, { method: "POST", body, headers });

test("a proven body may have a megabyte, an unproven one 64 kB, and not a byte more is read", async () => {
  const proven = "x".repeat(limits.bodyBytesMax);
  expect((await post(proven, { who: "friend" })).status).toBe(200);
  expect((await post(`${proven}x`, { who: "friend" })).status).toBe(413);
  const unproven = `${"x".repeat(limits.hookUnprovenBytesMax - 1)}!`;
  expect((await post(unproven, { who: "maybe" })).status).toBe(200);
  expect((await post(`x${unproven}`, { who: "maybe" })).status).toBe(413);
  expect(hook.verified).toEqual([limits.bodyBytesMax, limits.hookUnprovenBytesMax]);
});

test("who is refused by his headers has nothing read, whatever he sends", async () => {
  expect((await post("x".repeat(3_000_000))).status).toBe(401);
  expect((await post("short", { who: "maybe" })).status).toBe(401);
  expect(hook.verified).toEqual([5]);
  expect(hook.seen).toEqual([]);
});

test("what was not taken may come again under the same id; what was taken is answered the same", async () => {
  const headers = { who: "friend", id: "r1" };
  hook.failWith = new EarshotError("EAR_STORE_FULL", "Cannot store as the disk is full", {
    retryAfterMs: 4_200,
  });
  const refused = await post("one", headers);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  hook.failWith = null;
  expect(await (await post("one", headers)).json()).toEqual({ count: 1 });
  expect(await (await post("one", headers)).json()).toEqual({ count: 1 });
  expect(await (await post("two", { who: "friend", id: "r2" })).json()).toEqual({ count: 2 });
  expect(hook.seen).toEqual(["one", "two"]);
});

test("while the daemon starts or stops nothing is taken, and it says when to come again", async () => {
  server.problem.now = "starting";
  onTestFinished(() => {
    server.problem.now = null;
  });
  const early = await post("x", { who: "friend" });
  expect(early.status).toBe(503);
  expect(early.headers.get("retry-after")).toBe("1");
  expect(hook.seen).toEqual([]);
  server.problem.now = null;
  expect((await post("x", { who: "friend" })).status).toBe(200);
});

test("an error that is not ours is answered without its words", async () => {
  hook.failWith = new Error("canary: the password is") as never;
  const answer = await post("x", { who: "friend" });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("canary");
});

test("a hook may answer with plain text", async () => {
  for (let n = 0; n < 6; n += 1) await post("x", { who: "friend" });
  const answer = await post("x", { who: "friend" });
  expect(answer.headers.get("content-type")).toContain("text/plain");
  expect(await answer.text()).toBe("seven");
});

test("a platform that checks the address with a GET is answered, with plain text, if it is right", async () => {
  const ask = (query: string) => fetch(`${server.base}/hooks/demo/checked?${query}`);
  const challenge = (query: URLSearchParams) =>
    query.get("token") === "right" ? query.get("say") : null;
  server.hooks.set("demo/checked", Object.assign(new FriendlyHook(), { challenge }));
  const right = await ask("token=right&say=%3Cb%3E42");
  expect(right.status).toBe(200);
  expect(right.headers.get("content-type")).toContain("text/plain");
  expect(await right.text()).toBe("<b>42");
  expect((await ask("token=wrong&say=42")).status).toBe(401);
  const other = await fetch(`${server.base}/hooks/demo/checked`, { method: "PUT" });
  expect(other.headers.get("allow")).toBe("GET, POST");
});

test("only POST, only plain, only places that exist, and account names as they are written", async () => {
  for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const answer = await fetch(`${server.base}/hooks/demo/a`, {
      method,
      headers: { who: "friend" },
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
  }
  expect((await post("x", { who: "friend", "content-encoding": "gzip" })).status).toBe(415);
  expect((await post("x", { who: "friend" }, "/hooks/demo/b%20c")).status).toBe(200);
  for (const path of [
    "/hooks/demo",
    "/hooks/demo/",
    "/hooks/demo/a/",
    "/hooks/demo/A",
    "/hooks/x/a",
  ])
    expect((await post("x", { who: "friend" }, path)).status).toBe(404);
  expect((await post("x", { who: "friend" }, "/hooks/demo/%ff")).status).toBe(404);
  expect((await post("x", { who: "friend" }, "/hooks/demo/__proto__")).status).toBe(404);
});

test("another site's page cannot post to a hook", async () => {
  expect((await post("x", { who: "friend", origin: "https://evil.example" })).status).toBe(403);
  expect((await post("x", { who: "friend", origin: server.base })).status).toBe(200);
});

test("more than so many a second are told to wait, and another hook is not", async () => {
  server.hooks.set("demo/busy", hook);
  const burst = limits.hookPerSecondMax * 5;
  server.time.at = Date.now();
  onTestFinished(() => {
    server.time.at = null;
  });
  const many = Array.from({ length: burst + 20 }, () =>
    post("x", { who: "friend" }, "/hooks/demo/busy"),
  );
  const answers = await Promise.all(many);
  const late = answers.filter(({ status }) => status === 429);
  expect(late).toHaveLength(20);
  expect(hook.seen).toHaveLength(burst);
  expect(late[0]?.headers.get("retry-after")).toBe("1");
  expect((await post("x", { who: "friend" }, "/hooks/demo/b%20c")).status).toBe(200);
});

test("the rate is a bucket: full at first, filled with time, never by a clock set back", () => {
  const guard = createHookGuard();
  const burst = limits.hookPerSecondMax * 5;
  for (let n = 0; n < burst; n += 1) expect(guard.waitMs(1_000)).toBe(0);
  expect(guard.waitMs(1_000)).toBe(10);
  expect(guard.waitMs(500)).toBe(10);
  expect(guard.waitMs(510)).toBe(0);
  expect(guard.waitMs(510)).toBeGreaterThan(0);
  const later = Array.from({ length: burst + 1 }, () => guard.waitMs(1_000_000));
  expect(later.filter((ms) => ms === 0)).toHaveLength(burst);
});

test("bodies that never end are let go, the oldest first, and who sends at once is served", async () => {
  const full = limits.hookBodiesBytesMax / limits.hookUnprovenBytesMax;
  const head = [
    "POST /hooks/demo/a HTTP/1.1",
    `Host: 127.0.0.1:${server.port}`,
    "Who: maybe",
    `Content-Length: ${limits.hookUnprovenBytesMax}`,
  ].join("\r\n");
  const answers: string[] = [];
  const part = "x".repeat(limits.hookUnprovenBytesMax - 1);
  const sockets: Socket[] = [];
  for (let n = 0; n < full + 20; n += 1) {
    const socket = connect(server.port, "127.0.0.1", () => socket.write(`${head}\r\n\r\n${part}`));
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      answers[n] = (answers[n] ?? "") + String(data);
    });
    sockets.push(socket);
    if (n % 40 === 0) await new Promise((go) => setTimeout(go, 5));
  }
  for (let n = 0; n < 200 && answers.filter(Boolean).length < 15; n += 1)
    await new Promise((go) => setTimeout(go, 25));
  const letGo = answers.filter((answer) => answer?.startsWith("HTTP/1.1 408"));
  expect(letGo.length).toBeGreaterThanOrEqual(15);
  expect((await post("I am quick!", { who: "maybe" })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});
