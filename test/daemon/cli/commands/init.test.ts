/**
 * `earshot init` as a person meets it: questions on a real terminal (tmux), a token that is tried on a
 * Bot API server of this process, and what is written in the end; and without questions.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configFromText } from "../../../../src/adapters/files/config-file.ts";
import { readSecrets } from "../../../../src/daemon/state/secrets-file.ts";
import { builtMain } from "../../../support/built/files.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { earshot } from "../../../support/runtime/commands.ts";
import { startModelServer } from "../../../support/servers/openai.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../../support/servers/telegram.ts";

let telegram: TelegramServer;
beforeAll(async () => {
  telegram = await startTelegramServer();
});
afterAll(() => telegram.close());

const modeOf = (path: string) => statSync(path).mode & 0o777;
const wrongToken = "1234:token-of-a-bot-that-is-not-there";

describe("with --yes", () => {
  const init = (path: string, env: Record<string, string>, ...more: string[]) =>
    earshot(["init", "--yes", "--config", path, ...more], {
      TELEGRAM_BOT_TOKEN: "",
      TELEGRAM_API_ROOT: telegram.apiRoot,
      ...env,
    });
  const written = (path: string) =>
    configFromText(readFileSync(path, "utf8"), path, { env: { TELEGRAM_BOT_TOKEN: sampleToken } })
      .config;

  test("writes what runs without anything, and no bot", async () => {
    const path = join(newFolder(), "earshot.json5");
    expect(await init(path, {})).toMatchObject({ code: 0, err: "" });
    expect(written(path).channels.telegram).toBeUndefined();
    expect(modeOf(path)).toBe(0o600);
  });

  test("tries the environment's token, and points to it without writing it down", async () => {
    const path = join(newFolder(), "earshot.json5");
    const { code, out } = await init(path, { TELEGRAM_BOT_TOKEN: sampleToken });
    expect([code, out]).toEqual([0, expect.stringContaining("Connected as @scout_bot (4242)")]);
    expect(readFileSync(path, "utf8")).not.toContain(sampleToken);
    expect(out).not.toContain(sampleToken);
    expect(written(path).channels.telegram?.accounts?.default?.botToken).toBe(sampleToken);
  });

  test("writes nothing where the token is refused or malformed", async () => {
    const path = join(newFolder(), "earshot.json5");
    const refused = await init(path, { TELEGRAM_BOT_TOKEN: wrongToken });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("was refused")]);
    const odd = await init(path, { TELEGRAM_BOT_TOKEN: "no token" });
    expect([odd.code, odd.err]).toEqual([1, expect.stringContaining("EAR_CHANNEL_CONFIG")]);
    expect(existsSync(path)).toBe(false);
  });

  test("takes a token at its word while nobody can be asked", async () => {
    const path = join(newFolder(), "earshot.json5");
    const away = { TELEGRAM_BOT_TOKEN: sampleToken, TELEGRAM_API_ROOT: "http://127.0.0.1:9" };
    const { code, err } = await init(path, away);
    expect([code, err]).toEqual([0, expect.stringContaining("EAR_CHANNEL_UNAVAILABLE")]);
    expect(written(path).channels.telegram).toBeDefined();
  });

  test("leaves what is there, and with --force shuts it to others", async () => {
    const path = join(newFolder(), "earshot.json5");
    writeFileSync(path, "{}");
    chmodSync(path, 0o644);
    expect(await init(path, {})).toMatchObject({ code: 2, out: "" });
    expect(readFileSync(path, "utf8")).toBe("{}");
    expect((await init(path, {}, "--force")).code).toBe(0);
    expect(modeOf(path)).toBe(0o600);
  });
});

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

describe("on a terminal", () => {
  const socket = `earshot-init-${process.pid}`;
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-L", socket, ...args], { encoding: "utf8" });

  // A tmux ends with its last session, and what comes just then finds none.
  beforeAll(() => void (hasTmux && tmux("new-session", "-d", "-s", "kept", "sleep 600")));
  afterAll(() => void (hasTmux && tmux("kill-server")));

  /** Before the question that is asked now; those that were answered stay on the screen, with another sign. */
  const asks = "◆  ";

  /** Waits for a question, then types an answer. A yes or no needs no return. */
  async function answer(question: string, keys: string, enter = true): Promise<void> {
    let screen = "";
    for (let tries = 0; tries < 1_200; tries += 1) {
      screen = tmux("capture-pane", "-p", "-t", "init");
      if (screen.includes(question)) break;
      // Each look is a process.
      await new Promise((go) => setTimeout(go, 150));
    }
    expect(screen).toContain(question);
    const typed = keys === "" ? [] : [["send-keys", "-t", "init", "-l", "--", keys]];
    const entered = enter ? [["send-keys", "-t", "init", "Enter"]] : [];
    const [first = [], ...next] = [...typed, ...entered];
    if (first.length > 0) tmux(...first, ...next.flatMap((command) => [";", ...command]));
  }

  test.skipIf(!hasTmux)(
    "asks, tries the token, asks again where it is wrong, and writes a valid config",
    async () => {
      const stateDir = join(newFolder(), "state");
      const path = join(stateDir, "earshot.json5");
      const run = `${process.execPath} ${builtMain} init --state-dir ${stateDir}`;
      const env = `TELEGRAM_API_ROOT=${telegram.apiRoot} TELEGRAM_BOT_TOKEN= NO_COLOR=1`;
      const size = ["-x", "80", "-y", "60"];
      tmux("new-session", "-d", "-s", "init", ...size, `${env} ${run}; echo "ended $?"; sleep 60`);
      try {
        await answer("Name of your agent?", "Two");
        await answer("Which model?", "");
        await answer("Which channel,", "j");
        await answer("Bot token?", wrongToken);
        await answer("Bot API server?", "");
        await answer("Use the current one from", sampleToken);
        await answer(`${asks}Bot API server?`, "");
        await answer("Your own Telegram id", "77");
        await answer("Id of a group to listen to?", "-100123");
        await answer("ended 0", "");
        const screen = tmux("capture-pane", "-p", "-t", "init");
        expect(screen).toContain("Connected as @scout_bot (4242)");
        expect(screen).toContain(`next: earshot start --state-dir ${stateDir}`);
        expect(screen).not.toContain(sampleToken);
        for (const line of screen.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
      } finally {
        tmux("kill-session", "-t", "init");
      }
      const text = readFileSync(path, "utf8");
      expect(text).not.toContain(sampleToken);
      expect(readSecrets(stateDir)).toEqual({ TELEGRAM_BOT_TOKEN: sampleToken });
      const { config } = configFromText(text, path, { env: readSecrets(stateDir) });
      expect(config.agents.list[0]?.name).toBe("Two");
      expect(config.channels.telegram?.accounts?.default?.botToken).toBe(sampleToken);
      expect(config.commands.ownerAllowFrom).toEqual(["telegram:77"]);
      expect(Object.keys(config.access.groups)).toEqual(["telegram:-100123"]);
      expect([modeOf(path), modeOf(stateDir)]).toEqual([0o600, 0o700]);
    },
    600_000,
  );

  test.skipIf(!hasTmux)(
    "lists the models of a server, shows its first words, and keeps its key out of the config",
    async () => {
      const model = await startModelServer();
      const key = "sk-a-key-that-no-screen-may-show";
      model.key = key;
      model.reply({ say: ["Hello, ", "I am Two."], everyMs: 20 });
      const stateDir = join(newFolder(), "state");
      const run = `${process.execPath} ${builtMain} init --state-dir ${stateDir}`;
      const size = ["-x", "80", "-y", "60"];
      const line = `TELEGRAM_BOT_TOKEN= NO_COLOR=1 ${run}; echo "ended $?"; sleep 60`;
      tmux("new-session", "-d", "-s", "init", ...size, line);
      try {
        await answer("Name of your agent?", "Two");
        await answer("Which model?", "jj");
        await answer("What is it for?", "You count.");
        await answer("Base URL?", "", false);
        tmux("send-keys", "-t", "init", "-N", "40", "BSpace");
        await answer("Base URL?", model.baseUrl);
        await answer("API key? (optional)", "sk-wrong");
        await answer("refuses the key (HTTP 401)", "y", false);
        await answer(`${asks}Base URL?`, "");
        await answer(`${asks}API key? (optional)`, key);
        await answer("Choose a model", "");
        await answer("Try it now?", "y", false);
        await answer("Hello, I am Two.", "", false);
        await answer("Which channel,", "");
        await answer("ended 0", "");
        const screen = tmux("capture-pane", "-p", "-t", "init");
        expect(screen).not.toContain(key);
      } finally {
        tmux("kill-session", "-t", "init");
        await model.close();
      }
      const path = join(stateDir, "earshot.json5");
      const text = readFileSync(path, "utf8");
      expect(text).not.toContain(key);
      expect(readSecrets(stateDir)).toEqual({ MODEL_API_KEY: key });
      const { config } = configFromText(text, path, { env: readSecrets(stateDir) });
      expect(config.agents.list[0]).toMatchObject({
        name: "Two",
        purpose: "You count.",
        driver: { kind: "model", model: "small", baseUrl: model.baseUrl, apiKey: key },
      });
    },
    600_000,
  );

  test.skipIf(!hasTmux)(
    "into a file that is there, shows what changes, and writes only that",
    async () => {
      const stateDir = join(newFolder(), "state");
      const path = join(stateDir, "earshot.json5");
      mkdirSync(stateDir, { mode: 0o700 });
      const before = `// Mine.
{
  channels: { webhook: {} }, // for the shop
  agents: { list: [{ id: "main", name: "Old" }] },
}
`;
      writeFileSync(path, before, { mode: 0o600 });
      const run = `${process.execPath} ${builtMain} init --state-dir ${stateDir}`;
      const env = `TELEGRAM_API_ROOT=${telegram.apiRoot} TELEGRAM_BOT_TOKEN= NO_COLOR=1`;
      const size = ["-x", "120", "-y", "80"];
      tmux("new-session", "-d", "-s", "init", ...size, `${env} ${run}; echo "ended $?"; sleep 60`);
      try {
        await answer("Name of your agent?", "New");
        await answer("Keep the current one (guide)", "");
        await answer("Which channel,", "j");
        await answer("Bot token?", sampleToken);
        await answer("Bot API server?", "");
        await answer("Write it?", "y", false);
        await answer("ended 0", "");
        const screen = tmux("capture-pane", "-p", "-t", "init");
        expect(screen).toContain("Connected as @scout_bot (4242)");
        expect(screen).toContain('-  agents: { list: [{ id: "main", name: "Old" }] },');
        expect(screen).toContain('+  agents: { list: [{ id: "main", name: "New" }] },');
        expect(screen).not.toContain(sampleToken);
      } finally {
        tmux("kill-session", "-t", "init");
      }
      expect(readFileSync(`${path}.bak`, "utf8")).toBe(before);
      expect(readSecrets(stateDir)).toEqual({ TELEGRAM_BOT_TOKEN: sampleToken });
      const text = readFileSync(path, "utf8");
      for (const kept of ["// Mine.", "// for the shop"]) expect(text).toContain(kept);
      expect(JSON5.parse(text)).toEqual({
        channels: {
          webhook: {},
          telegram: {
            accounts: {
              default: { botToken: `\${TELEGRAM_BOT_TOKEN}`, apiRoot: telegram.apiRoot },
            },
          },
        },
        agents: { list: [{ id: "main", name: "New" }] },
      });
    },
    600_000,
  );
});
