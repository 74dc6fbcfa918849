/**
 * The daemon changed from a room: values in the config file or over it in memory, overrides that an
 * earlier version stored, and a new start in the same process.
 */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DaemonOptions } from "../../../src/daemon/daemon.ts";
import {
  type RestartableDaemon,
  startRestartableDaemon,
} from "../../../src/daemon/restartable-daemon.ts";
import { runCommand } from "../../support/built/command.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";
import { inTurn } from "../../support/rounds.ts";

interface RunningDaemon {
  readonly kept: RestartableDaemon;
  readonly failures: unknown[];
  /** Resolves with the next daemon. */
  next(): Promise<void>;
  readonly log: string[];
}

async function openDaemon(stateDir: string, more: DaemonOptions = {}): Promise<RunningDaemon> {
  const failures: unknown[] = [];
  const log: string[] = [];
  let replies: () => void = () => undefined;
  const base = { stateDir, port: 0, workers: 0, env: {} };
  const kept = await startRestartableDaemon(
    { ...base, writeLog: (line) => void log.push(line), ...more },
    {
      restarted: () => replies(),
      failed: (error) => {
        failures.push(error);
        replies();
      },
    },
  );
  onTestFinished(() => kept.stop());
  const next = () =>
    new Promise<void>((resolve) => {
      replies = resolve;
    });
  return { kept, failures, next, log };
}

/** Says things on the page and gives the answers. */
async function talk({ kept }: RunningDaemon, ...texts: string[]): Promise<string[]> {
  const { base, token } = kept.current();
  const page = await openPage(base, token);
  await page.wait("ready");
  const answers: string[] = [];
  for (const text of texts) {
    const id = page.say(text);
    const taken = await page.wait("taken", (frame) => frame.id === id);
    answers.push((await page.wait("said", ({ n }) => n > taken.n)).text);
  }
  page.close();
  return answers;
}

