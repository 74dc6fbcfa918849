/**
 * Setting up by the API of a real daemon: models of a server, the first words of an agent, the account
 * of a token, the diff, and the file that is written. Keys are only in the file of secrets.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import JSON5 from "json5";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answersSchema, type SetupAnswers } from "../../../src/daemon/setup/answers.ts";
import { planOf } from "../../../src/daemon/setup/plan.ts";
import { readSecrets } from "../../../src/daemon/state/secrets-file.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { type HookDaemon, openHookDaemon } from "../../support/daemon/hook-daemon.ts";
import { property } from "../../support/property.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../support/servers/telegram.ts";

const key = "sk-a-key-that-no-answer-may-show";
const agent = { name: "Scout", purpose: "You keep the reading list.", aliases: ["librarian"] };
let model: ModelServer;
let telegram: TelegramServer;
let door: HookDaemon;

beforeAll(async () => {
  [model, telegram] = await Promise.all([startModelServer(), startTelegramServer()]);
});
afterAll(() => Promise.all([model.close(), telegram.close()]));
beforeEach(async () => {
  Object.assign(model, { key: null, models: ["small", "large"] });
  telegram.world.hearsAll = true;
  door = await openHookDaemon();
});

const file = () => join(door.daemon.stateDir, "earshot.json5");
async function ask(path: string, body?: object): Promise<{ status: number; answer: Answer }> {
  const response = await door.api(
    path,
    body === undefined
      ? undefined
      : {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        },
  );
  const text = await response.text();
  expect(text).not.toContain(key);
  expect(text).not.toContain(sampleToken);
  const isLines = response.headers.get("content-type")?.includes("ndjson") ?? false;
  const answer = isLines
    ? text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
  return { status: response.status, answer };
}
// biome-ignore lint/suspicious/noExplicitAny: answers are compared as a whole
type Answer = any;
const server = () => ({ provider: "openai-compatible", baseUrl: model.baseUrl }) as const;
const driver = () => ({ kind: "model", model: "small", ...server() }) as const;

describe("a model", () => {
  test("is chosen from the list of its server, which takes the key", async () => {
    model.key = key;
    const { answer } = await ask("/api/setup/models", { ...server(), key });
    expect(answer).toEqual({ models: ["small", "large"] });
    const refused = await ask("/api/setup/models", { ...server(), key: `${key}-wrong` });
    expect(refused).toMatchObject({
      status: 400,
      answer: { error: { message: expect.stringContaining("refuses the key (HTTP 401)") } },
    });
  });

  test("says its first words as they come, and why it cannot", async () => {
    model.reply({ say: ["Hel", "lo."] });
    const { answer } = await ask("/api/setup/try", { agent, driver: driver(), key });
    expect(answer).toEqual([{ text: "Hel" }, { text: "lo." }]);
    expect(model.requests.at(-1)).toMatchObject({ authorization: `Bearer ${key}`, tools: [] });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(agent.purpose);
    model.reply({ status: 401, body: JSON.stringify({ error: { message: `no ${key}` } }) });
    const failed = await ask("/api/setup/try", { agent, driver: driver(), key });
    expect(failed.answer).toEqual([{ problem: expect.stringMatching(/^auth: .*HTTP 401/u) }]);
  });
});

describe("a channel", () => {
  const channel = (botToken: string) => ({
    id: "telegram",
    fields: { botToken, apiRoot: telegram.apiRoot },
  });

  test("is tried with its token: the bot's name, and what keeps messages from it", async () => {
    const open = await ask("/api/setup/channel", channel(sampleToken));
    expect(open.answer).toEqual({ id: "4242", name: "@scout_bot", notes: [] });
    telegram.world.hearsAll = false;
    const closed = await ask("/api/setup/channel", channel(sampleToken));
    expect(closed.answer.notes).toEqual([expect.stringContaining("/setprivacy")]);
  });

  test("with a refused token is refused, and with a token of another form as well", async () => {
    for (const token of ["4242:AAH-another-token-that-is-not-of-the-bot", "no token"])
      expect(await ask("/api/setup/channel", channel(token))).toMatchObject({ status: 400 });
  });
});

describe("the file", () => {
  const answers = () => ({
    agent,
    driver: driver(),
    key,
    channel: { id: "telegram", fields: { botToken: sampleToken, apiRoot: telegram.apiRoot } },
  });
  const written = `// Mine.
{
  channels: { webhook: {} }, // for the shop
  agents: { list: [{ id: "main", name: "Old" }] },
}
`;

  test("changes as the diff shows; comments stay, a copy too, and the daemon follows", async () => {
    writeFileSync(file(), written);
    const { answer: plan } = await ask("/api/setup/plan", answers());
    expect(plan).toMatchObject({ path: file(), exists: true });
    expect(plan.lines.join("\n")).toContain("-  agents: { list: [");
    expect(plan.lines.join("\n")).toContain(`apiKey: "\${MODEL_API_KEY}"`);
    expect(readFileSync(file(), "utf8")).toBe(written);

    const { answer } = await ask("/api/setup/write", { answers: answers(), token: plan.token });
    expect(answer).toMatchObject({ path: file(), applied: true, copy: `${file()}.bak` });
    expect(readFileSync(`${file()}.bak`, "utf8")).toBe(written);
    const text = readFileSync(file(), "utf8");
    expect(text).toContain("// Mine.");
    expect(text).toContain("// for the shop");
    expect(text).not.toContain(key);
    expect(JSON5.parse(text)).toEqual({
      channels: {
        webhook: {},
        telegram: {
          accounts: {
            default: { botToken: `\${TELEGRAM_BOT_TOKEN}`, apiRoot: telegram.apiRoot },
          },
        },
      },
      agents: {
        list: [{ id: "main", ...agent, driver: { ...driver(), apiKey: `\${MODEL_API_KEY}` } }],
      },
    });
    const { stateDir } = door.daemon;
    expect(readSecrets(stateDir)).toEqual({ MODEL_API_KEY: key, TELEGRAM_BOT_TOKEN: sampleToken });
    expect(statSync(join(stateDir, "secrets.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(stateDir).filter((name) => name.endsWith(".new"))).toEqual([]);

    expect((await ask("/api/setup")).answer).toMatchObject({
      agent,
      driver: { model: "small", hasKey: true },
      channels: expect.arrayContaining([
        expect.objectContaining({ id: "telegram", isConfigured: true }),
        expect.objectContaining({ id: "irc", isConfigured: false }),
      ]),
    });
    expect(door.log.join("\n")).not.toContain(key);
    // The key is known now: it need not be pasted again.
    model.key = key;
    expect((await ask("/api/setup/models", server())).answer.models).toEqual(["small", "large"]);
    const again = await ask("/api/setup/plan", {
      agent,
      driver: driver(),
      channel: { id: "telegram", fields: { botToken: sampleToken, apiRoot: telegram.apiRoot } },
    });
    expect(again.answer.lines).toEqual([]);
  });

  test("a new key under the same name is in force, though the file stays as it is", async () => {
    const write = async (pasted: string) => {
      const now = { agent, driver: driver(), key: pasted, channel: null };
      const { answer: plan } = await ask("/api/setup/plan", now);
      return ask("/api/setup/write", { answers: now, token: plan.token });
    };
    await write(`${key}-1`);
    model.key = `${key}-2`;
    const before = readFileSync(file(), "utf8");
    expect((await write(`${key}-2`)).answer).toMatchObject({
      path: file(),
      applied: true,
      copy: null,
    });
    expect(readFileSync(file(), "utf8")).toBe(before);
    expect((await ask("/api/setup/models", server())).status).toBe(200);
  });

  test("is not written over a change that was made meanwhile", async () => {
    const { answer: plan } = await ask("/api/setup/plan", answers());
    writeFileSync(file(), written);
    const late = await ask("/api/setup/write", { answers: answers(), token: plan.token });
    expect(late).toMatchObject({
      status: 409,
      answer: { error: { message: expect.stringContaining("it changed in the meantime") } },
    });
    expect(readFileSync(file(), "utf8")).toBe(written);
    expect(existsSync(join(door.daemon.stateDir, "secrets.json"))).toBe(false);
  });

  test("is not written with what would be invalid", async () => {
    const before = readFileSync(file(), "utf8");
    const bad = { ...answers(), channel: { id: "telegram", fields: { apiRoot: "no address" } } };
    expect(await ask("/api/setup/plan", bad)).toMatchObject({
      status: 400,
      answer: { error: { message: expect.stringContaining("channels.telegram.accounts.default") } },
    });
    expect(readFileSync(file(), "utf8")).toBe(before);
  });
});

test("secrets that others may read are refused, with the command that repairs it", () => {
  const folder = newFolder();
  const path = join(folder, "secrets.json");
  expect(readSecrets(folder)).toEqual({});
  writeFileSync(path, '{ "A_KEY": "x" }', { mode: 0o600 });
  expect(readSecrets(folder)).toEqual({ A_KEY: "x" });
  chmodSync(path, 0o644);
  expect(() => readSecrets(folder)).toThrow(`chmod 600 ${path}`);
  chmodSync(path, 0o600);
  writeFileSync(path, '["x"]');
  expect(() => readSecrets(folder)).toThrow("it is not an object");
});

const names = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text);
const someAnswers: fc.Arbitrary<SetupAnswers> = fc.record({
  agent: fc.record({
    name: names,
    purpose: fc.string({ maxLength: 60 }).map((text) => text.trim()),
    aliases: fc.array(names, { maxLength: 3 }),
  }),
  driver: fc.option(
    fc.record({ kind: fc.constant("command" as const), command: names, args: fc.array(names) }),
  ),
  channel: fc.constant(null),
});
property([someAnswers, fc.constantFrom("", "agents: { list: [] }, ", "agents: {}, "), fc.string()])(
  "what was answered is in the file once, everything else stays, and once more changes nothing",
  (answers, section, note) => {
    fc.pre(answersSchema.safeParse(answers).success && !note.includes("*/"));
    const text = `{ /* ${note} */ ${section}log: { level: "debug" } }`;
    const input = { path: "x", channels: new Map(), has: () => false };
    const once = planOf({ ...input, text, answers });
    const { agents, ...rest } = JSON5.parse(once.text);
    expect(rest).toEqual({ log: { level: "debug" } });
    expect(agents.list).toHaveLength(1);
    expect(agents.list[0].name).toBe(answers.agent.name);
    expect(agents.list[0].purpose ?? "").toBe(answers.agent.purpose);
    expect(agents.list[0].aliases ?? []).toEqual(answers.agent.aliases);
    if (answers.driver !== null) expect(agents.list[0].driver).toMatchObject({ kind: "command" });
    expect(once.text).toContain(`/* ${note} */`);
    expect(planOf({ ...input, text: once.text, answers }).text).toBe(once.text);
  },
);
