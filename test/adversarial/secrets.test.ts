/**
 * A35: secrets in every place that something could carry them to: a bot token in a URL, a key in a
 * header, a server that sends back what it was sent. The daemon is driven through refusals, cut
 * sockets and answers that are no answers, and then everything that it wrote, served, printed or
 * kept is searched, also for the secrets in other clothes.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { earshot } from "../support/runtime/commands.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../support/servers/telegram.ts";

/** In every secret of this file, and in nothing else. */
const needle = "canary";
const secrets = {
  bot: sampleToken,
  otherBot: "4243:AAF-canary-of-the-account-behind-tls",
  model: "sk-canary-model-key/with+signs=",
  agent: "canary-shared-with-the-webhook-agent",
  hook: "canary-key-of-what-is-posted-to-us",
  posts: "canary-key-of-what-we-post-to-them",
};

/** The needle as it is, and what base64 makes of it at each of the three places it may begin. */
const clothes = [
  needle,
  ...["", "x", "xx"].map((before) =>
    Buffer.from(`${before}${needle}`)
      .toString("base64")
      .slice(before.length === 0 ? 0 : 4, 8),
  ),
  Buffer.from(needle).toString("hex"),
];

interface Sink {
  readonly name: string;
  readonly text: string;
}
const sinks: Sink[] = [];
const keep = (name: string, text: string) => sinks.push({ name, text });

/** A server of somebody else that sends back whatever it was sent, headers included. */
function startEcho(): Promise<Server> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.writeHead(401, { "content-type": "application/json" });
      const { headers, url } = request;
      const key = String(headers.authorization ?? "").replace("Bearer ", "");
      const said = `no such key: ${key}, ${encodeURIComponent(key)}, ${Buffer.from(key).toString("base64")}`;
      response.end(JSON.stringify({ error: { message: said, headers, url } }));
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

let telegram: TelegramServer;
let echo: Server;
let daemon: Daemon;
const stateDir = newFolder();
const env = { MODEL_KEY: secrets.model, BOT_TOKEN: secrets.bot };

function configText(): string {
  const closed = "https://127.0.0.1:1";
  const echoed = `http://127.0.0.1:${portOf(echo)}`;
  const model = { kind: "model", provider: "openai-compatible", model: "m", maxRetries: 0 };
  return JSON.stringify({
    agents: {
      defaults: { driver: { ...model, baseUrl: `${echoed}/v1`, apiKey: `\${MODEL_KEY}` } },
      list: [
        { id: "main", default: true },
        { id: "away", driver: { kind: "webhook", url: `${closed}/turn`, secret: secrets.agent } },
        { id: "lost", driver: { ...model, baseUrl: `${closed}/v1`, apiKey: `\${MODEL_KEY}` } },
      ],
    },
    bindings: [
      { match: { channel: "webhook", peer: { kind: "direct", id: "away" } }, agentId: "away" },
      { match: { channel: "webhook", peer: { kind: "direct", id: "lost" } }, agentId: "lost" },
    ],
    channels: {
      telegram: {
        accounts: {
          default: { botToken: `\${BOT_TOKEN}`, apiRoot: telegram.apiRoot, pollSeconds: 1 },
          // TLS to a server that speaks none.
          tls: {
            botToken: secrets.otherBot,
            apiRoot: telegram.apiRoot.replace("http:", "https:"),
            pollSeconds: 1,
          },
        },
      },
      webhook: {
        accounts: {
          default: {
            url: `${echoed}/posts`,
            secret: secrets.posts,
            hook: { secret: secrets.hook },
          },
        },
      },
    },
    access: { dmPolicy: "open" },
    errors: { notifyRoom: "always" },
    log: { level: "trace", showText: true },
    messages: { inbound: { debounceMs: 0 } },
  });
}