/** What `earshot config show` prints about a place. */
async function configShow(stateDir: string, path: string): Promise<string> {
  const env = { HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
  const { code, out, err } = await runCommand(["config", "show", path], { env });
  expect([code, err]).toEqual([0, ""]);
  return out;
}

/** Overrides as an earlier version stored them. */
const stored = (stateDir: string, ...values: object[]) =>
  writeFile(join(stateDir, "config-set.json"), JSON.stringify({ values }), { mode: 0o600 });

describe("a value that an owner sets", () => {
  test("is written to the config file, with its comments kept, and can be undone", async () => {
    const stateDir = newFolder();
    const file = join(stateDir, "earshot.json5");
    const written = '{\n  // mine\n  log: { level: "info" }, // here, too\n}\n';
    await writeFile(file, written, { mode: 0o600 });
    const first = await openDaemon(stateDir);
    expect(await talk(first, "/config set engagement.activation mention")).toEqual([
      '`engagement.activation` is now `"mention"`.\n```diff\n' +
        '+  engagement: { activation: "mention" },\n```\n' +
        "/config undo reverts this. The previous file is `earshot.json5.bak`.",
    ]);
    expect(await readFile(file, "utf8")).toBe(
      written.replace("{\n", '{\n  engagement: { activation: "mention" },\n'),
    );
    expect(await readFile(`${file}.bak`, "utf8")).toBe(written);
    expect(await talk(first, "/config get engagement.activation", "/status", "/debug")).toEqual([
      expect.stringContaining('"mention"'),
      expect.stringContaining("Engagement: mention"),
      "There are no overrides of the config file.",
    ]);
    await expect(stat(join(stateDir, "config-set.json"))).rejects.toThrow("ENOENT");
    expect(await talk(first, "/config set engagement.activation mention")).toEqual([
      "`engagement.activation` already has this value in the config file.",
    ]);
    await first.kept.stop();

    const second = await openDaemon(stateDir);
    expect(
      await talk(second, "/config get engagement.activation", "/config undo", "/config undo"),
    ).toEqual([
      expect.stringContaining('"mention"'),
      expect.stringMatching(/^Undone: `engagement\.activation changed by webchat:\w+`\.$/),
      "There is nothing to undo, or the config file has changed since.",
    ]);
    expect(await readFile(file, "utf8")).toBe(written);
    expect(await talk(second, "/config get engagement.activation")).toEqual([
      expect.stringContaining('"ladder"'),
    ]);
  });

  test("makes a file where there is none, in a list, too; unset takes it out", async () => {
    const stateDir = newFolder();
    const one = await openDaemon(stateDir);
    await talk(one, "/config set agents.list.0.name Scout", "/config set context.size 7");
    const file = join(stateDir, "earshot.json5");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await talk(one, "/config get agents.list.0.name", "/config get context.size")).toEqual([
      expect.stringContaining('"Scout"'),
      expect.stringContaining("7"),
    ]);
    expect(await talk(one, "/config unset context.size", "/config unset context.size")).toEqual([
      expect.stringContaining("`context.size` is no longer set."),
      "The config file does not set `context.size`.",
    ]);
    expect(await readFile(file, "utf8")).not.toContain("size");
    expect((await talk(one, "/config set agents.list.4.name Nobody"))[0]).toBe(
      "Nothing was changed. Cannot set agents.list.4.name: the config file has no such entry",
    );
  });

  test("replaces an override that an earlier version stored; one that is left stays over the file", async () => {
    const stateDir = newFolder();
    const file = join(stateDir, "earshot.json5");
    await writeFile(file, "{ context: { size: 7 } }", { mode: 0o600 });
    const by = "telegram:7";
    await stored(
      stateDir,
      { path: "engagement.activation", value: "mention", by },
      { path: "context.size", value: 5, by },
      { path: "stream.maxChars", value: 900, by },
    );
    const one = await openDaemon(stateDir);
    expect(await configShow(stateDir, "engagement.activation")).toMatch(
      /^engagement\.activation +set in a chat by telegram:7 +"mention"$/m,
    );
    await talk(one, "/config set engagement.activation always");
    await writeFile(file, '{ context: { size: 9 }, engagement: { activation: "always" } }');
    expect(
      await talk(
        one,
        "/config get engagement.activation",
        "/config get context.size",
        "/debug",
        "/config unset stream.maxChars",
      ),
    ).toEqual([
      expect.stringContaining('"always"'),
      expect.stringContaining("5"),
      "`context.size` is `5`: telegram:7, kept\n`stream.maxChars` is `900`: telegram:7, kept",
      "The override is removed.",
    ]);
  });

  const refusals = [
    ["/config set access.dmPolicy open", /access is not set this way/],
    ['/config set commands.ownerAllowFrom ["telegram:7"]', /access is not set this way/],
    ["/config set channels.telegram.accounts.default.botToken 12:abc", /secrets|only the file/],
    ["/config set agents.list.0.driver.command /bin/sh", /only the file/],
    ['/config set plugins ["./x.mjs"]', /programs/],
    ["/debug set store.driver memory", /on the machine itself/],
    ["/config set engagement.activation sometimes", /engagement\.activation is invalid/],
    ["/config set engagement.nonsense 1", /Cannot set that: unknown key "nonsense" in engagement/],
    ["/config set engagment.activation x", /Did you mean "engagement"\?$/],
    ["/config set __proto__.x 1", /Cannot set \\_\\_proto\\_\\_\.x from a room/],
  ] as const;

  test("is refused with the reason: access, secrets, programs, and what does not fit", async () => {
    const stateDir = newFolder();
    const one = await openDaemon(stateDir);
    for (const [text, why] of refusals) {
      const [answer] = await talk(one, text);
      expect(answer, text).toMatch(/^Nothing was changed\. Cannot/);
      expect(answer, text).toMatch(why);
    }
    await expect(stat(join(stateDir, "config-set.json"))).rejects.toThrow("ENOENT");
    expect(await talk(one, "/debug")).toEqual(["There are no overrides of the config file."]);
  });

  test("for debugging is gone at a restart, or when it is taken back", async () => {
    const one = await openDaemon(newFolder());
    await talk(one, "/debug set context.size 5", "/debug set stream.maxChars 900");
    expect(await talk(one, "/config get context.size", "/debug unset context.size")).toEqual([
      expect.stringContaining("5"),
      "Override removed: `context.size`.",
    ]);
    expect(await talk(one, "/debug reset")).toEqual(["Override removed: `stream.maxChars`."]);
    await talk(one, "/debug set context.size 5");
    const next = one.next();
    await talk(one, "/restart");
    await next;
    expect((await talk(one, "/config get context.size"))[0]).not.toContain("```json\n5\n");
  });

  test("that does not fit any more is left out of the start, and told", async () => {
    const stateDir = newFolder();
    await stored(stateDir, { path: "engagement.activation", value: "gone", by: "telegram:7" });
    const one = await openDaemon(stateDir);
    expect(one.log.join("")).toContain("config.overrides-ignored");
    expect((await talk(one, "/config get engagement.activation"))[0]).toContain("ladder");
  });

  test("in a file of somebody else's making that says too much stops the start", async () => {
    const stateDir = newFolder();
    await stored(stateDir, { path: "access.dmPolicy", value: "open", by: "telegram:7" });
    await expect(openDaemon(stateDir)).rejects.toThrow(/config-set\.json.*delete it/s);
  });
});

describe("a restart from a room", () => {
  test.each(inTurn([0, 1], 1))(
    "answers, starts anew with the config as it is, and says so: workers %s",
    async (workers) => {
      const stateDir = newFolder();
      const one = await openDaemon(stateDir, { workers });
      const before = one.kept.current();
      const next = one.next();
      expect(await talk(one, "/restart")).toEqual(["Restarting after the current work finishes."]);
      await writeFile(join(stateDir, "earshot.json5"), "{ context: { size: 3 } }", { mode: 0o600 });
      await next;
      const after = one.kept.current();
      expect(one.failures).toEqual([]);
      expect(after).not.toBe(before);
      expect(after.base).toBe(before.base);
      const page = await openPage(after.base, after.token);
      await page.wait("said", ({ text }) => text === "I am back.");
      page.close();
      expect((await talk(one, "/config get context.size"))[0]).toContain("3");
      await one.kept.stop();
      // It is said once.
      const again = await openDaemon(stateDir);
      const last = await openPage(again.kept.current().base, again.kept.current().token);
      await last.wait("said", ({ text }) => text === "I am back.");
      await talk(again, "/whoami");
      expect(last.of("said").filter(({ text }) => text === "I am back.")).toHaveLength(1);
      last.close();
    },
  );

  test("is refused while the config file is wrong", async () => {
    const stateDir = newFolder();
    const file = join(stateDir, "earshot.json5");
    await writeFile(file, "{}", { mode: 0o600 });
    const one = await openDaemon(stateDir);
    const before = one.kept.current();
    await writeFile(file, "{ engagment: {} }");
    const [answer] = await talk(one, "/restart");
    expect(answer).toMatch(/^Not now: .*engagment/);
    expect(one.kept.current()).toBe(before);
    expect((await talk(one, "/whoami"))[0]).toContain("owner");
  });
});
