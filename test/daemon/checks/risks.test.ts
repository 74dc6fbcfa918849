/**
 * The checks that find risks: each setting by its path with a fix, and nothing of a config that
 * gives nothing away.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CheckFacts, noFacts } from "../../../src/daemon/checks/check.ts";
import { checkConfig } from "../../../src/daemon/checks/config-checks.ts";
import { tlsFacts } from "../../../src/daemon/checks/tls-facts.ts";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import {
  defaultConfig,
  type EarshotConfig,
  parseConfig,
} from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { selfSigned } from "../../support/daemon/self-signed.ts";

const registry = createRegistry();
const local = (channel: string) => registry.channels.get(channel)?.local ?? false;

/** Checks of probable mistakes have separate tests. */
const others = new Set(["routing", "access.no-group", "unknown-name", "reserved-word"]);
async function risks(config: EarshotConfig, facts: Partial<CheckFacts> = {}) {
  const found = await checkConfig(config, ["mistake", "risk"], { ...noFacts, local, ...facts });
  return found.filter(({ id }) => !others.has(id));
}
const dangers = (raw: object) => risks(parseConfig(raw, registry));
const paths = async (raw: object) => (await dangers(raw)).map(({ at }) => at);

const bot = { botToken: "4242:abcdefgh" };
const telegram = (over: object = {}, account: object = {}) => ({
  telegram: { accounts: { a: { ...bot, ...account } }, ...over },
});
const secret = "8Zr1kq0fJ3mW7xTn";

test("the defaults, and a careful config, give nothing away", async () => {
  expect(await risks(defaultConfig)).toEqual([]);
  const careful = {
    channels: {
      ...telegram({ groups: { "-1": {} }, allowFrom: ["7"] }),
      webhook: {
        accounts: {
          w: { hook: { secret } },
          v: { url: "https://example.com", secret: `${secret}2` },
        },
      },
    },
    agents: { list: [{ id: "main", driver: { kind: "command", command: "x", env: ["EDITOR"] } }] },
    server: {
      publicUrl: "https://bot.example.com",
      proxy: { addresses: ["127.0.0.1", "10.1.0.0/16"] },
    },
  };
  expect(await paths(careful)).toEqual([]);
});

test("a shell for owners is a danger", async () => {
  expect(await paths({ commands: { bash: true } })).toEqual(["commands.bash"]);
});

test("every danger says what it gives away and how to take it back, on one line", async () => {
  const all = await dangers({
    access: { dmPolicy: "open", groupPolicy: "open" },
    session: { scope: "global" },
    log: { showText: true },
    store: { driver: "memory" },
    loopGuard: { hardLimit: 0 },
    plugins: ["./mine.mjs"],
    media: { links: { kind: "extract" } },
  });
  expect(all.length).toBeGreaterThan(6);
  for (const finding of all) {
    expect(finding.at).toMatch(/^[a-z]/u);
    expect(finding.fix).not.toBe("");
    expect(findingText(finding)).not.toContain("\n");
  }
});

describe("who is heard", () => {
  test("an open policy is named where it was said: for all, a channel, an account", async () => {
    expect(await paths({ access: { dmPolicy: "open" } })).toContain("access.dmPolicy");
    expect(await paths({ access: { groupPolicy: "open" }, channels: telegram() })).toContain(
      "access.groupPolicy",
    );
    expect(await paths({ channels: telegram({ dmPolicy: "open" }) })).toContain(
      "channels.telegram.dmPolicy",
    );
    expect(await paths({ channels: telegram({}, { groupPolicy: "open" }) })).toContain(
      "channels.telegram.accounts.a.groupPolicy",
    );
  });

  test("a local channel is nobody's, unless its account has a hook", async () => {
    const webhook = (account: object) => ({
      webhook: { dmPolicy: "open" as const, accounts: { w: account } },
    });
    expect(await paths({ channels: webhook({}) })).toEqual([]);
    expect(await paths({ channels: webhook({ hook: { secret } }) })).toContain(
      "channels.webhook.dmPolicy",
    );
  });

  test("one session for the direct chats of several people", async () => {
    const two = { allowFrom: ["7", "8"] };
    expect(await paths({ channels: telegram(two) })).toEqual(["session.dmScope"]);
    expect(await paths({ channels: telegram({ allowFrom: ["7"] }) })).toEqual([]);
    expect(
      await paths({ channels: telegram(two), session: { dmScope: "per-channel-peer" } }),
    ).toEqual([]);
    const linked = { identityLinks: { ann: ["telegram:7", "telegram:8"] } };
    expect(await paths({ channels: telegram(two), session: linked })).toEqual([]);
    expect(
      await paths({ access: { allowFrom: ["telegram:7", "slack:8"] }, channels: telegram() }),
    ).toEqual([]);
    expect(await paths({ channels: telegram({ dmPolicy: "open" }) })).toContain("session.dmScope");
    expect(await paths({ session: { scope: "global" } })).toEqual(["session.scope"]);
    const one = parseConfig({ channels: telegram({ allowFrom: ["7"] }) }, registry);
    const named = async (approved: string[]) =>
      (await risks(one, { approved })).map(({ at }) => at);
    expect(await named(["telegram:7"])).toEqual([]);
    expect(await named(["telegram:8"])).toEqual(["session.dmScope"]);
  });

  test("an owner that is a chat", async () => {
    const owners = (...ownerAllowFrom: string[]) => ({ commands: { ownerAllowFrom } });
    expect(await paths(owners("telegram:7", "telegram:-100123"))).toEqual([
      "commands.ownerAllowFrom[1]",
    ]);
    expect(await paths(owners("telegram:chat:-100123"))).toEqual(["commands.ownerAllowFrom[0]"]);
  });
});

