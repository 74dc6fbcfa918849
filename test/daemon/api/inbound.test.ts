/**
 * Messages over HTTP and the stream of what happens, against a real socket: what is taken, what is
 * refused and how, and that a reader who does not read is dropped.
 */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventData } from "../../../src/daemon/cli/lib/sse-reader.ts";
import { limits } from "../../../src/domain/limits.ts";
import { type SmallServer, startSmallServer } from "../../support/daemon/small-server.ts";

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => server.stop());

let made = 0;
const message = (also: Record<string, unknown> = {}) => {
  made += 1;
  return {
    chat: { id: "room", kind: "group" },
    id: `m${made}`,
    author: { id: "ann" },
    text: "hi",
    ...also,
  };
};

describe("POST /api/inbound", () => {
  test("takes one message or many and says under which key", async () => {
    const one = message();
    const first = await server.post("/api/inbound", one);
    expect(first.status).toBe(200);
    expect(await first.json()).toEqual({
      taken: [{ id: one.id, key: "agent:main:webhook:group:room" }],
    });
    const many = [message(), message({ account: "other" }), message()];
    const second = (await (await server.post("/api/inbound", many)).json()) as { taken: unknown[] };
    expect(second.taken).toHaveLength(3);
    expect(server.runtime.heard.at(-1)?.channel).toBe("webhook");
  });

  test("tells each decision when asked to wait for it", async () => {
    const body = [message({ chat: { id: "d", kind: "direct" } }), message()];
    const answer = await server.post("/api/inbound?wait=decision", body);
    const { taken } = (await answer.json()) as { taken: { decision: string; rule: string }[] };
    expect(taken.map(({ decision, rule }) => [decision, rule])).toEqual([
      ["engage", "dm"],
      ["observe", "default"],
    ]);
  });

  test("answers 503 with a time to come back while nothing can be taken", async () => {
    for (const code of ["EAR_STORE_FULL", "EAR_INGRESS_FULL"] as const) {
      server.runtime.failWith = code;
      const answer = await server.post("/api/inbound", message());
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(await answer.json()).toMatchObject({ error: { code } });
    }
    server.runtime.failWith = null;
    expect((await server.post("/api/inbound", message())).status).toBe(200);
  });

  test("names what is wrong with a message and takes nothing of that request", async () => {
    const before = server.runtime.heard.length;
    const wrong: [unknown, string][] = [
      [[message(), { ...message(), author: {} }], "1.author.id"],
      [message({ text: 1 }), "text"],
      [message({ channel: "telegram" }), "channel"],
      [message({ chat: { id: "x", kind: "party" } }), "chat.kind"],
      [message({ sentAt: 2 ** 60 }), "sentAt"],
      [[], "the body"],
      ["nonsense", "the body"],
    ];
    for (const [body, path] of wrong) {
      const answer = await server.post("/api/inbound", JSON.stringify(body));
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { message: string } };
      expect(error.message).toContain(path);
    }
    expect(server.runtime.heard).toHaveLength(before);
  });

  test("hostile JSON is refused or safe, and prototypes stay as they are", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect((await server.post("/api/inbound", deep)).status).toBe(400);
    expect((await server.post("/api/inbound", "{")).status).toBe(400);
    const polluting = `{"__proto__":{"open":true},"constructor":{"prototype":{"open":true}},${JSON.stringify(
      message(),
    ).slice(1)}`;
    expect((await server.post("/api/inbound", polluting)).status).toBe(200);
    expect(({} as { open?: boolean }).open).toBeUndefined();
    const surrogate = message({ text: "\ud800 \u0000" });
    expect((await server.post("/api/inbound", surrogate)).status).toBe(200);
  });

  test("a body over the cap is refused by what arrives, not by what was announced", async () => {
    const large = JSON.stringify(message({ text: "x".repeat(limits.bodyBytesMax) }));
    expect((await server.post("/api/inbound", large)).status).toBe(413);
    const chunk = "x".repeat(65_536);
    const head = [
      "POST /api/inbound HTTP/1.1",
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${server.token}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ].join("\r\n");
    const chunks = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(20);
    const answer = await server.raw(`${head}\r\n\r\n${chunks}0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    const lie = await server.raw(`${head}\r\nContent-Length: 10\r\n\r\n${chunks}0\r\n\r\n`);
    expect(lie).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("another type or a compressed body is refused before it is read", async () => {
    const answers = await Promise.all([
      server.post("/api/inbound", message(), { "content-type": "text/plain" }),
      server.post("/api/inbound", message(), {
        "content-type": "application/x-www-form-urlencoded",
      }),
      server.post("/api/inbound", message(), { "content-encoding": "gzip" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 415]);
  });
});

describe("GET /api/events", () => {
  type Lines = Record<string, unknown>[];

  async function firstLines(path: string, count: number, act: (read: Lines) => Promise<unknown>) {
    const stop = new AbortController();
    const answer = await fetch(`${server.base}${path}`, {
      headers: server.authorized,
      signal: stop.signal,
    });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const lines: Lines = [];
    const acting = act(lines);
    for await (const data of eventData(answer.body as ReadableStream<Uint8Array>)) {
      lines.push(JSON.parse(data) as Record<string, unknown>);
      if (lines.length === count) break;
    }
    stop.abort();
    await acting;
    return lines;
  }

  test("sends each line once, as it happens", async () => {
    const sent = [message(), message(), message()];
    const lines = await firstLines("/api/events", 3, () => server.post("/api/inbound", sent));
    expect(lines.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
  });

  test("narrows by decision and by key", async () => {
    const direct = message({ chat: { id: "only", kind: "direct" } });
    const act = () => server.post("/api/inbound", [message(), direct, message()]);
    const engaged = await firstLines("/api/events?decision=engage", 1, act);
    expect(engaged[0]).toMatchObject({ id: direct.id, decision: "engage" });
    const again = message({ chat: { id: "only", kind: "direct" } });
    const key = "agent:main:webhook:direct:only";
    const keyed = await firstLines(`/api/events?key=${encodeURIComponent(key)}`, 1, () =>
      server.post("/api/inbound", [message(), again]),
    );
    expect(keyed[0]).toMatchObject({ id: again.id, key });
    expect((await server.get("/api/events?decision=perhaps")).status).toBe(400);
  });

  test("a reader who does not read is dropped; the others get everything", async () => {
    const stalled = connect(server.port, "127.0.0.1");
    stalled.write(
      `GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n` +
        `Authorization: Bearer ${server.token}\r\n\r\n`,
    );
    await new Promise((resolve) => stalled.once("data", resolve));
    stalled.pause();
    const text = "y".repeat(50_000);
    const total = 400;
    const lines = await firstLines("/api/events", total, async (read) => {
      for (let n = 0; n < total; n += 1) {
        server.events.emit.line?.({ t: n, system: "noise", text });
        // So that who reads has what was sent, however busy the machine is.
        if (n % 20 === 0) await expect.poll(() => read.length, { interval: 5 }).toBeGreaterThan(n);
      }
    });
    expect(lines.map(({ t }) => t)).toEqual(Array.from({ length: total }, (_, n) => n));
    expect(server.logged.some(({ event }) => event === "events.reader-dropped")).toBe(true);
    stalled.destroy();
    const metrics = await (await fetch(`${server.base}/metrics`)).text();
    expect(metrics).toContain('earshot_stream_dropped_total{reader="events"} 1');
  });
});

describe("the rest of the API", () => {
  test("describes itself, the form of a message included", async () => {
    const api = (await (await server.get("/api/openapi.json")).json()) as {
      paths: Record<string, unknown>;
      components: { schemas: { Inbound: { required: string[] } } };
    };
    expect(Object.keys(api.paths)).toContain("/api/inbound");
    expect(api.components.schemas.Inbound.required).toEqual(["channel", "chat", "id", "author"]);
  });

  test("resends and drops what there is, and says so when there is nothing", async () => {
    expect((await server.post("/api/outbox/T1:0/resend", {})).status).toBe(200);
    expect((await server.post("/api/outbox/T1:0/drop", {})).status).toBe(200);
    expect((await server.post("/api/outbox/T9:9/resend", {})).status).toBe(404);
    expect((await server.get("/api/outbox")).status).toBe(200);
    expect((await server.get("/api/outbox?state=lost")).status).toBe(400);
    expect((await server.get("/api/why/nobody-said-this")).status).toBe(404);
    expect((await server.get("/api/conversations?limit=x")).status).toBe(400);
  });
});
