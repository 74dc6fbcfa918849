/**
 * What comes to the daemon's own port: requests to its API with their paths, parameters, headers and
 * bodies, posts to a hook, and frames of the sockets of the web chat and of the inspector. All of it goes over loopback to a whole
 * daemon. A request that is no good is answered with 4xx, never with 500, and does not end the daemon.
 */
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { WebSocket } from "ws";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import type { Frames } from "../harness/mutate.ts";
import { frames, type Target } from "../harness/target.ts";

type Daemon = Awaited<ReturnType<typeof startDaemon>>;
let running: Promise<Daemon> | null = null;
const secret = "a-secret-for-the-hook";

async function start(): Promise<Daemon> {
  const stateDir = newFolder();
  writeFileSync(
    join(stateDir, "a.mjs"),
    'export default async function* () { yield { type: "text", text: "fine" }; }',
  );
  const config = {
    agents: { list: [{ id: "main", driver: { kind: "module", module: "./a.mjs" } }] },
    channels: { webhook: { accounts: { default: { hook: { secret } } } } },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const quiet = { port: 0, workers: 0, env: process.env, writeLog: () => undefined };
  return startDaemon({ stateDir, ...quiet });
}
const daemon = () => (running ??= start());
const close = async () => {
  const ending = running;
  running = null;
  await (await ending)?.stop({ drainMs: 0 });
};

/** Method, path and headers are a line each; the rest is the body. */
function ask(
  { base, token }: Daemon,
  [head = Buffer.alloc(0), body = Buffer.alloc(0)]: Frames,
): Promise<number> {
  const [method = "GET", path = "/", ...lines] = head.toString("latin1").split("\n");
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  for (const line of lines) {
    const [, name = "", value = ""] = /^([\w-]+):(.*)$/s.exec(line) ?? [];
    if (
      name !== "" &&
      !/^(?:content-length|transfer-encoding|connection|expect|upgrade)$/i.test(name)
    )
      headers[name] = value.replace(/[^\t\x20-\x7e\x80-\xff]/gu, "?");
  }
  return new Promise((done, failed) => {
    const { hostname, port } = new URL(base);
    const options = {
      hostname,
      port,
      headers,
      method: /^[A-Z]{1,20}$/.test(method) ? method : "POST",
      path: `/${path.slice(1).replace(/[^\x21-\x7e]/gu, "%00")}`,
    };
    const sent = request(options, (answer) => {
      answer.destroy();
      done(answer.statusCode ?? 0);
    });
    sent.once("error", (error: NodeJS.ErrnoException) =>
      // It was refused before all of it was sent.
      error.code === "ECONNRESET" || error.code === "EPIPE" ? done(400) : failed(error),
    );
    if (/^(?:GET|HEAD|DELETE|OPTIONS)$/.test(options.method)) sent.end();
    else sent.end(body);
  });
}

const json = "content-type: application/json";
const key = encodeURIComponent("agent:main:webhook:direct:ann");
const line = {
  t: 0,
  in: {
    channel: "webhook",
    chat: { id: "k", kind: "group" },
    id: "m",
    author: { id: "a" },
    text: "x",
  },
};
const requests: readonly (readonly [string, unknown?])[] = [
  [
    `POST\n/api/inbound\n${json}`,
    { id: "1", chat: { id: "ann", kind: "direct" }, author: { id: "ann" }, text: "hello" },
  ],
  [`POST\n/api/send\n${json}`, { channel: "webhook", to: "ann", text: "hello" }],
  [`POST\n/api/simulate\n${json}`, { lines: [{ earshot: 1, config: {} }, line] }],
  [`POST\n/api/rooms/${key}/actions\n${json}`, { does: "stop" }],
  [`POST\n/api/rooms/${key}/label\n${json}`, { message: "1", label: "engage" }],
  [`POST\n/api/config/plan\n${json}`, { text: "{ context: { size: 3 } }" }],
  [`POST\n/api/what-if/plan\n${json}`, { rules: { context: { size: 3 } } }],
  [`POST\n/api/schedules\n${json}`, { name: "s", key: "agent:main:main", at: "09:00", say: "hi" }],
  [`POST\n/hooks/webhook/default\n${json}\nx-earshot-timestamp: 1\nx-earshot-signature: v1=00`, {}],
  ["GET\n/api/why/1?limit=3"],
  ["GET\n/api/search?q=hello&author=ann&after=0&limit=3"],
  ["GET\n/api/conversations?limit=3&after=%2d1"],
  [`GET\n/api/rooms/${key}/history?before=9&limit=3`],
  ["GET\n/api/outbox?state=dead&limit=3"],
  ["GET\n/api/rooms?filter=x&offset=0&limit=3"],
];
const http: Target = {
  name: "http",
  claim: "a request is answered, and never with 500",
  seeds: requests.map(([head, body]) => ({
    name: head.split("\n", 2).join(" "),
    frames: frames(head, JSON.stringify(body ?? {})),
  })),
  async read(lines) {
    const status = await ask(await daemon(), lines);
    // 503 asks to try again: nothing was done.
    if (status >= 500 && status !== 503) throw new Error(`answered ${status}`);
    return null;
  },
  refuses: () => false,
  close,
};

/** Sends the frames after a good hello; resolves with what ended or answered it. */
async function talk({ base, token }: Daemon, path: string, lines: Frames): Promise<void> {
  const socket = new WebSocket(`${base.replace(/^http/, "ws").replace(/\/$/, "")}${path}`);
  await new Promise<void>((done, failed) => {
    socket.once("error", failed);
    socket.once("open", () => {
      for (const one of lines) {
        const text = one.toString("utf8").replaceAll("TOKEN", token);
        socket.send(one.equals(Buffer.from(one.toString("utf8"))) ? text : one);
      }
      // It is answered behind all of them, or the daemon has closed the socket.
      socket.ping();
    });
    socket.once("pong", () => done());
    socket.once("close", () => done());
  });
  socket.terminate();
}
const socketOf = (name: string, path: string, seeds: Target["seeds"]): Target => ({
  name,
  claim: "frames are taken or end their socket, and the daemon goes on",
  seeds,
  async read(lines) {
    const here = await daemon();
    await talk(here, path, lines);
    const status = await ask(here, frames("GET\n/readyz"));
    if (status !== 200 && status !== 503) throw new Error(`/readyz answers ${status}`);
    return null;
  },
  refuses: () => false,
  close,
});
const page = socketOf("websocket-page", "/ws", [
  {
    name: "chat",
    frames: frames(
      '{"type":"hello","token":"TOKEN","after":0}',
      '{"type":"message","id":"m1","text":"hello","replyTo":null,"attachments":[]}',
      '{"type":"message","id":"m2","text":"again","replyTo":"m1"}',
    ),
  },
]);
const inspector = socketOf("websocket-inspector", "/inspect/ws", [
  { name: "hello", frames: frames('{"type":"hello","token":"TOKEN"}') },
  {
    name: "one conversation, and more than a hello",
    frames: frames(
      '{"type":"hello","token":"TOKEN","key":"agent:main:webhook:direct:ann","words":true}',
      '{"type":"xstate.event"}',
    ),
  },
]);

export const httpTargets: readonly Target[] = [http, page, inspector];
