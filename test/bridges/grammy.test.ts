/** A bot of grammY with earshot in it: the example, on a Bot API of this process. */
import { join } from "node:path";
import { Bot } from "grammy";
import { expect, onTestFinished, test } from "vitest";
import { createBridge } from "../../src/bridges/grammy.ts";
import { openChannel } from "../../src/testing/open-channel.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { root } from "../support/docs.ts";
import { sampleToken, startTelegramServer } from "../support/servers/telegram.ts";

interface Running {
  readonly page: string;
  stop(): Promise<void>;
}
interface Example {
  start(options: object): Promise<Running>;
}

const patience = { timeout: 60_000 };
const quiet = () => ({
  stateDir: newFolder(),
  port: 0,
  workers: 0,
  env: {},
  writeLog: () => undefined,
});

async function world() {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const ann = server.world.user("Ann");
  const bob = server.world.user("Bob");
  const group = server.world.group("Kitchen", [ann, bob]);
  const texts = () => server.calls("sendMessage").map(({ text }) => text);
  return { server, world: server.world, ann, group, direct: server.world.direct(ann), texts };
}

test("the example: its own command, and earshot for what that leaves", async () => {
  const { server, world: all, ann, group, direct, texts } = await world();
  const path = join(root, "examples/add-earshot-to-a-grammy-bot/bot.mjs");
  const { start } = (await import(/* @vite-ignore */ path)) as Example;
  const client = { apiRoot: server.apiRoot };
  const bot = await start({ token: sampleToken, client, ...quiet() });
  onTestFinished(() => bot.stop());
  all.say(direct, ann, "/dice");
  await expect.poll(texts, patience).toEqual(["You rolled a four."]);
  all.say(direct, ann, "hello");
  await expect.poll(texts, patience).toContain("You said: hello");
  all.say(group, ann, "nobody in particular");
  all.say(group, ann, "@scout_bot are you there?");
  await expect.poll(texts, patience).toHaveLength(3);
  expect(texts().at(-1)).toContain("are you there?");
  // Nobody else asks for updates, and the bot's menu is the bot's.
  expect(server.calls("setMyCommands")).toEqual([]);
  expect(server.calls("deleteWebhook").every(({ drop_pending_updates: drop }) => !drop)).toBe(true);
});

/** A bot with a handler for texts and one for buttons, and the bridge before or behind them. */
async function bridged(place: "before" | "behind") {
  const given = await world();
  const bot = new Bot(sampleToken, { client: { apiRoot: given.server.apiRoot } });
  const bridge = createBridge(bot);
  const handled: string[] = [];
  if (place === "before") bot.use(bridge);
  bot.on("message:text", async (context, next) => {
    handled.push(context.message.text);
    await next();
  });
  bot.on("callback_query:data", async (context) => {
    handled.push(context.callbackQuery.data);
    await context.answerCallbackQuery({ text: "mine" });
  });
  if (place === "behind") bot.use(bridge);
  const running = bot.start({ timeout: 1 });
  onTestFinished(async () => {
    await bot.stop();
    await running;
  });
  return { ...given, bot, bridge, handled };
}

test("what comes before earshot runs waits for it, and does not hold up the bot", async () => {
  const { world: all, ann, direct, bridge, handled } = await bridged("behind");
  const texts = ["one", "two", "three"];
  for (const text of texts) all.say(direct, ann, text);
  await expect.poll(() => handled, patience).toEqual(texts);
  const channel = openChannel(bridge.channel, {});
  onTestFinished(() => channel.stop());
  await expect.poll(() => channel.messages().map(({ text }) => text), patience).toEqual(texts);
  channel.refuseDeliveries(2);
  all.say(direct, ann, "four");
  await expect.poll(() => channel.messages().at(-1)?.text, patience).toBe("four");
  expect(channel.logs.map(({ event }) => event)).toEqual(["bridge.intake-closed"]);
});

test("presses of its own buttons are its own, the others the bot's; files go through the bot", async () => {
  const { server, world: all, ann, direct, bot, bridge, handled } = await bridged("before");
  const called: string[] = [];
  bot.api.config.use((previous, method, payload, signal) => {
    called.push(method);
    return previous(method, payload, signal);
  });
  const channel = openChannel(bridge.channel, {});
  onTestFinished(() => channel.stop());
  await channel.live();
  const signal = new AbortController().signal;
  const chat = { id: String(direct.chat.id), kind: "direct" as const };
  const route = { channel: "telegram", account: "default", chat, thread: null };
  const about = { route, id: "t:0", text: "Which?", signal };
  await channel.outbound.sendChoices?.({
    ...about,
    choices: { text: "Which?", options: ["tea", "coffee"] },
  });
  const asked = all.answers(direct).at(-1) as object;
  all.press(asked, ann, "earshot:1", "77");
  all.press(asked, ann, "a button of the bot", "78");
  await expect.poll(() => channel.messages().at(-1)?.text, patience).toBe("coffee");
  await expect.poll(() => server.calls("answerCallbackQuery").length, patience).toBe(2);
  expect(handled).toEqual(["a button of the bot"]);
  await channel.outbound.sendMedia?.({
    route,
    id: "t:1",
    mime: "text/plain",
    name: "list.txt",
    data: new TextEncoder().encode("tea"),
    signal,
  });
  expect(server.calls("sendDocument")).toHaveLength(1);
  expect(called).toContain("sendDocument");
});

test("the config has no token: that is the bot's, and no line shows it", async () => {
  const { server } = await world();
  const bridge = createBridge(new Bot(sampleToken, { client: { apiRoot: server.apiRoot } }));
  expect(bridge.channel.accountSchema.safeParse({ botToken: sampleToken }).success).toBe(false);
  server.token = "4242:another";
  const channel = openChannel(bridge.channel, {});
  expect(await channel.ended()).toMatchObject({ code: "EAR_CHANNEL_AUTH" });
  expect(JSON.stringify([channel.logs, channel.states, channel.errors])).not.toContain(sampleToken);
});
