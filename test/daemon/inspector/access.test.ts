/**
 * Who is let into the inspector, by which of the three ways, and how one that cannot keep up leaves.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createTickets } from "../../../src/daemon/inspector/tickets.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { InspectFrame } from "../../../src/domain/ports/index.ts";
import { type OpenOptions, openInspect, soon } from "../../support/daemon/inspect-socket.ts";
import { type SmallServer, startSmallServer } from "../../support/daemon/small-server.ts";

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => server.stop());
const open: { socket: { terminate(): void } }[] = [];
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.terminate();
  await soon(() => expect(server.orders.size).toBe(0));
});

const inspect = async (query = "", options: OpenOptions = {}) => {
  const opened = await openInspect(`${server.base}/inspect/ws${query}`, options);
  open.push(opened);
  return opened;
};
const orders = () =>
  [...server.orders.values()].map(({ conv, withText: words }) => ({ conv, words }));
const ticket = async (body: unknown = {}) => {
  const answer = await server.post("/api/inspect/tickets", body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { socket: string; withinMs: number; page: string };
};
const queryOf = ({ socket }: { socket: string }) => socket.slice(socket.indexOf("?"));
const everything = [{ conv: null, words: false }];

describe("three ways in", () => {
  test("the token in a header", async () => {
    await inspect("", { headers: server.authorized });
    await soon(() => expect(orders()).toEqual(everything));
  });

  test("a hello with the token, and what it wants to see", async () => {
    const key = "agent:main:webhook:group:kitchen";
    await inspect("", { hello: { type: "hello", token: server.token, key, words: true } });
    await soon(() => expect(orders()).toEqual([{ conv: expect.any(Number), words: true }]));
  });

  test("a ticket, once", async () => {
    const bought = await ticket();
    expect(bought).toMatchObject({ withinMs: 60_000, page: "https://stately.ai/inspect" });
    expect(bought.socket).not.toContain(server.token);
    await inspect(queryOf(bought));
    await soon(() => expect(orders()).toEqual(everything));
    expect((await inspect(queryOf(bought))).refused).toBe(401);
  });

  test("a ticket opens what it was bought for, whatever its address says beside it", async () => {
    await inspect(`${queryOf(await ticket())}&words=1`);
    await soon(() => expect(orders()).toEqual(everything));
  });
});

describe("nobody else", () => {
  test.each(["https://evil.example", "null", "http://127.0.0.1:1"])(
    "from Origin %s is let in, ticket and token or not",
    async (origin) => {
      const headers = { ...server.authorized, origin };
      expect((await inspect("", { headers })).refused).toBe(403);
      expect((await inspect(queryOf(await ticket()), { headers: { origin } })).refused).toBe(403);
    },
  );

  test("for another Host is let in", async () => {
    const headers = { ...server.authorized, host: "evil.example" };
    expect((await inspect("", { headers })).refused).toBe(421);
  });

  test("with another token is let in, and the token itself in the address opens nothing", async () => {
    expect((await inspect("", { headers: { authorization: "Bearer x" } })).refused).toBe(401);
    const wrong = await inspect("", { hello: { type: "hello", token: "x" } });
    await soon(() => expect(wrong.closed).toEqual({ code: 4_401, reason: "badToken" }));
    expect((await inspect(`?ticket=${server.token}`)).refused).toBe(401);
    const silent = await inspect(`?token=${server.token}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(silent.frames).toEqual([]);
    expect(orders()).toEqual([]);
  });

  test("buys a ticket without the token, or for a room that can be none", async () => {
    const answer = await server.post("/api/inspect/tickets", {}, { authorization: "Bearer x" });
    expect(answer.status).toBe(401);
    expect((await server.post("/api/inspect/tickets", { key: "../x" })).status).toBe(400);
    expect((await server.post("/api/inspect/tickets", { text: true })).status).toBe(400);
  });

  test("says anything but hello, or anything more", async () => {
    const hello = { type: "hello", token: server.token };
    for (const said of ["{}", { ...hello, more: 1 }, { ...hello, key: "../x" }]) {
      const opened = await inspect("", { hello: said });
      await soon(() => expect(opened.closed).toEqual({ code: 4_400, reason: "badFrame" }));
    }
    const twice = await inspect("", { hello });
    await soon(() => expect(orders()).toHaveLength(1));
    twice.socket.send(JSON.stringify(hello));
    await soon(() => expect(twice.closed).toEqual({ code: 4_400, reason: "badFrame" }));
  });

  test("stays once the token has changed, whichever way he came", async () => {
    const all = [
      await inspect("", { headers: server.authorized }),
      await inspect("", { hello: { type: "hello", token: server.token } }),
      await inspect(queryOf(await ticket())),
    ];
    await soon(() => expect(orders()).toHaveLength(3));
    const unused = await ticket();
    const path = join(server.stateDir, "token");
    await writeFile(path, "n".repeat(40));
    for (const one of all)
      await soon(() => expect(one.closed).toEqual({ code: 4_401, reason: "badToken" }));
    const late = await inspect(queryOf(unused));
    await soon(() => expect(late.closed?.reason).toBe("badToken"));
    await writeFile(path, server.token);
    expect(orders()).toEqual([]);
  });

  test("more than so many at a time are let in", async () => {
    for (let n = 0; n < limits.inspectReadersMax; n += 1)
      await inspect("", { headers: server.authorized });
    expect((await inspect("", { headers: server.authorized })).refused).toBe(503);
  });
});

test("a ticket is good for a minute, and only so many are kept", async () => {
  const clock = new SimulatedClock();
  const tickets = createTickets(clock, async () => "token");
  const wish = { key: null, words: false };
  const old = await tickets.create(wish);
  clock.advanceTo(clock.now() + limits.inspectTicketMs);
  expect(tickets.redeem(old)).toBeNull();
  const first = await tickets.create(wish);
  for (let n = 1; n < limits.inspectTicketsMax; n += 1) await tickets.create(wish);
  const kept = await tickets.create(wish);
  expect(tickets.redeem(first)).toBeNull();
  expect(tickets.redeem(kept)).toMatchObject({ ...wish, token: "token" });
});

describe("a reader", () => {
  const frameFor = (reader: number, text: string): InspectFrame => ({
    kind: "event",
    readers: [reader],
    actor: "x:1",
    eventJson: JSON.stringify({ type: "skip", text }),
  });
  const reader = async () => {
    const before = server.orders.size;
    const opened = await inspect("", { headers: server.authorized });
    await soon(() => expect(server.orders.size).toBe(before + 1));
    return { ...opened, opened, id: [...server.orders.keys()].at(-1) as number };
  };

  test("receives its own frames only", async () => {
    const { id, frames } = await reader();
    server.inspector.report({
      host: 3,
      epoch: 9,
      frames: [frameFor(id + 1, "no"), frameFor(id, "yes")],
    });
    await soon(() => expect(frames).toHaveLength(1));
    expect(frames[0]).toMatchObject({
      type: "@xstate.event",
      sessionId: "3.9/x:1",
      rootId: "3.9/x:1",
      _version: "0.7.2",
      event: { type: "skip", text: "yes" },
    });
    expect(frames[0]).toMatchObject({ id: expect.any(String), createdAt: expect.any(String) });
  });

  test("that takes nothing is let go with the reason; others go on, and nobody waited", async () => {
    const slow = await reader();
    const quick = await reader();
    slow.socket.pause();
    const much = "x".repeat(60_000);
    for (let n = 0; n < 1_000 && server.orders.has(slow.id); n += 1) {
      server.inspector.report({ host: 0, epoch: 1, frames: [frameFor(slow.id, much)] });
      await new Promise(setImmediate);
    }
    expect(server.orders.has(slow.id)).toBe(false);
    expect(server.logged.map(({ event }) => event)).toContain("inspect.reader-dropped");
    server.inspector.report({ host: 0, epoch: 1, frames: [frameFor(quick.id, "still here")] });
    await soon(() => expect(quick.frames).toHaveLength(1));
    slow.socket.resume();
    await soon(() => expect(slow.opened.closed).toEqual({ code: 4_413, reason: "tooSlow" }));
  });
});
