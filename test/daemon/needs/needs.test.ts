/**
 * What needs a person, on a real daemon: each source is one entry, does what its button says, and
 * ends by itself when it is over.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Need, NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import { limits } from "../../../src/domain/limits.ts";
import { builtPages } from "../../support/built/files.ts";
import {
  createLiveDaemon,
  group,
  type LiveDaemon,
  person,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { call } from "../../support/daemon/room-daemon.ts";
import { earshot } from "../../support/runtime/commands.ts";
import { startModelServer } from "../../support/servers/openai.ts";
import { sampleToken, startTelegramServer } from "../../support/servers/telegram.ts";

let daemon: LiveDaemon;
afterEach(() => daemon.close());

async function daemonWith(config: Readonly<Record<string, unknown>> = {}): Promise<void> {
  daemon = await createLiveDaemon({ pagesDir: builtPages, config });
  await daemon.start();
}
const read = async () => (await daemon.ask("/needs")) as NeedsAnswer;
const find = async <Kind extends Need["kind"]>(kind: Kind) =>
  (await read()).needs.filter((need): need is Extract<Need, { kind: Kind }> => need.kind === kind);
/** The one entry of this kind, once it is there. */
const one = <Kind extends Need["kind"]>(kind: Kind) =>
  vi.waitFor(async () => {
    const [first, ...others] = await find(kind);
    if (first === undefined || others.length > 0) throw new Error(JSON.stringify(await read()));
    return first;
  }, 20_000);
const over = (kind: Need["kind"]) =>
  vi.waitFor(async () => expect(await find(kind)).toEqual([]), 20_000);
const act = ({ id }: Pick<Need, "id">, action: string) =>
  call(daemon, `/api/needs/${encodeURIComponent(id)}/${action}`, {});
const configFile = () => join(daemon.stateDir, "earshot.json5");
const cli = (...args: string[]) => earshot(args, { EARSHOT_STATE_DIR: daemon.stateDir });

/** On a Telegram of this process: Ann, and a group that nobody has listed. */
async function onTelegram(access: Readonly<Record<string, unknown>>) {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const { world } = server;
  const ann = world.user("Ann");
  const kitchen = world.group("Kitchen <b>", [ann]);
  const direct = world.direct(ann);
  const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 1 };
  await daemonWith({
    access,
    channels: { webhook: {}, telegram: { accounts: { default: account } } },
  });
  return { world, ann, kitchen, direct };
}

