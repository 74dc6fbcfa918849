/**
 * A group that becomes a supergroup has another id at Telegram, which numbers its messages from 1
 * again. Here it stays the same room: allowed, with its session, and with what is still to be sent.
 */
import { expect, onTestFinished, test } from "vitest";
import type { Why } from "../../../../src/actors/protocol/why.ts";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import { renderWhy } from "../../../../src/daemon/cli/output/explanation.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { workersInTurn } from "../../../support/rounds.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const never = new AbortController().signal;
const say = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));

async function start() {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const { world } = server;
  const ann = world.user("Ann");
  const group = world.basicGroup("Kitchen", [ann]);
  const config = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 20 };
  const cursors = new Map<string, string>();
  const run = () => {
    const channel = openChannel(telegramChannel as ChannelDefinition, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const chat = { id: String(group.chat.id), kind: "group" as const };
  const route = { channel: "telegram", account: "default", chat, thread: null };
  const send = { id: "t:0", text: "hi", signal: never, route };
  return { server, world, ann, group, run, send };
}

test("its messages keep the room, and none is taken for an old one of the same number", async () => {
  const { world, ann, group, run } = await start();
  const channel = run();
  const before = world.say(group, ann, "before");
  await channel.message(String(before.message_id));
  const supergroup = world.migrate(group, ann);
  const parent = world.say(supergroup, ann, "after");
  const id = (message: { message_id: number }) => `${supergroup.chat.id}/${message.message_id}`;
  await channel.message(id(parent));
  const reply = world.say(supergroup, ann, "and a reply", { replyTo: parent });
  world.edit(supergroup, reply, "and an answer");
  expect(await channel.message(id(reply))).toMatchObject({ replyTo: { id: id(parent) } });
  expect(await channel.edit(id(reply))).toMatchObject({ chat: { id: String(group.chat.id) } });
  const chats = new Set(channel.messages().map(({ chat }) => chat.id));
  expect([...chats]).toEqual([String(group.chat.id)]);
  expect(channel.logs.filter(({ event }) => event === "telegram.group-migrated")).toEqual([
    {
      level: "warn",
      event: "telegram.group-migrated",
      fields: { from: group.chat.id, to: supergroup.chat.id },
    },
  ]);
});

test("what it was is stored with the update that reports it, and known after a restart", async () => {
  const { server, world, ann, group, run, send } = await start();
  const first = run();
  await first.live();
  const supergroup = world.migrate(group, ann);
  await server.until(() => world.queue.length === 0, "confirmation");
  await first.stop();
  const line = world.say(supergroup, ann, "after a restart");
  const second = run();
  const got = await second.message(`${supergroup.chat.id}/${line.message_id}`);
  expect(got.chat.id).toBe(String(group.chat.id));
  expect(await second.outbound.sendText(send)).toEqual({
    messageIds: [`${supergroup.chat.id}/${line.message_id + 1}`],
  });
});

test("posted updates are not confirmed before the new id is stored", async () => {
  const { server, world, ann, group } = await start();
  const webhook = { url: "http://127.0.0.1:9/hook", secret: "0123456789abcdef" };
  const config = { botToken: sampleToken, apiRoot: server.apiRoot, webhook };
  const cursors = new Map<string, string>();
  const open = async () => {
    const channel = openChannel(telegramChannel as ChannelDefinition, config, cursors);
    onTestFinished(() => channel.stop());
    await channel.live();
    return channel;
  };
  const first = await open();
  const post = (channel: typeof first, message: object) =>
    channel.hook?.receive(Buffer.from(JSON.stringify({ update_id: 7, message })), {
      headers: {},
      now: 0,
    });
  const supergroup = world.migrate(group, ann, { silent: true });
  const to = world.build(group, ann, { migrate_to_chat_id: supergroup.chat.id });
  first.refuseDeliveries(1);
  await expect(post(first, to)).rejects.toMatchObject({ disposition: "retry" });
  expect(cursors.size).toBe(0);
  await post(first, to);
  expect(cursors.get("4242")).toBe(`0@0 ${group.chat.id}>${supergroup.chat.id}`);
  await first.stop();
  const second = await open();
  const line = world.build(supergroup, ann, { text: "after a restart" });
  await post(second, line);
  expect(second.messages()).toMatchObject([
    { chat: { id: String(group.chat.id) }, id: `${supergroup.chat.id}/${line.message_id}` },
  ]);
});

test("an answer that Telegram refuses with the new id is sent there, once", async () => {
  const { server, world, ann, group, run, send } = await start();
  const { outbound } = run();
  const old = world.say(group, ann, "before");
  const supergroup = world.migrate(group, ann, { silent: true });
  const replyTo = String(old.message_id);
  const { messageIds } = await outbound.replyText({ ...send, replyTo, quote: false });
  expect(server.calls("sendMessage")).toHaveLength(2);
  const [answer] = world.answers(supergroup);
  expect(answer).toMatchObject({ text: "hi" });
  expect(answer).not.toHaveProperty("reply_to_message");
  expect(messageIds).toEqual([`${supergroup.chat.id}/${answer?.message_id}`]);
  await outbound.editText?.({ ...send, messageId: messageIds[0] ?? "", text: "hello" });
  await outbound.addReaction?.(send.route, messageIds[0] ?? "", "👍", never);
  expect(world.answers(supergroup).map(({ text }) => text)).toEqual(["hello"]);
  expect(supergroup.reactions.get(answer?.message_id ?? 0)).toEqual(["👍"]);
  // Both know their room now: the number of an old message is not used there.
  await expect(outbound.addReaction?.(send.route, replyTo, "👍", never)).rejects.toMatchObject({
    code: "EAR_CHANNEL_REJECTED",
  });
  await outbound.replyText({ ...send, id: "t:1", replyTo, quote: false });
  expect(world.answers(supergroup).at(-1)).not.toHaveProperty("reply_to_message");
});

test("a message that grew in the group is said whole in the supergroup", async () => {
  const { world, ann, group, run, send } = await start();
  const { outbound } = run();
  const { messageIds } = await outbound.sendText({ ...send, text: "half" });
  const supergroup = world.migrate(group, ann, { silent: true });
  const edit = { ...send, messageId: messageIds[0] ?? "" };
  await outbound.editText?.({ ...edit, text: "half of", growing: true });
  expect(world.answers(supergroup)).toEqual([]);
  await outbound.editText?.({ ...edit, text: "half of it" });
  expect(world.answers(supergroup).map(({ text }) => text)).toEqual(["half of it"]);
});

test.each(workersInTurn(0))(
  "it stays allowed, with its session and who is answered, workers %i",
  async (workers) => {
    let basic = "";
    const rooms = await openTelegramRooms({
      workers,
      runs: say("first", "second", "third"),
      config: { commands: { allowFrom: { telegram: ["7001"] } } },
      rooms: (world, people) => {
        const group = world.basicGroup("Kitchen", people);
        basic = String(group.chat.id);
        return group;
      },
    });
    const { world } = rooms.server;
    const asked = rooms.say("ann", "@scout_bot one");
    await rooms.answers(1);
    await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
    const supergroup = world.migrate(rooms.group, rooms.people.ann as never);
    const follow = world.say(supergroup, rooms.people.ann as never, "and another thing");
    await rooms.until(() => world.answers(supergroup).length === 1, "an answer in the supergroup");
    const id = `${supergroup.chat.id}/${follow.message_id}`;
    const decisions = rooms.lines.filter((line) => "decision" in line && line.id === id);
    expect(decisions).toMatchObject([{ decision: "engage", rule: "sticky" }]);
    expect(decisions[0]).toMatchObject({ key: rooms.decision(asked)?.key });
    expect(rooms.decision(asked)?.key).toContain(basic);
    expect(world.answers(rooms.group).map(({ text }) => text)).toEqual(["first"]);
    const [why] = await rooms.runtime.why(id);
    expect(why?.message.chat).toMatchObject({ id: basic, movedTo: String(supergroup.chat.id) });
    const screen = { columns: 200, colour: false };
    const now = `room      ${basic}, at the platform now ${supergroup.chat.id}: the group was moved`;
    expect(renderWhy([why as Why], screen)).toContain(now);
    const [before] = await rooms.runtime.why(String(asked.message_id));
    expect(renderWhy([before as Why], screen)).not.toContain("the group was moved");
    world.say(supergroup, rooms.people.ann as never, `/why ${id}`);
    await rooms.until(() => world.answers(supergroup).length === 2, "the explanation");
    expect(world.answers(supergroup).at(-1)?.text).toContain(
      `Room: ${basic}, at the platform now ${supergroup.chat.id}`,
    );
    await rooms.stop();
    const away = world.say(supergroup, rooms.people.ann as never, "@scout_bot after a restart");
    await rooms.start();
    await rooms.until(() => world.answers(supergroup).length === 3, "an answer after the restart");
    expect(world.answers(supergroup).at(-1)).toMatchObject({
      reply_to_message: { message_id: away.message_id },
    });
  },
);
