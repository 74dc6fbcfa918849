/**
 * What a config names is tried over real sockets: keys, model names, addresses, tokens, folders. What
 * does not work has its reason, a secret is never in it, and nobody who does not answer holds up the
 * others.
 */
import { writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { type CheckStep, checkEverything } from "../../../src/daemon/checks/live/everything.ts";
import {
  type CheckResult,
  liveCheckMs,
  liveChecks,
  runLiveChecks,
} from "../../../src/daemon/checks/live/live-checks.ts";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { Clock } from "../../../src/domain/ports/index.ts";
import { defaultSessionSettings } from "../../../src/domain/session.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../support/servers/telegram.ts";

const registry = createRegistry();
const clock = createSystemClock();
const key = "sk-a-key-that-no-check-may-show";
let model: ModelServer;
let telegram: TelegramServer;
/** Accepts connections and never says a word. */
let mute: Server;
let muteUrl: string;
const open = new Set<Socket>();
const closed = async (server: Server) => new Promise<void>((done) => server.close(() => done()));

beforeAll(async () => {
  [model, telegram] = await Promise.all([startModelServer(), startTelegramServer()]);
  mute = createServer((socket) => {
    open.add(socket);
    socket
      .once("close", () => open.delete(socket))
      .once("error", () => undefined)
      .resume();
  });
  await new Promise<void>((done) => mute.listen(0, "127.0.0.1", done));
  muteUrl = `http://127.0.0.1:${(mute.address() as { port: number }).port}`;
});
afterAll(async () => {
  await Promise.all([model.close(), telegram.close(), closed(mute)]);
});
beforeEach(() => {
  Object.assign(model, { models: ["small", "large"], aliases: [], key: null });
});

const subjectOf = (raw: object) => ({
  config: parseConfig(raw, registry),
  ...registry,
  stateDir: newFolder(),
  baseDir: newFolder(),
});
async function tried(raw: object, at: Clock = clock): Promise<readonly CheckResult[]> {
  const found: CheckResult[] = [];
  await runLiveChecks(liveChecks(subjectOf(raw)), at, (result) => found.push(result));
  return found;
}
const withModel = (over: object) => ({
  agents: {
    list: [
      { id: "main", driver: { kind: "model", model: "small", baseUrl: model.baseUrl, ...over } },
    ],
  },
});
const at = "agents.list[0].driver";
const host = () => new URL(model.baseUrl).host;

describe("a model", () => {
  test("whose server lists it and takes the key is fine", async () => {
    model.key = key;
    expect(await tried(withModel({ apiKey: key }))).toEqual([
      { check: at, state: "ok", says: `${host()} takes the key and has small` },
    ]);
  });

  test("whose default tag is left out is fine", async () => {
    model.models = ["small:latest"];
    expect(await tried(withModel({}))).toMatchObject([{ state: "ok" }]);
  });

  test("that the server does not list is a warning with the names that it has", async () => {
    expect(await tried(withModel({ model: "smal" }))).toEqual([
      { check: at, state: "warning", says: `${host()} does not list smal: it has small, large` },
    ]);
  });

  test("that a vendor does not have is wrong, and an alias is found by its name", async () => {
    const vendor = { provider: "anthropic", model: "claude", apiKey: key };
    model.key = key;
    expect(await tried(withModel(vendor))).toEqual([
      { check: at, state: "wrong", says: `${host()} has no model claude` },
    ]);
    model.aliases = ["claude"];
    expect(await tried(withModel(vendor))).toMatchObject([{ state: "ok" }]);
  });

  test.each([
    ["a wrong key", { apiKey: "sk-wrong" }, /^auth: .* refuses the key \(HTTP 401\)$/u],
    ["no key", {}, /^auth: .* wants a key, and none is configured \(HTTP 401\)$/u],
  ])("with %s is wrong, and the key is not shown", async (_, over, says) => {
    model.key = key;
    const found = await tried(withModel(over));
    expect(found).toMatchObject([{ state: "wrong", says: expect.stringMatching(says) }]);
    expect(JSON.stringify(found)).not.toContain("sk-");
  });

  test("at an address where nothing listens is wrong", async () => {
    const found = await tried(withModel({ baseUrl: "http://127.0.0.1:1/v1" }));
    expect(found).toMatchObject([
      { state: "wrong", says: "refused: 127.0.0.1:1 cannot be reached" },
    ]);
  });

  test("whose base URL lacks its path is a warning that asks for it", async () => {
    const found = await tried(withModel({ baseUrl: model.baseUrl.replace("/v1", "") }));
    expect(found).toMatchObject([{ state: "warning", says: expect.stringContaining("base URL") }]);
  });

  test("is tried once for all agents that use it, and its fallbacks with it", async () => {
    const driver = {
      kind: "model",
      model: "small",
      baseUrl: model.baseUrl,
      fallbacks: [{ model: "lost", baseUrl: model.baseUrl }],
    };
    const found = await tried({
      agents: { defaults: { driver }, list: [{ id: "main" }, { id: "ops" }] },
    });
    expect(found.map(({ check, state }) => [check, state])).toEqual([
      ["agents.defaults.driver", "ok"],
      ["agents.defaults.driver", "warning"],
    ]);
  });
});

test("a web service is tried by a connection, without a turn", async () => {
  const withService = (url: string) => ({
    agents: { list: [{ id: "main", driver: { kind: "webhook", url, secret: "x".repeat(32) } }] },
  });
  expect(await tried(withService(`${muteUrl}/turns`))).toMatchObject([{ state: "ok" }]);
  expect(await tried(withService("http://127.0.0.1:1/turns"))).toMatchObject([
    { state: "wrong", says: "127.0.0.1:1 cannot be reached (ECONNREFUSED)" },
  ]);
  // What speaks no TLS has no certificate.
  expect(await tried(withService(`${model.baseUrl.replace("http", "https")}/x`))).toMatchObject([
    { state: "wrong" },
  ]);
});

test("a token is tried at its platform", async () => {
  const withToken = (botToken: string) => ({
    channels: { telegram: { accounts: { home: { botToken, apiRoot: telegram.apiRoot } } } },
    agents: { list: [{ id: "main" }] },
  });
  const check = "channels.telegram.accounts.home";
  expect(await tried(withToken(sampleToken))).toEqual([
    { check, state: "ok", says: expect.stringMatching(/^connected as .+ \(\d+\)$/u) },
  ]);
  const refused = await tried(withToken("4242:another-token-that-is-not-the-bots"));
  expect(refused).toMatchObject([{ check, state: "wrong" }]);
  expect(JSON.stringify(refused)).not.toContain("another-token");
});

test("a folder that cannot be made is wrong", async () => {
  const withFolder = (workspace: string) => ({ agents: { list: [{ id: "main", workspace }] } });
  expect(await tried(withFolder("new/and/deep"))).toMatchObject([{ state: "ok" }]);
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  expect(await tried(withFolder(join(file, "below")))).toMatchObject([
    { check: "agents.list[0].workspace", state: "wrong" },
  ]);
});

test("who never answers is wrong at the end of the time limit, and holds up nobody", async () => {
  const seen: (CheckResult | "limit")[] = [];
  let end = () => {};
  // The limit is reached when the test says so.
  const stopped: Clock = {
    ...clock,
    setLimit: (_, done) => {
      end = done;
      return 0 as never;
    },
    clearTimer: () => {},
  };
  const subject = subjectOf({
    agents: {
      list: [
        { id: "main", driver: { kind: "model", model: "small", baseUrl: model.baseUrl } },
        { id: "mute", driver: { kind: "model", model: "small", baseUrl: `${muteUrl}/v1` } },
      ],
    },
  });
  await runLiveChecks(liveChecks(subject), stopped, (result) => {
    seen.push(result);
    if (seen.length === 1) end();
  });
  expect(seen).toMatchObject([
    { check: "agents.list[0].driver", state: "ok" },
    {
      check: "agents.list[1].driver",
      state: "wrong",
      says: `no answer within ${liveCheckMs / 1_000} s`,
    },
  ]);
  // Nothing waits for it any more.
  await expect.poll(() => open.size).toBe(0);
});

test("everything is checked: the machine, the config, what it names; offline nothing is asked", async () => {
  const subject = {
    ...subjectOf({ ...withModel({}), log: { showText: true } }),
    clock,
    approved: [],
    sessions: [
      {
        key: "agent:main:main",
        settings: { ...defaultSessionSettings, elevated: "full" } as const,
      },
    ],
  };
  const steps: CheckStep[] = [];
  await checkEverything(subject, false, (step) => steps.push(step));
  expect(steps.map(({ check, state }) => `${check} ${state}`)).toEqual([
    "state directory ok",
    "disk ok",
    "clock ok",
    "log.showText warning",
    "agent:main:main warning",
    `${at} running`,
    `${at} ok`,
  ]);
  const offline: CheckStep[] = [];
  await checkEverything(subject, true, (step) => offline.push(step));
  // The free space and the time are other ones by then.
  const apart = (all: CheckStep[]) =>
    all.map((one) => (["disk", "clock"].includes(one.check) ? { ...one, says: "" } : one));
  expect(apart(offline)).toEqual(apart(steps.slice(0, 5)));
});
