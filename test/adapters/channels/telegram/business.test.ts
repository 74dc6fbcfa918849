/**
 * A bot that somebody has connected to their business account answers customers in that person's
 * name: each customer is a conversation of its own, what the person writes there is not for the
 * bot, and what Telegram does not allow the bot is said.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const never = new AbortController().signal;

async function start(over: object = { business: true }) {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const { world } = server;
  const olga = world.user("Olga");
  const cleo = world.user("Cleo");
  const config = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 20, ...over };
  const run = () => {
    const channel = openChannel(telegramChannel as ChannelDefinition, config, new Map());
    onTestFinished(() => channel.stop());
    return channel;
  };
  return { server, world, olga, cleo, run };
}

const routeTo = (business: string, person: number) => ({
  channel: "telegram",
  account: "default",
  chat: { id: String(person), kind: "direct" as const },
  thread: { id: `business/${business}/${person}`, kind: "topic" as const },
});

describe("a business account", () => {
  test("a customer's line is a direct chat apart from the customer's own chat with the bot", async () => {
    const { server, world, olga, cleo, run } = await start();
    const channel = run();
    const shop = world.connectBusiness(olga);
    const asked = world.sayInBusiness(shop, cleo, cleo, "Are you open today?");
    expect(await channel.message(String(asked.message_id))).toMatchObject({
      chat: { id: String(cleo.id), kind: "direct" },
      thread: { id: `business/${shop.id}/${cleo.id}`, kind: "topic" },
      author: { id: String(cleo.id), isSelf: false },
      text: "Are you open today?",
    });
    const own = world.say(world.direct(cleo), cleo, "hello bot");
    expect(await channel.message(String(own.message_id))).toMatchObject({ thread: null });
    expect(server.calls("getUpdates").at(-1)?.allowed_updates).toEqual(
      expect.arrayContaining(["business_connection", "business_message", "message"]),
    );
    expect(channel.logs).toContainEqual({
      level: "info",
      event: "telegram.business-connection",
      fields: { owner: String(olga.id), enabled: true, mayReply: true },
    });
  });

  test("an answer, its edit and typing go there on behalf of the account", async () => {
    const { server, world, olga, cleo, run } = await start();
    const channel = run();
    const shop = world.connectBusiness(olga);
    const asked = world.sayInBusiness(shop, cleo, cleo, "Are you open?");
    await channel.message(String(asked.message_id));
    const to = { id: "t:0", signal: never, route: routeTo(shop.id, cleo.id) };
    const replyTo = String(asked.message_id);
    const sent = await channel.outbound.replyText({ ...to, text: "Yes", replyTo, quote: false });
    const [messageId = ""] = sent.messageIds;
    await channel.outbound.editText?.({ ...to, messageId, text: "Yes, until six" });
    await channel.outbound.sendTyping?.(to.route, true, never);
    const options = ["Today", "Tomorrow"];
    await channel.outbound.sendChoices?.({
      ...to,
      text: "When?",
      choices: { text: "When?", options },
    });
    for (const method of ["sendMessage", "editMessageText", "sendChatAction"])
      for (const call of server.calls(method))
        expect(call).toMatchObject({ business_connection_id: shop.id, chat_id: cleo.id });
    expect(world.answers(world.businessRoom(shop.id, cleo))).toMatchObject([
      { text: "Yes, until six", reply_to_message: { message_id: asked.message_id } },
      { text: "When?" },
    ]);
    expect(world.rooms.has(cleo.id)).toBe(false);
  });

  test("lines of its owner are somebody else's, and what the bot sent there is the bot's", async () => {
    const { world, olga, cleo, run } = await start();
    const channel = run();
    const shop = world.connectBusiness(olga);
    const byOlga = world.sayInBusiness(shop, cleo, olga, "I will call you");
    const sender_business_bot = world.bot;
    const byBot = world.sayInBusiness(shop, cleo, olga, "Yes", { sender_business_bot });
    const reply_to_message = { ...byBot, reply_to_message: undefined };
    const reply = world.sayInBusiness(shop, cleo, cleo, "Thanks", { reply_to_message });
    const place = {
      chat: { id: String(cleo.id) },
      thread: { id: routeTo(shop.id, cleo.id).thread.id },
    };
    expect(await channel.message(String(byOlga.message_id))).toMatchObject({
      ...place,
      author: { id: String(olga.id), isHost: true, isSelf: false },
    });
    expect(await channel.message(String(byBot.message_id))).toMatchObject({
      author: { isSelf: true },
    });
    expect(await channel.message(String(reply.message_id))).toMatchObject({
      ...place,
      replyTo: { authorIsSelf: true },
    });
  });

  test("edits and deletions are heard", async () => {
    const { world, olga, cleo, run } = await start();
    const channel = run();
    const shop = world.connectBusiness(olga);
    const first = world.sayInBusiness(shop, cleo, cleo, "Are you open?");
    const second = world.sayInBusiness(shop, cleo, cleo, "Hello?");
    world.post({ edited_business_message: { ...first, text: "Open on Sunday?", edit_date: 2 } });
    const message_ids = [first.message_id, second.message_id];
    const { chat } = first;
    world.post({
      deleted_business_messages: { business_connection_id: shop.id, chat, message_ids },
    });
    const { thread } = routeTo(shop.id, cleo.id);
    expect(await channel.edit(String(first.message_id))).toMatchObject({
      text: "Open on Sunday?",
      thread,
    });
    await channel.message(String(world.say(world.direct(cleo), cleo, "after that").message_id));
    const deleted = channel
      .events()
      .flatMap((event) => (event.type === "delete" ? [event.deletion] : []));
    expect(deleted).toMatchObject(message_ids.map((id) => ({ id: String(id), thread })));
  });

  test("without the right to reply nothing is sent, and the reason says what to do", async () => {
    const { server, world, olga, cleo, run } = await start();
    const channel = run();
    const shop = world.connectBusiness(olga, { canReply: false });
    const asked = world.sayInBusiness(shop, cleo, cleo, "Are you open?");
    await channel.message(String(asked.message_id));
    const send = { id: "t:0", signal: never, text: "Yes", route: routeTo(shop.id, cleo.id) };
    const refused = {
      code: "EAR_CHANNEL_REJECTED",
      message: expect.stringMatching(/right to reply.*Chatbots/),
    };
    await expect(channel.outbound.sendText(send)).rejects.toMatchObject(refused);
    expect(server.calls("sendMessage")).toEqual([]);
    world.connectBusiness(olga, { canReply: true });
    await server.until(() => world.queue.length === 0, "confirmation");
    await channel.outbound.sendText(send);
    world.connectBusiness(olga, { enabled: false });
    await server.until(() => world.queue.length === 0, "confirmation");
    await expect(channel.outbound.sendText(send)).rejects.toMatchObject({
      code: "EAR_CHANNEL_REJECTED",
      message: expect.stringContaining("not connected"),
    });
  });

  test("after a restart Telegram is asked what the bot may do there", async () => {
    const { server, world, olga, cleo, run } = await start();
    const shop = world.connectBusiness(olga, { canReply: false });
    world.queue = [];
    world.businessRoom(shop.id, cleo);
    const channel = run();
    const send = { id: "t:0", signal: never, text: "Yes", route: routeTo(shop.id, cleo.id) };
    await expect(channel.outbound.sendText(send)).rejects.toMatchObject({
      code: "EAR_CHANNEL_REJECTED",
    });
    expect(server.calls("getBusinessConnection")).toEqual([{ business_connection_id: shop.id }]);
    await expect(
      channel.outbound.addReaction?.(send.route, "1", "👍", never),
    ).rejects.toMatchObject({ message: expect.stringContaining("business account") });
  });
});

describe("what an account says about business accounts", () => {
  const connectable = { can_connect_to_business: true };

  test("off, a bot that may be connected to one says how to hear it", async () => {
    const { server, world, olga, cleo, run } = await start({});
    Object.assign(world.bot, connectable);
    const channel = run();
    await channel.live();
    expect(channel.states.at(-1)?.detail).toMatch(/business account.*business: true/);
    expect(server.calls("getUpdates").at(-1)?.allowed_updates).not.toContain("business_message");
    world.sayInBusiness(world.connectBusiness(olga), cleo, cleo, "Are you open?");
    await server.until(() => world.queue.length === 0, "confirmation");
    expect(channel.messages()).toEqual([]);
  });

  test("on, a bot that may not be connected to any says what is missing", async () => {
    const { world, run } = await start();
    Object.assign(world.bot, { can_connect_to_business: false });
    const channel = run();
    await channel.live();
    expect(channel.states.at(-1)?.detail).toMatch(/Business Mode/);
  });
});

test("customers are answered one by one, and the owner's lines are read and not answered", async () => {
  const say = (text: string) => ({ steps: [{ text }] });
  const rooms = await openTelegramRooms({
    workers: 0,
    runs: [say("Until six."), say("On Monday.")],
    account: { business: true },
  });
  const { world } = rooms.server;
  const olga = world.user("Olga");
  const cleo = world.user("Cleo");
  const dora = world.user("Dora");
  const shop = world.connectBusiness(olga);
  const answersTo = (person: typeof cleo) => world.answers(world.businessRoom(shop.id, person));
  world.sayInBusiness(shop, cleo, olga, "The shop moves in May.");
  world.sayInBusiness(shop, cleo, cleo, "Are you open?");
  await rooms.until(() => answersTo(cleo).length === 1, "an answer to Cleo");
  world.sayInBusiness(shop, dora, dora, "When can I come?");
  await rooms.until(() => answersTo(dora).length === 1, "an answer to Dora");
  const [toCleo = "", toDora = ""] = rooms.prompts();
  expect(toCleo).toContain("The shop moves in May.");
  expect(toDora).not.toContain("Are you open?");
  expect(toDora).not.toContain("The shop moves");
  expect(answersTo(cleo)).toMatchObject([{ text: "Until six." }]);
  expect(rooms.prompts()).toHaveLength(2);
});