describe("groups and people that are refused", () => {
  test("a Telegram group that is not listed is one entry; Allow adds it to the file", async () => {
    const { world, ann, kitchen } = await onTelegram({ groupPolicy: "allowlist" });
    const text = `// by hand\n${await readFile(configFile(), "utf8")}`;
    await writeFile(configFile(), text);
    world.say(kitchen, ann, "hello");
    world.say(kitchen, ann, "anybody?");
    const id = String(kitchen.chat.id);
    await vi.waitFor(async () => expect(await one("refused")).toMatchObject({ count: 2 }), 20_000);
    const need = await one("refused");
    expect(need).toMatchObject({ what: "group", chat: id, room: "Kitchen <b>", person: null });
    expect(need.since).toBeGreaterThan(0);
    const status = await cli("status");
    expect(status.out).toContain("needs you");
    expect(status.out).toContain("Group not allowed yet: Kitchen <b>");
    const listed = await cli("needs");
    expect(listed.code).toBe(1);
    expect(listed.out).toContain(`earshot needs do group:telegram:default:${id} allow`);
    const done = await cli("needs", "do", need.id);
    expect(done).toMatchObject({ code: 0, out: "done: Allow this group\n" });
    await over("refused");
    const written = await readFile(configFile(), "utf8");
    expect(written.startsWith("// by hand\n")).toBe(true);
    expect(written).toContain(`"telegram:${id}": {}`);
    expect(await readFile(`${configFile()}.bak`, "utf8")).toBe(text);
    expect((await cli("needs", "do", need.id)).code).toBe(1);
    expect(await cli("needs")).toMatchObject({ code: 0, out: "nothing needs you\n" });
  });

  test("a person of a direct chat is allowed by the access list, which survives a restart", async () => {
    const { world, ann, direct } = await onTelegram({ dmPolicy: "allowlist" });
    world.say(direct, ann, "hello");
    const need = await one("refused");
    expect(need).toMatchObject({ what: "person", direct: true, person: String(ann.id) });
    expect((await act(need, "sing")).status).toBe(400);
    expect((await act(need, "allow")).status).toBe(200);
    await over("refused");
    expect((await act(need, "allow")).status).toBe(404);
    await daemon.stop();
    await daemon.start();
    world.say(direct, ann, "again");
    await vi.waitFor(async () => {
      const { conversations } = (await daemon.ask("/conversations")) as {
        conversations: unknown[];
      };
      expect(conversations.length).toBe(1);
    }, 20_000);
    expect(await find("refused")).toEqual([]);
  });

  test("it ends when the file allows the group, and Ignore takes it from the list", async () => {
    await daemonWith({ access: { groupPolicy: "allowlist" }, channels: { webhook: {} } });
    const outside = { outside: true, ...toScout, author: person("Ann") };
    await daemon.say({ chat: group("garden"), text: "hello", ...outside });
    await daemon.say({ chat: group("shed"), text: "hello", ...outside });
    const ids = (await find("refused")).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect((await act({ id: ids[0] as string }, "ignore")).status).toBe(200);
    const [left] = await find("refused");
    const config = JSON.parse(await readFile(configFile(), "utf8")) as Record<string, object>;
    const groups = { [`webhook:${left?.chat}`]: {} };
    config.access = { ...config.access, groups };
    await writeFile(configFile(), JSON.stringify(config));
    await over("refused");
  });

  test("what is refused on purpose needs nobody", async () => {
    await daemonWith({ access: { groupPolicy: "disabled", dmPolicy: "disabled" } });
    await daemon.say({ chat: group("garden"), text: "hello", outside: true, ...toScout });
    await daemon.say({ chat: { id: "ann", kind: "direct" }, text: "hello", outside: true });
    expect(await read()).toEqual({ needs: [], more: 0 });
  });
});

test("a pairing request is approved or declined; approval ends it", async () => {
  const { world, ann, direct } = await onTelegram({ dmPolicy: "pairing" });
  world.say(direct, ann, "hello");
  const need = await one("pairing");
  expect(need).toMatchObject({ name: "Ann", person: String(ann.id) });
  expect(need.code).toMatch(/^[A-Z0-9]{8}$/u);
  expect((await act(need, "decline")).status).toBe(200);
  await over("pairing");
  const bob = world.user("Bob");
  world.say(world.direct(bob), bob, "hello");
  expect((await act(await one("pairing"), "approve")).status).toBe(200);
  await over("pairing");
  expect(await find("refused")).toEqual([]);
});

test("a pairing request that nobody answers ends with its code", async () => {
  const usual = limits.pairingMsMax;
  const change = (ms: number) => Object.assign(limits, { pairingMsMax: ms });
  onTestFinished(() => void change(usual));
  change(2_000);
  const { world, ann, direct } = await onTelegram({ dmPolicy: "pairing" });
  world.say(direct, ann, "hello");
  const { expiresAt, since } = await one("pairing");
  expect(expiresAt - since).toBe(2_000);
  await over("pairing");
  expect(await cli("needs")).toMatchObject({ code: 0, out: "nothing needs you\n" });
});

test("a halted account is one entry, and connects again by its action", async () => {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  server.faults.add("getMe", { kind: "refuse", status: 401 }, 1);
  const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 1 };
  await daemonWith({ channels: { telegram: { accounts: { home: account } } } });
  const need = await one("connection");
  expect(need).toMatchObject({ id: "connection:telegram:home", title: expect.any(String) });
  expect(JSON.stringify(need)).not.toContain(sampleToken);
  expect((await act(need, "retry")).status).toBe(200);
  await over("connection");
});