describe("ways in and out", () => {
  test("a secret that opens two doors, or could be guessed", async () => {
    const webhook = (w: object, v: object = {}) => ({ webhook: { accounts: { w, v } } });
    expect(await paths({ channels: webhook({ hook: { secret } }, { hook: { secret } }) })).toEqual([
      "channels.webhook.accounts.v.hook.secret",
    ]);
    expect(
      await paths({ channels: webhook({ hook: { secret: "aaaaaaaaaaaaaaaaaaaa" } }) }),
    ).toEqual(["channels.webhook.accounts.w.hook.secret"]);
    const both = { url: "https://example.com/a", secret, hook: { secret } };
    expect(await paths({ channels: webhook(both) })).toEqual([
      "channels.webhook.accounts.w.secret",
    ]);
  });

  test("addresses beyond this machine in plain http", async () => {
    const webhook = (url: string) => ({ webhook: { accounts: { w: { url, secret } } } });
    expect(await paths({ channels: webhook("http://example.com/a") })).toEqual([
      "channels.webhook.accounts.w.url",
    ]);
    expect(await paths({ channels: webhook("http://127.0.0.1:9/a") })).toEqual([]);
    expect(await paths({ channels: webhook("http://[::1]:9/a") })).toEqual([]);
    const posted = { webhook: { url: "http://bot.example.com/hooks/telegram/a", secret } };
    expect(
      await paths({ channels: telegram({}, { ...posted, apiRoot: "http://api.example.com" }) }),
    ).toEqual(["channels.telegram.accounts.a.apiRoot", "channels.telegram.accounts.a.webhook.url"]);
  });

  test("listening beyond this machine, and proxies that are half the world", async () => {
    const publicUrl = "https://bot.example.com";
    const server = { host: "0.0.0.0", exposed: true, publicUrl };
    const proxy = { addresses: ["10.0.0.0/8", "10.1.2.3", "fd00::/16"] };
    expect(await paths({ server: { ...server, proxy } })).toEqual([
      "server.exposed",
      "server.tls",
      "server.proxy.addresses[0]",
      "server.proxy.addresses[2]",
    ]);
    expect(await paths({ server: { exposed: true } })).toEqual([]);
    expect(await paths({ server: { proxy: { addresses: ["127.0.0.1"] } } })).toEqual([
      "server.publicUrl",
    ]);
  });

  test("a key that others may read, files that are none, a certificate that ends", async () => {
    const folder = newFolder();
    const pair = selfSigned("bot");
    writeFileSync(join(folder, "cert.pem"), pair.cert);
    writeFileSync(join(folder, "key.pem"), pair.key, { mode: 0o600 });
    const config = parseConfig({
      server: {
        host: "0.0.0.0",
        exposed: true,
        publicUrl: "https://bot.example.com",
        tls: { cert: "cert.pem", key: "key.pem" },
      },
    });
    const named = async (now: number, from = folder) => {
      const tls = await tlsFacts(config.server, from, now);
      const found = await risks(config, { tls });
      return found.map(({ at, level }) => (level === "wrong" ? `!${at}` : at));
    };
    const now = Date.now();
    expect(await named(now - 30 * 86_400_000)).toEqual(["server.exposed"]);
    expect(await named(now)).toEqual(["server.exposed", "server.tls.cert"]);
    expect(await named(now + 3 * 86_400_000)).toEqual(["server.exposed", "!server.tls.cert"]);
    chmodSync(join(folder, "key.pem"), 0o644);
    expect(await named(now - 30 * 86_400_000)).toEqual(["server.exposed", "!server.tls.key"]);
    expect(await named(now, "/nowhere")).toEqual(["server.exposed", "!server.tls"]);
  });
});