const post = (path: string, body: unknown, headers: Record<string, string>) =>
  fetch(`${daemon.base}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

async function serve(path: string): Promise<string> {
  const answer = await fetch(`${daemon.base}${path}`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  return answer.text();
}

async function printed(...args: readonly string[]): Promise<string> {
  const { out, err } = await earshot(args, { ...env, EARSHOT_STATE_DIR: stateDir });
  return out + err;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

beforeAll(async () => {
  [telegram, echo] = await Promise.all([startTelegramServer(), startEcho()]);
  writeFileSync(join(stateDir, "earshot.json5"), configText(), { mode: 0o600 });
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: 1,
    logLevel: "trace",
    env,
    writeLog: (line) => keep("log", line),
  });
  const stream = await fetch(`${daemon.base}/api/events`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  void (async () => {
    const decoder = new TextDecoder();
    for await (const part of stream.body ?? []) keep("/api/events", decoder.decode(part));
  })().catch(() => undefined);
  await drive();
});
afterAll(async () => {
  await daemon?.stop({ drainMs: 0 });
  await telegram?.close();
  echo?.close();
});

const logged = (event: string) =>
  sinks.some(({ name, text }) => name === "log" && text.includes(event));
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries === 1_200) throw new Error(`waited in vain for ${what}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** Every failure that a secret was ever known to leak through. */
async function drive(): Promise<void> {
  const { world, faults } = telegram;
  const ann = world.user("Ann");
  const room = world.direct(ann);
  faults.add("sendMessage", { kind: "refuse", status: 400 });
  faults.add("sendMessage", { kind: "reset" });
  faults.add("sendMessage", { kind: "html", status: 502 });
  world.say(room, ann, "hello");
  await telegram.until(() => telegram.calls("sendMessage").length > 0, "an answer");
  for (const id of ["away", "lost", "main"])
    await post(
      "/api/inbound?wait=decision",
      { chat: { id, kind: "direct" }, id: `m-${id}`, author: { id }, text: "hi" },
      { authorization: `Bearer ${daemon.token}` },
    );
  const at = Math.floor(Date.now() / 1_000);
  const mac = "0".repeat(64);
  const forged = { "earshot-timestamp": String(at), "earshot-signature": `sha256=${mac}` };
  keep("hook", await (await post("/hooks/webhook/default", { text: "hi" }, forged)).text());
  keep("hook", await (await post("/hooks/telegram/default", { update_id: 1 }, {})).text());
  keep(
    "api",
    await (await post("/api/inbound", {}, { authorization: `Bearer ${secrets.bot}` })).text(),
  );
  await until(
    "the end of turns",
    async () => JSON.parse(await serve("/api/status")).turns.running === 0,
  );
  await telegram.down();
  await until("a refused connection", () => logged("ECONNREFUSED"));
  telegram.token = "4242:AAF-another-one";
  await telegram.up();
  await until("a refused token", () => logged("Unauthorized"));
}

describe("A35: no secret of the config is found in", () => {
  /** Fails with the names of the sinks and what stands around the find, which is a canary's only. */
  const search = (found: readonly Sink[]) => {
    expect(found.length).toBeGreaterThan(0);
    const leaks = found.flatMap(({ name, text }) =>
      clothes.flatMap((cloth) => {
        const at = text.indexOf(cloth);
        return at === -1 ? [] : [`${name}: …${text.slice(Math.max(0, at - 120), at + 40)}`];
      }),
    );
    expect(leaks).toEqual([]);
  };

  test("the log, at its most talkative", () => {
    search(sinks.filter(({ name }) => name === "log"));
    // What it is made of: the failures were there, and each secret was at work.
    for (const event of ["connection.", "EPROTO", "Unauthorized", "HTTP 401"])
      expect([event, logged(event)]).toEqual([event, true]);
  });

  test("the answers of the API, its stream, its metrics and its refusals", async () => {
    const key = encodeURIComponent("agent:main:main");
    for (const path of [
      ...["/api/status", "/api/channels", "/api/conversations", "/api/outbox", "/api/outbound"],
      ...["/api/sessions", `/api/sessions/${key}`, `/api/sessions/${key}/transcript`],
      ...["/api/rooms", `/api/rooms/${key}`, `/api/rooms/${key}/history`],
      ...["/api/why/m-away", "/api/why/m-main", "/api/openapi.json", "/metrics", "/readyz"],
      ...["/api/why/none", "/api/nothing", "/"],
    ])
      keep("api", `${path} ${await serve(path)}`);
    search(sinks.filter(({ name }) => ["api", "hook", "/api/events"].includes(name)));
    expect(sinks.some(({ name }) => name === "/api/events")).toBe(true);
  });

  test("what the commands print, with the daemon running", async () => {
    for (const args of [
      ["config", "show"],
      ["config", "show", "--json"],
      ["config", "check"],
      ["doctor"],
      ["doctor", "--json"],
      ["status"],
      ["status", "--json"],
      ["channels"],
      ["sessions"],
      ["outbox", "--json"],
      ["why", "m-lost"],
    ]) {
      const text = await printed(...args);
      expect([args, text.length > 0]).toEqual([args, true]);
      keep("commands", `${args.join(" ")}: ${text}`);
    }
    search(sinks.filter(({ name }) => name === "commands"));
  });

  test("what is said about a config that is wrong at a secret", async () => {
    const path = join(newFolder(), "wrong.json5");
    for (const [place, value] of [
      ["telegram", { botToken: `${secrets.bot} with blanks` }],
      ["telegram", { botToken: [secrets.bot] }],
      ["telegram", { botToken: { token: secrets.bot } }],
      ["telegram", { botToken: secrets.bot, bottoken: secrets.bot }],
      ["webhook", { url: "nowhere", secret: secrets.posts }],
      ["webhook", { url: "http://127.0.0.1/", secret: "canary" }],
    ] as const) {
      const channels = { [place]: { accounts: { default: value } } };
      writeFileSync(path, JSON.stringify({ channels }), { mode: 0o600 });
      keep("wrong", await printed("config", "check", "--config", path));
      const thrown = await startDaemon({ stateDir: newFolder(), config: path, env: {} }).catch(
        (error: unknown) => error,
      );
      expect(thrown).toBeInstanceOf(Error);
      keep("wrong", inspect(thrown, { depth: 10, showHidden: true }));
    }
    search(sinks.filter(({ name }) => name === "wrong"));
  });

  test("the journal and everything else in the state directory, after the end", async () => {
    await daemon.stop({ drainMs: 0 });
    const own = new Set(["earshot.json5"].map((name) => join(stateDir, name)));
    const files = filesBelow(stateDir).filter((path) => !own.has(path));
    expect(files.some((path) => path.endsWith("earshot.db"))).toBe(true);
    search(files.map((path) => ({ name: path, text: readFileSync(path, "latin1") })));
    // The search is able to find: the config has them.
    const text = readFileSync(join(stateDir, "earshot.json5"), "utf8");
    expect(() => search([{ name: "config", text }])).toThrow("to deeply equal");
  });

  test("anything but the command that is asked for the page's address, if it is the API's token", () => {
    const found = sinks.filter(({ text }) => text.includes(daemon.token));
    expect(found.map(({ text }) => text.split(":")[0])).toEqual(["status"]);
  });
});