test("an agent that fails three times in a row is one entry with its cause, until a turn succeeds", async () => {
  const failing = { steps: [{ error: "HTTP 401: the key is wrong" }] };
  const runs = [failing, failing, failing, { steps: [{ text: "I am back." }] }];
  const driver = { kind: "scripted", runs };
  await daemonWith({ agents: { list: [{ id: "main", name: "Scout", driver }] } });
  for (const turn of [1, 2]) await fail(turn);
  expect(await find("agent")).toEqual([]);
  await fail(3);
  const need = await one("agent");
  expect(need).toMatchObject({ agentId: "main", turns: 3, title: "Scout fails: 3 turns in a row" });
  // This driver has nothing that could be tried without a turn.
  expect(need.acts).toEqual([]);
  expect(need.meaning).toContain("the key is wrong");
  const answer = await call(daemon, "/metrics");
  expect(await answer.text()).toContain("earshot_needs 1");
  await daemon.say({ chat: group("garden"), text: "hello 4", ...toScout });
  await over("agent");
});

test("a failing agent is tried again without a turn: it ends when it answers, and a new failure lists it again", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const key = "sk-a-key-that-no-entry-may-show";
  model.key = "sk-the-right-one";
  const broken = { status: 401, body: "no" } as const;
  model.reply(broken, broken, broken, broken);
  const driver = { kind: "model", model: "small", baseUrl: model.baseUrl, apiKey: key };
  await daemonWith({ agents: { list: [{ id: "main", name: "Scout", driver }] } });
  for (const turn of [1, 2, 3]) await fail(turn);
  const need = await one("agent");
  expect(need).toMatchObject({ turns: 3, acts: [{ action: "retry", label: "Try again" }] });
  const refused = await act(need, "retry");
  const { error } = (await refused.json()) as { error: { message: string } };
  expect([refused.status, error.message]).toEqual([
    409,
    expect.stringMatching(/^It still does not respond: auth: .* refuses the key \(HTTP 401\)$/u),
  ]);
  expect(JSON.stringify([error, need])).not.toContain("sk-");
  expect((await cli("needs", "do", need.id)).err).toContain("refuses the key");
  expect(await find("agent")).toHaveLength(1);
  model.key = key;
  expect(await cli("needs", "do", need.id)).toMatchObject({ code: 0, out: "done: Try again\n" });
  expect(await find("agent")).toEqual([]);
  expect((await act(need, "retry")).status).toBe(404);
  await fail(4);
  expect(await one("agent")).toMatchObject({ turns: 4 });
});

async function fail(turn: number): Promise<void> {
  await daemon.say({ chat: group("garden"), text: `hello ${turn}`, ...toScout });
  await vi.waitFor(async () => {
    const { failing } = (await daemon.ask("/status")) as { failing: { turns: number }[] };
    expect(failing[0]?.turns).toBe(turn);
  }, 20_000);
}

test("a refused config is one entry with its line, until the file is valid again", async () => {
  await daemonWith();
  const good = await readFile(configFile(), "utf8");
  const token = 'botToken: "a secret",';
  await writeFile(configFile(), `{\n  // by hand\n  agents: 7,\n  ${token}\n  b: 1,\n  c: 2,\n}\n`);
  const need = await one("config");
  expect(need).toMatchObject({ path: configFile(), line: 3 });
  expect(need.meaning).toContain("The last valid config stays in use");
  expect(need.excerpt).toEqual([
    { line: 1, text: "{" },
    { line: 2, text: "  // by hand" },
    { line: 3, text: "  agents: 7," },
    { line: 4, text: "  botToken: [redacted]," },
    { line: 5, text: "  b: 1," },
  ]);
  expect((await cli("needs")).out).toContain("    2 |   // by hand\n  > 3 |   agents: 7,\n    4 |");
  // The same as before: nothing to apply, and yet nothing is wrong any more.
  await writeFile(configFile(), good);
  await over("config");
});

test("an override that hides an edit of the file is one entry, and can be taken away", async () => {
  daemon = await createLiveDaemon({ pagesDir: builtPages });
  const values = [{ path: "turn.idleMs", value: 70_000, by: "webhook:ann" }];
  await writeFile(join(daemon.stateDir, "config-set.json"), JSON.stringify({ values }));
  await daemon.start();
  expect(await find("override")).toEqual([]);
  const config = JSON.parse(await readFile(configFile(), "utf8")) as Record<string, object>;
  await writeFile(configFile(), JSON.stringify({ ...config, turn: { idleMs: 80_000 } }));
  const need = await one("override");
  expect(need).toMatchObject({ path: "turn.idleMs", layer: "set" });
  await daemon.stop();
  await daemon.start();
  expect((await act(await one("override"), "remove")).status).toBe(200);
  await over("override");
});
