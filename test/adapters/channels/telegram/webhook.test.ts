/**
 * Telegram by webhook: the real Bot API wire on one side, the daemon's hook on the other, both on
 * loopback.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { openHookDaemon } from "../../../support/daemon/hook-daemon.ts";
import { freePort } from "../../../support/free-port.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../../support/servers/telegram.ts";
import type { Room } from "../../../support/servers/telegram-world.ts";

const secret = "a-secret_Token-of-ours";
const path = "/hooks/telegram/default";
const header = "x-telegram-bot-api-secret-token";

interface WorldOptions {
  readonly stateDir?: string;
  readonly store?: object;
  readonly port?: number;
  readonly group?: Room;
}

async function rooms(
  webhook: object | null = {},
  server?: TelegramServer,
  options: WorldOptions = {},
) {
  const telegram = server ?? (await startTelegramServer());
  if (server === undefined) onTestFinished(() => telegram.close());
  const ann = telegram.world.user("Ann");
  const group = options.group ?? telegram.world.group("Kitchen", [ann]);
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}${path}`;
  const account = {
    botToken: sampleToken,
    apiRoot: telegram.apiRoot,
    pollSeconds: 5,
    ...(webhook !== null && { webhook: { url, secret, ...webhook } }),
  };
  const groups = { [String(group.chat.id)]: {} };
  const door = await openHookDaemon(
    {
      channels: { telegram: { groups, accounts: { default: account } } },
      ...(options.store && { store: options.store }),
    },
    { port, ...(options.stateDir !== undefined && { stateDir: options.stateDir }) },
  );
  const state = async () => {
    const { channels } = (await (await door.api("/api/channels")).json()) as {
      channels: { id: string; accounts: { state: string }[] }[];
    };
    return channels.find(({ id }) => id === "telegram")?.accounts[0]?.state;
  };
  return { telegram, world: telegram.world, ann, group, door, url, port, state };
}

const update = (id: number, text: string, chat: object, from: object) =>
  JSON.stringify({
    update_id: id,
    message: { message_id: id, date: Math.floor(Date.now() / 1_000), chat, from, text },
  });

describe("telegram by webhook", () => {
  test("Telegram is told where to post and with which secret, and what is said arrives in order", async () => {
    const { telegram, world, ann, group, door, url } = await rooms();
    await telegram.until(() => world.webhook !== null, "setWebhook");
    expect(telegram.calls("setWebhook")[0]).toMatchObject({
      url,
      secret_token: secret,
      max_connections: 1,
      drop_pending_updates: false,
      allowed_updates: [
        ...["message", "edited_message", "channel_post", "edited_channel_post"],
        "message_reaction",
        "callback_query",
      ],
    });
    const before = door.rows();
    for (const text of ["one", "two", "three"]) world.say(group, ann, text);
    world.changed();
    await telegram.until(() => world.queue.length === 0, "all posted");
    expect(door.rows()).toBe(before + 3);
    expect(telegram.calls("getUpdates")).toEqual([]);
  });

  test("A01 an update without the secret, or with another, is refused; with it, taken", async () => {
    const { telegram, world, ann, group, door } = await rooms();
    await telegram.until(() => world.webhook !== null, "setWebhook");
    const before = door.rows();
    const body = update(900, "let me in", group.chat, ann);
    for (const headers of [
      {},
      { [header]: "" },
      { [header]: secret.slice(0, -1) },
      { [header]: `${secret}x` },
      { [header]: `${secret},${secret}` },
      { authorization: `Bearer ${secret}` },
    ])
      expect((await door.post(path, body, headers)).status).toBe(401);
    expect((await door.post(`${path}?secret_token=${secret}`, body)).status).toBe(401);
    expect(door.rows()).toBe(before);
    expect((await door.post(path, body, { [header]: secret })).status).toBe(200);
    expect(door.rows()).toBe(before + 1);
    // A redelivery is the same message.
    expect((await door.post(path, body, { [header]: secret })).status).toBe(200);
    expect(door.rows()).toBe(before + 1);
  });

  test("what nobody can read is answered 200, so that it does not come for a day; no JSON is not", async () => {
    const { telegram, world, door } = await rooms();
    await telegram.until(() => world.webhook !== null, "setWebhook");
    const post = (body: string) => door.post(path, body, { [header]: secret });
    expect((await post('{"update_id":1,"message":"not even an object"}')).status).toBe(200);
    expect((await post('{"update_id":9007199254740993,"message":{}}')).status).toBe(200);
    expect((await post('{"update_id":2,"something_new":{}}')).status).toBe(200);
    expect((await post("{{{")).status).toBe(400);
    expect(door.log.join("")).toContain("telegram.update-unreadable");
  });

  test("while the store refuses, Telegram is told to come again, and nothing is lost", async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    const ann = telegram.world.user("Ann");
    const group = telegram.world.group("Kitchen", [ann]);
    const url = "http://127.0.0.1:9/hooks/telegram/default";
    const config = { botToken: sampleToken, apiRoot: telegram.apiRoot, webhook: { url, secret } };
    const channel = openChannel(telegramChannel as ChannelDefinition, config);
    onTestFinished(() => channel.stop());
    await channel.live();
    const body = Buffer.from(update(900, "keep me", group.chat, ann));
    const request = { headers: { [header]: secret }, now: Date.now() };
    channel.refuseDeliveries(1);
    const first = channel.hook?.receive(body, request);
    await expect(first).rejects.toMatchObject({ code: "EAR_STORE_FULL", disposition: "retry" });
    expect(channel.messages()).toEqual([]);
    await channel.hook?.receive(body, request);
    expect(channel.identities()).toEqual(["900"]);
  });

  test("what was said while the daemon was away is posted after it is back, and taken once", async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    const options = { stateDir: newFolder(), store: { driver: "sqlite" } };
    const { world, ann, group, door, port } = await rooms({}, telegram, options);
    await telegram.until(() => world.webhook !== null, "setWebhook");
    world.say(group, ann, "before");
    await telegram.until(() => world.queue.length === 0, "posted");
    await door.daemon.stop();
    world.say(group, ann, "while you were out");
    await telegram.until(() => world.webhookError !== null, "a post that failed");
    expect(world.queue).toHaveLength(1);
    const back = await rooms({}, telegram, { ...options, port, group });
    await telegram.until(() => world.queue.length === 0, "posted again");
    const { conversations } = (await (await back.door.api("/api/conversations")).json()) as {
      conversations: { key: string; lastSeq: number }[];
    };
    expect(conversations.map(({ key }) => key)).toEqual([
      `agent:main:telegram:group:${group.chat.id}`,
    ]);
    expect(conversations[0]?.lastSeq).toBeGreaterThan(1);
  });

  test("a poller finds the webhook of yesterday in its way and takes it off", async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    telegram.world.webhook = { url: "http://127.0.0.1:9/yesterday" };
    const { world, ann, group, door } = await rooms(null, telegram);
    await telegram.until(() => telegram.calls("getUpdates").length > 0, "polling");
    expect(world.webhook).toBeNull();
    world.say(group, ann, "hello");
    world.changed();
    await telegram.until(() => world.queue.length === 0, "taken");
    expect(door.log.join("")).toContain("telegram.webhook-removed");
  });

  test("asked every five minutes, it is told again where another program has moved it", async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    const { world } = telegram;
    const url = "http://127.0.0.1:9/hooks/telegram/default";
    const clock = new SimulatedClock(Date.now());
    const logs: string[] = [];
    const account = telegramChannel.open({
      accountId: "default",
      config: telegramChannel.accountSchema.parse({
        botToken: sampleToken,
        apiRoot: telegram.apiRoot,
        webhook: { url, secret },
      }),
      clock,
      random: { next: () => 0.5 },
      log: (_, event, fields) => void logs.push(`${event} ${JSON.stringify(fields)}`),
      deliver: async () => undefined,
      loadCursor: async () => null,
      reportState: () => undefined,
      reportGap: () => undefined,
    });
    const stopping = new AbortController();
    const running = account.start(stopping.signal);
    const waiting = () => clock.nextDue() !== null;
    await telegram.until(() => world.webhook !== null, "setWebhook");
    world.webhook = { url: "https://elsewhere.example/" };
    world.webhookError = { at: clock.now() + 299_000, message: "Connection refused" };
    while (!waiting()) await new Promise((go) => setTimeout(go, 10));
    clock.advanceTo(clock.now() + 300_000);
    await telegram.until(() => world.webhook?.url === url, "setWebhook again");
    expect(world.webhook?.secret_token).toBe(secret);
    while (!waiting()) await new Promise((go) => setTimeout(go, 10));
    expect(logs.join("\n")).toContain("telegram.webhook-moved");
    expect(logs.join("\n")).toContain("Connection refused");
    // All well: nothing is set, nothing said.
    const sets = telegram.calls("setWebhook").length;
    logs.length = 0;
    world.webhookError = null;
    clock.advanceTo(clock.now() + 300_000);
    await telegram.until(() => telegram.calls("getWebhookInfo").length === 2, "a second look");
    while (!waiting()) await new Promise((go) => setTimeout(go, 10));
    expect(telegram.calls("setWebhook")).toHaveLength(sets);
    expect(logs).toEqual([]);
    stopping.abort();
    await running;
  });

  test("a refused token halts the account, and its hook is not found any more", async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    telegram.token = "0:another";
    const { ann, group, door, state } = await rooms({}, telegram);
    for (let n = 0; n < 100 && (await state()) !== "halted"; n += 1)
      await new Promise((go) => setTimeout(go, 50));
    expect(await state()).toBe("halted");
    const body = update(1, "x", group.chat, ann);
    expect((await door.post(path, body, { [header]: secret })).status).toBe(404);
  });

  test("the secret stands in no log line and no answer", async () => {
    const { telegram, world, door } = await rooms();
    await telegram.until(() => world.webhook !== null, "setWebhook");
    await door.post(path, "{}", { [header]: `${secret}x` });
    const shown = JSON.stringify(await (await door.api("/api/channels")).json());
    expect(door.log.join("") + shown).not.toContain(secret);
  });
});