describe("what runs", () => {
  const agent = (driver: object) => ({
    agents: { list: [{ id: "main", driver: driver as never }] },
  });

  test("a program that sees secrets, or what decides which code runs", async () => {
    const command = { kind: "command", command: "x" };
    for (const name of [
      "OPENAI_API_KEY",
      "GITHUB_TOKEN",
      "DB_PASSWORD",
      "LD_PRELOAD",
      "SSH_AUTH_SOCK",
    ])
      expect(await paths(agent({ ...command, env: [name] }))).toEqual([
        "agents.list[0].driver.env",
      ]);
    expect(await paths(agent({ ...command, env: ["EDITOR", "TERM"] }))).toEqual([]);
    const many = Array.from({ length: 11 }, (_, n) => `PLAIN_${n}`);
    expect(await paths(agent({ ...command, env: many }))).toEqual(["agents.list[0].driver.env"]);
    const shared = { agents: { defaults: { driver: { ...command, env: ["A_TOKEN"] } as never } } };
    expect(await paths(shared)).toEqual(["agents.defaults.driver.env"]);
  });

  test("an agent that may do what it asks for", async () => {
    const acp = { kind: "acp", command: "x" };
    expect(await paths(agent({ ...acp, permissions: "allow" }))).toEqual([
      "agents.list[0].driver.permissions",
    ]);
    const kinds = (...allowKinds: string[]) =>
      agent({ ...acp, permissions: "allowlist", allowKinds });
    expect(await paths(kinds("read", "execute"))).toEqual(["agents.list[0].driver.allowKinds"]);
    expect(await paths(kinds("read", "search"))).toEqual([]);
    expect(await paths(agent(acp))).toEqual([]);
  });

  test("code in the daemon, and models spoken to in the clear", async () => {
    expect(await paths(agent({ kind: "module", module: "./agent.mjs" }))).toEqual([
      "agents.list[0].driver.module",
    ]);
    const model = { kind: "model", provider: "openai-compatible", model: "m" };
    const far = "http://models.example.com/v1";
    expect(await paths(agent({ ...model, baseUrl: far }))).toEqual([
      "agents.list[0].driver.baseUrl",
    ]);
    expect(await paths(agent({ ...model, baseUrl: "http://127.0.0.1:11434/v1" }))).toEqual([]);
    const fallbacks = [{ provider: "openai-compatible", model: "m", baseUrl: far }];
    expect(await paths(agent({ ...model, baseUrl: "https://a.example/v1", fallbacks }))).toEqual([
      "agents.list[0].driver.fallbacks[0].baseUrl",
    ]);
  });

  test("converters, wherever they are said", async () => {
    const command = { kind: "command" as const, command: "x", args: ["{file}"], env: ["A_SECRET"] };
    expect(await paths({ media: { audio: command } })).toEqual(["media.audio.env"]);
    const speech = { ...command, mime: "audio/ogg" };
    expect(await paths({ channels: telegram({ media: { speech } }) })).toEqual([
      "channels.telegram.media.speech.env",
    ]);
    const list = [{ id: "main", media: { links: { kind: "extract" as const } } }];
    expect(await paths({ agents: { list } })).toEqual(["agents.list[0].media.links"]);
    const video = {
      kind: "model" as const,
      baseUrl: "http://models.example.com/v1",
      model: "m",
      frame: { command: "ffmpeg", args: ["{file}"], env: ["LD_LIBRARY_PATH"] },
    };
    expect(await paths({ media: { video } })).toEqual([
      "media.video.frame.env",
      "media.video.baseUrl",
    ]);
  });

  test("plugins, a guard that is off, a store that forgets, a log that tells", async () => {
    expect(await paths({ plugins: ["a", "b"] })).toEqual(["plugins[0]", "plugins[1]"]);
    expect(await paths({ loopGuard: { hardLimit: 0 } })).toEqual(["loopGuard.hardLimit"]);
    expect(await paths({ store: { driver: "memory" } })).toEqual(["store.driver"]);
    expect(await paths({ log: { showText: true } })).toEqual(["log.showText"]);
  });
});

test("an agent that may do everything by default, and converters of a group and a topic", async () => {
  const audio = { kind: "command", command: "/bin/true", args: ["{file}"], env: ["MY_TOKEN"] };
  const topics = { "7": { media: { audio } } };
  expect(
    await paths({
      agents: { list: [{ id: "main", elevatedDefault: "full" }] },
      channels: telegram({ groups: { "-1": { media: { audio }, topics } } }),
    }),
  ).toEqual([
    "agents.list[0].elevatedDefault",
    'channels.telegram.groups["-1"].media.audio.env',
    'channels.telegram.groups["-1"].topics["7"].media.audio.env',
  ]);
});
