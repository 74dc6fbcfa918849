/**
 * `earshot channels add`: a platform by its own questions, tried on a server of this process, into a
 * file that is there or a new one; and without questions.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSecrets, storeSecrets } from "../../../../src/daemon/state/secrets-file.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { earshot } from "../../../support/runtime/commands.ts";
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

function newState() {
  const stateDir = join(newFolder(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const path = join(stateDir, "earshot.json5");
  const env = () => ({ TELEGRAM_BOT_TOKEN: "", TELEGRAM_API_ROOT: telegram.apiRoot });
  const add = (platform: string, more: Record<string, string> = {}, ...args: string[]) =>
    earshot(["channels", "add", platform, "--yes", "--state-dir", stateDir, ...args], {
      ...env(),
      ...more,
    });
  return { stateDir, path, add };
}

test("writes the account into the file that is there, and shows what it writes", async () => {
  const { path, add } = newState();
  const before = "// Mine.\n{\n  channels: {\n    webhook: {}, // for the shop\n  },\n}\n";
  writeFileSync(path, before, { mode: 0o600 });
  telegram.world.hearsAll = false;
  const { code, out, err } = await add("telegram", { TELEGRAM_BOT_TOKEN: sampleToken });
  telegram.world.hearsAll = true;
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("Connected as @scout_bot (4242)");
  expect(out).toContain("! Privacy mode is on");
  expect(out).toContain("+    telegram: { accounts: { default: {");
  expect(out).not.toContain(sampleToken);
  expect(readFileSync(`${path}.bak`, "utf8")).toBe(before);
  const text = readFileSync(path, "utf8");
  for (const kept of ["// Mine.", "// for the shop"]) expect(text).toContain(kept);
  expect(JSON5.parse(text).channels.telegram.accounts.default).toEqual({
    botToken: `\${TELEGRAM_BOT_TOKEN}`,
    apiRoot: telegram.apiRoot,
  });
});

test("makes a file where there is none, and takes a secret that is stored", async () => {
  const { stateDir, path, add } = newState();
  await storeSecrets(stateDir, { TELEGRAM_BOT_TOKEN_WORK: sampleToken });
  const work = { TELEGRAM_API_ROOT_WORK: telegram.apiRoot };
  expect((await add("telegram", work, "--account", "work")).code).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON5.parse(readFileSync(path, "utf8")).channels.telegram.accounts).toEqual({
    work: { botToken: `\${TELEGRAM_BOT_TOKEN_WORK}`, apiRoot: telegram.apiRoot },
  });
  expect(readSecrets(stateDir)).toEqual({ TELEGRAM_BOT_TOKEN_WORK: sampleToken });
  const again = await add("telegram", work, "--account", "work");
  expect(again.out).toContain("no changes to");
});

test("writes nothing that the platform refuses, that lacks an answer, or that is no channel", async () => {
  const { path, add } = newState();
  const token = { TELEGRAM_BOT_TOKEN: "1234:token-of-a-bot-that-is-not-there" };
  const refused = await add("telegram", token);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("was refused")]);
  const lacking = await add("irc", { IRC_NICK: "scout" });
  expect([lacking.code, lacking.err]).toEqual([2, expect.stringContaining("set IRC_HOST")]);
  const unknown = await add("carrier-pigeon");
  expect([unknown.code, unknown.err]).toEqual([
    2,
    expect.stringContaining("unknown platform. Known: telegram"),
  ]);
  expect((await add("telegram", {}, "--account", "a b")).code).toBe(2);
  expect(existsSync(path)).toBe(false);
});
