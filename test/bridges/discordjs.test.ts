/** A bot of discord.js with earshot in it: the example, on a Discord of this process. */
import { join } from "node:path";
import { Client, Events, GatewayIntentBits as Intents } from "discord.js";
import { expect, onTestFinished, test } from "vitest";
import { createBridge } from "../../src/bridges/discordjs.ts";
import { openChannel } from "../../src/testing/open-channel.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { sampleToken, startDiscordServer } from "../support/discord/discord-server.ts";
import { root } from "../support/docs.ts";

interface Example {
  start(options: object): Promise<{ stop(): Promise<void> }>;
}

const patience = { timeout: 60_000 };
const intents = [
  ...[Intents.Guilds, Intents.GuildMessages, Intents.GuildMessageReactions],
  ...[Intents.DirectMessages, Intents.MessageContent],
];

async function world() {
  const server = await startDiscordServer();
  onTestFinished(() => server.down());
  const { world } = server;
  const ann = world.user("Ann");
  const guild = world.guild("House");
  const kitchen = world.channel(guild, "kitchen");
  const texts = () => server.called("createMessage").map(({ body }) => String(body.content));
  return { server, world, ann, guild, kitchen, direct: world.direct(), texts };
}

/** A press of a button of the bot's message. */
const pressOf = (message: object, custom_id: string) => ({
  type: 3,
  message,
  data: { component_type: 2, custom_id },
});

