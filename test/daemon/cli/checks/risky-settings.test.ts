/**
 * What `earshot doctor` calls dangerous: every setting by its path, with a way to mend it, and
 * nothing of a config that gives nothing away.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tlsFacts } from "../../../../src/daemon/cli/checks/risky-server.ts";
import { type Danger, dangersOf } from "../../../../src/daemon/cli/checks/risky-settings.ts";
import { createRegistry } from "../../../../src/daemon/config/registry.ts";
import { defaultConfig, parseConfig } from "../../../../src/domain/config/index.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { selfSigned } from "../../../support/daemon/self-signed.ts";

const registry = createRegistry();
const local = (channel: string) => registry.channels.get(channel)?.local ?? false;

const dangers = (raw: object): readonly Danger[] =>
  dangersOf(parseConfig(raw, registry), { local, tls: null });
const paths = (raw: object) => dangers(raw).map(({ at }) => at);

const bot = { botToken: "4242:abcdefgh" };
const telegram = (over: object = {}, account: object = {}) => ({
  telegram: { accounts: { a: { ...bot, ...account } }, ...over },
});
const secret = "8Zr1kq0fJ3mW7xTn";

test("the defaults, and a careful config, give nothing away", () => {
  expect(dangersOf(defaultConfig, { local, tls: null })).toEqual([]);
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
  expect(paths(careful)).toEqual([]);
});

test("every danger says what it gives away and how to take it back, on one line", () => {
  const all = dangers({
    access: { dmPolicy: "open", groupPolicy: "open" },
    session: { scope: "global" },
    log: { showText: true },
    store: { driver: "memory" },
    loopGuard: { hardLimit: 0 },
    plugins: ["./mine.mjs"],
    media: { links: { kind: "extract" } },
  });
  expect(all.length).toBeGreaterThan(6);
  for (const { at, says } of all) {
    expect(at).toMatch(/^[a-z]/u);
    expect(says).toMatch(/: |make |leave /u);
    expect(says).not.toContain("\n");
  }
});

describe("who is heard", () => {
  test("an open policy is named where it was said: for all, a channel, an account", () => {
    expect(paths({ access: { dmPolicy: "open" } })).toContain("access.dmPolicy");
    expect(paths({ access: { groupPolicy: "open" }, channels: telegram() })).toContain(
      "access.groupPolicy",
    );
    expect(paths({ channels: telegram({ dmPolicy: "open" }) })).toContain(
      "channels.telegram.dmPolicy",
    );
    expect(paths({ channels: telegram({}, { groupPolicy: "open" }) })).toContain(
      "channels.telegram.accounts.a.groupPolicy",
    );
  });

  test("a local channel is nobody's, unless its account has a hook", () => {
    const webhook = (account: object) => ({
      webhook: { dmPolicy: "open" as const, accounts: { w: account } },
    });
    expect(paths({ channels: webhook({}) })).toEqual([]);
    expect(paths({ channels: webhook({ hook: { secret } }) })).toContain(
      "channels.webhook.dmPolicy",
    );
  });

  test("one session for the direct chats of several people", () => {
    const two = { allowFrom: ["7", "8"] };
    expect(paths({ channels: telegram(two) })).toEqual(["session.dmScope"]);
    expect(paths({ channels: telegram({ allowFrom: ["7"] }) })).toEqual([]);
    expect(paths({ channels: telegram(two), session: { dmScope: "per-channel-peer" } })).toEqual(
      [],
    );
    const linked = { identityLinks: { ann: ["telegram:7", "telegram:8"] } };
    expect(paths({ channels: telegram(two), session: linked })).toEqual([]);
    expect(
      paths({ access: { allowFrom: ["telegram:7", "slack:8"] }, channels: telegram() }),
    ).toEqual([]);
    expect(paths({ channels: telegram({ dmPolicy: "open" }) })).toContain("session.dmScope");
    expect(paths({ session: { scope: "global" } })).toEqual(["session.scope"]);
    const one = parseConfig({ channels: telegram({ allowFrom: ["7"] }) }, registry);
    const named = (approved: string[]) =>
      dangersOf(one, { local, tls: null, approved }).map(({ at }) => at);
    expect(named(["telegram:7"])).toEqual([]);
    expect(named(["telegram:8"])).toEqual(["session.dmScope"]);
  });

  test("an owner that is a chat", () => {
    const owners = (...ownerAllowFrom: string[]) => ({ commands: { ownerAllowFrom } });
    expect(paths(owners("telegram:7", "telegram:-100123"))).toEqual(["commands.ownerAllowFrom[1]"]);
    expect(paths(owners("telegram:chat:-100123"))).toEqual(["commands.ownerAllowFrom[0]"]);
  });
});

describe("ways in and out", () => {
  test("a secret that opens two doors, or could be guessed", () => {
    const webhook = (w: object, v: object = {}) => ({ webhook: { accounts: { w, v } } });
    expect(paths({ channels: webhook({ hook: { secret } }, { hook: { secret } }) })).toEqual([
      "channels.webhook.accounts.v.hook.secret",
    ]);
    expect(paths({ channels: webhook({ hook: { secret: "aaaaaaaaaaaaaaaaaaaa" } }) })).toEqual([
      "channels.webhook.accounts.w.hook.secret",
    ]);
    const both = { url: "https://example.com/a", secret, hook: { secret } };
    expect(paths({ channels: webhook(both) })).toEqual(["channels.webhook.accounts.w.secret"]);
  });

  test("addresses beyond this machine in plain http", () => {
    const webhook = (url: string) => ({ webhook: { accounts: { w: { url, secret } } } });
    expect(paths({ channels: webhook("http://example.com/a") })).toEqual([
      "channels.webhook.accounts.w.url",
    ]);
    expect(paths({ channels: webhook("http://127.0.0.1:9/a") })).toEqual([]);
    expect(paths({ channels: webhook("http://[::1]:9/a") })).toEqual([]);
    const posted = { webhook: { url: "http://bot.example.com/hooks/telegram/a", secret } };
    expect(
      paths({ channels: telegram({}, { ...posted, apiRoot: "http://api.example.com" }) }),
    ).toEqual(["channels.telegram.accounts.a.apiRoot", "channels.telegram.accounts.a.webhook.url"]);
  });

  test("listening beyond this machine, and proxies that are half the world", () => {
    const publicUrl = "https://bot.example.com";
    const server = { host: "0.0.0.0", exposed: true, publicUrl };
    const proxy = { addresses: ["10.0.0.0/8", "10.1.2.3", "fd00::/16"] };
    expect(paths({ server: { ...server, proxy } })).toEqual([
      "server.exposed",
      "server.tls",
      "server.proxy.addresses[0]",
      "server.proxy.addresses[2]",
    ]);
    expect(paths({ server: { exposed: true } })).toEqual([]);
    expect(paths({ server: { proxy: { addresses: ["127.0.0.1"] } } })).toEqual([
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
      return dangersOf(config, { local, tls }).map(({ at, wrong }) => (wrong ? `!${at}` : at));
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

  test("a program that sees secrets, or what decides which code runs", () => {
    const command = { kind: "command", command: "x" };
    for (const name of [
      "OPENAI_API_KEY",
      "GITHUB_TOKEN",
      "DB_PASSWORD",
      "LD_PRELOAD",
      "SSH_AUTH_SOCK",
    ])
      expect(paths(agent({ ...command, env: [name] }))).toEqual(["agents.list[0].driver.env"]);
    expect(paths(agent({ ...command, env: ["EDITOR", "TERM"] }))).toEqual([]);
    const many = Array.from({ length: 11 }, (_, n) => `PLAIN_${n}`);
    expect(paths(agent({ ...command, env: many }))).toEqual(["agents.list[0].driver.env"]);
    const shared = { agents: { defaults: { driver: { ...command, env: ["A_TOKEN"] } as never } } };
    expect(paths(shared)).toEqual(["agents.defaults.driver.env"]);
  });

  test("an agent that may do what it asks for", () => {
    const acp = { kind: "acp", command: "x" };
    expect(paths(agent({ ...acp, permissions: "allow" }))).toEqual([
      "agents.list[0].driver.permissions",
    ]);
    const kinds = (...allowKinds: string[]) =>
      agent({ ...acp, permissions: "allowlist", allowKinds });
    expect(paths(kinds("read", "execute"))).toEqual(["agents.list[0].driver.allowKinds"]);
    expect(paths(kinds("read", "search"))).toEqual([]);
    expect(paths(agent(acp))).toEqual([]);
  });

  test("code in the daemon, and models spoken to in the clear", () => {
    expect(paths(agent({ kind: "module", module: "./agent.mjs" }))).toEqual([
      "agents.list[0].driver.module",
    ]);
    const model = { kind: "model", provider: "openai-compatible", model: "m" };
    const far = "http://models.example.com/v1";
    expect(paths(agent({ ...model, baseUrl: far }))).toEqual(["agents.list[0].driver.baseUrl"]);
    expect(paths(agent({ ...model, baseUrl: "http://127.0.0.1:11434/v1" }))).toEqual([]);
    const fallbacks = [{ provider: "openai-compatible", model: "m", baseUrl: far }];
    expect(paths(agent({ ...model, baseUrl: "https://a.example/v1", fallbacks }))).toEqual([
      "agents.list[0].driver.fallbacks[0].baseUrl",
    ]);
  });

  test("converters, wherever they are said", () => {
    const command = { kind: "command" as const, command: "x", args: ["{file}"], env: ["A_SECRET"] };
    expect(paths({ media: { audio: command } })).toEqual(["media.audio.env"]);
    const speech = { ...command, mime: "audio/ogg" };
    expect(paths({ channels: telegram({ media: { speech } }) })).toEqual([
      "channels.telegram.media.speech.env",
    ]);
    const list = [{ id: "main", media: { links: { kind: "extract" as const } } }];
    expect(paths({ agents: { list } })).toEqual(["agents.list[0].media.links"]);
    const video = {
      kind: "model" as const,
      baseUrl: "http://models.example.com/v1",
      model: "m",
      frame: { command: "ffmpeg", args: ["{file}"], env: ["LD_LIBRARY_PATH"] },
    };
    expect(paths({ media: { video } })).toEqual(["media.video.frame.env", "media.video.baseUrl"]);
  });

  test("plugins, a guard that is off, a store that forgets, a log that tells", () => {
    expect(paths({ plugins: ["a", "b"] })).toEqual(["plugins[0]", "plugins[1]"]);
    expect(paths({ loopGuard: { hardLimit: 0 } })).toEqual(["loopGuard.hardLimit"]);
    expect(paths({ store: { driver: "memory" } })).toEqual(["store.driver"]);
    expect(paths({ log: { showText: true } })).toEqual(["log.showText"]);
  });
});