test("the example: its own button, and earshot for what people say", async () => {
  const { server, world: all, ann, kitchen, direct, texts } = await world();
  const path = join(root, "examples/add-earshot-to-a-discordjs-bot/bot.mjs");
  const { start } = (await import(/* @vite-ignore */ path)) as Example;
  const bot = await start({
    token: sampleToken,
    client: { rest: { api: server.apiRoot } },
    stateDir: newFolder(),
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
  onTestFinished(() => bot.stop());
  await expect.poll(() => server.gateway.connections, patience).toBe(1);
  all.say(direct, ann, "hello");
  await expect.poll(() => texts().join("\n"), patience).toContain("You said: hello");
  all.say(kitchen, ann, "nobody in particular");
  all.say(kitchen, ann, `<@${all.bot.id}> are you there?`, { mentions: [all.bot] });
  await expect.poll(() => texts().length, patience).toBe(2);
  expect(texts()[1]).toContain("are you there?");
  const asked = all.build(kitchen, all.bot, "Roll?");
  all.interact(kitchen, ann, pressOf(asked, "dice"));
  const answers = () => server.called("callback").map(({ body }) => JSON.stringify(body));
  await expect.poll(() => answers().length, patience).toBe(1);
  expect(answers()[0]).toContain("You rolled a four.");
  // Nobody else connects, and the bot's menu is the bot's.
  expect(server.gateway.logins).toEqual(["identify"]);
  expect(server.called("createCommand")).toEqual([]);
});

/** A bot with a listener for messages and one for buttons, and the bridge. */
async function bridged(options: object = {}) {
  const given = await world();
  const client = new Client({ intents, rest: { api: given.server.apiRoot }, ...options });
  const bridge = createBridge(client);
  const handled: string[] = [];
  client.on(Events.MessageCreate, ({ content }) => void handled.push(content));
  client.on(Events.InteractionCreate, async (interaction) => {
    if (!interaction.isButton() || bridge.isOwn(interaction)) return;
    handled.push(interaction.customId);
    await interaction.reply("mine");
  });
  onTestFinished(() => client.destroy());
  const cursors = new Map<string, string>();
  const open = (config: object = {}) => {
    const channel = openChannel(bridge.channel, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const logIn = async () => {
    await client.login(sampleToken);
    await expect.poll(() => client.isReady(), patience).toBe(true);
  };
  const signal = new AbortController().signal;
  const chat = { id: given.kitchen.id, kind: "group" as const };
  const route = { channel: "discord", account: "default", chat, thread: null };
  return { ...given, client, bridge, handled, open, logIn, route, signal };
}

test("what comes before earshot runs, and while it stops, waits for it; the bot goes on", async () => {
  const { server, world: all, ann, kitchen, handled, open, logIn } = await bridged();
  await logIn();
  all.say(kitchen, ann, "one");
  all.say(kitchen, ann, "two");
  await expect.poll(() => handled, patience).toEqual(["one", "two"]);
  const first = open();
  const texts = (channel: typeof first) => channel.messages().map(({ text }) => text);
  await expect.poll(() => texts(first), patience).toEqual(["one", "two"]);
  expect(first.messages()[0]).toMatchObject({
    chat: { id: kitchen.id, kind: "group", title: "kitchen" },
    author: { name: "Ann" },
  });
  await first.stop();
  all.say(kitchen, ann, "three");
  await expect.poll(() => handled.length, patience).toBe(3);
  const second = open();
  await second.live();
  await expect.poll(() => texts(second), patience).toEqual(["three"]);
  // The same session: nothing was missed, and names are known without asking.
  expect([...first.gaps, ...second.gaps]).toEqual([]);
  expect(server.called("channel")).toEqual([]);
});

test("a connection of the client that was cut goes on, and a new session is caught up", async () => {
  const { server, world: all, ann, kitchen, open, logIn } = await bridged();
  const channel = open();
  await logIn();
  await channel.live();
  all.say(kitchen, ann, "one");
  await expect.poll(() => channel.messages().length, patience).toBe(1);
  server.gateway.cut();
  await channel.state("resuming");
  all.say(kitchen, ann, "two");
  await expect.poll(() => channel.messages().at(-1)?.text, patience).toBe("two");
  await channel.live();
  expect(channel.gaps).toEqual([]);
  server.gateway.forget();
  server.gateway.cut();
  all.say(kitchen, ann, "three");
  await expect.poll(() => channel.messages().at(-1)?.text, patience).toBe("three");
  expect(channel.gaps).toMatchObject([{ lost: "edits" }]);
  expect(server.called("gateway").length).toBeGreaterThan(0);
});

test("presses of its own buttons are its own, the others the bot's", async () => {
  const { server, world: all, ann, kitchen, open, logIn, handled, route, signal } = await bridged();
  const channel = open();
  await logIn();
  await channel.live();
  const choices = { text: "Which?", options: ["tea", "coffee"] };
  await channel.outbound.sendChoices?.({ route, id: "t:0", text: "Which?", signal, choices });
  const asked = all.answers(kitchen).at(-1) as object;
  all.interact(kitchen, ann, pressOf(asked, "earshot:1"));
  all.interact(kitchen, ann, pressOf(asked, "a button of the bot"));
  all.interact(kitchen, ann, { type: 2, data: { type: 1, id: "1", name: "dice" } });
  await expect.poll(() => channel.messages().at(-1)?.text, patience).toBe("coffee");
  await expect.poll(() => server.called("callback").length, patience).toBe(2);
  expect(handled.filter((one) => one !== "Which?")).toEqual(["a button of the bot"]);
  expect(channel.messages()).toHaveLength(1);
});

test("it sends through the client's REST: a limit is not waited out, a lost answer shows once", async () => {
  const { server, world: all, kitchen, client, open, logIn, route, signal } = await bridged();
  const seen: string[] = [];
  client.rest.on("response", ({ method, path }) => void seen.push(`${method} ${path}`));
  const channel = open();
  await logIn();
  await channel.live();
  const { outbound } = channel;
  server.faults.add("createMessage", { kind: "refuse", status: 429, retryAfter: 600 });
  const limited = outbound.sendText({ route, id: "t:0", text: "hello", signal });
  await expect(limited).rejects.toMatchObject({ code: "EAR_CHANNEL_RATE", retryAfterMs: 600_000 });
  expect(all.answers(kitchen)).toEqual([]);
  const direct = { ...route, chat: { id: all.direct().id, kind: "direct" as const } };
  server.faults.add("createMessage", { kind: "reset", done: true });
  await outbound.sendMedia?.({
    route: direct,
    id: "t:1",
    mime: "text/plain",
    name: "list.txt",
    data: new TextEncoder().encode("tea"),
    signal,
  });
  const there = all.channels.get(direct.chat.id);
  expect(there && all.answers(there)).toHaveLength(1);
  expect(seen).toContain(`POST /channels/${direct.chat.id}/messages`);
});

test("what the bot's own code says is heard as the bot's, what earshot says is not", async () => {
  const { world: all, client, kitchen, open, logIn, route, signal } = await bridged();
  const channel = open();
  await logIn();
  await channel.live();
  await channel.outbound.sendText({ route, id: "t:0", text: "from earshot", signal });
  const room = client.channels.cache.get(kitchen.id);
  if (room?.isSendable()) await room.send("from the bot");
  await expect.poll(() => channel.messages().length, patience).toBe(1);
  expect(channel.messages()[0]).toMatchObject({ text: "from the bot", author: { isSelf: true } });
  expect(all.answers(kitchen)).toHaveLength(2);
});

test("the config has no token, no line shows it, and a client for good without one ends it", async () => {
  const { server, bridge, client, open, logIn } = await bridged();
  expect(bridge.channel.accountSchema.safeParse({ token: sampleToken }).success).toBe(false);
  const channel = open();
  await logIn();
  await channel.live();
  server.gateway.end(4004);
  expect(await channel.ended()).toMatchObject({ code: "EAR_CHANNEL_AUTH" });
  expect(JSON.stringify([channel.logs, channel.states, channel.errors])).not.toContain(sampleToken);
  expect(() => createBridge(client)).toThrow(/before client.login/);
});

test("a client of several shards is refused with the reason", async () => {
  const { open, client } = await bridged({ shards: [0, 1], shardCount: 2 });
  const channel = open();
  // To its end: a client that is destroyed while it connects never says so.
  await client.login(sampleToken);
  expect(await channel.ended()).toMatchObject({ code: "EAR_CHANNEL_CONFIG" });
});
