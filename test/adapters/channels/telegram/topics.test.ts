/**
 * Answers into a topic that is deleted meanwhile, or that Telegram no longer finds: they are still said.
 */
import { expect, onTestFinished, test } from "vitest";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { Route } from "../../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { sampleFiles } from "../../../support/servers/media.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

const signal = new AbortController().signal;

async function start() {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const { world } = server;
  const ann = world.user("Ann");
  const group = world.group("Kitchen", [ann], { is_forum: true });
  const topic = world.topic(group, ann, "Plans");
  const config = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 20 };
  const channel = openChannel(telegramChannel as ChannelDefinition, config);
  onTestFinished(() => channel.stop());
  await channel.live();
  const route: Route = {
    channel: "telegram",
    account: "default",
    chat: { id: String(group.chat.id), kind: "group" },
    thread: { id: String(topic), kind: "topic" },
  };
  return { server, world, ann, group, topic, channel, route };
}

test("what is sent into a deleted topic is said in the chat, once", async () => {
  const { server, world, ann, group, topic, channel, route } = await start();
  const asked = world.say(group, ann, "and now?", { topic });
  await channel.message(String(asked.message_id));
  group.topics.delete(topic);
  group.messages.delete(asked.message_id);
  const { outbound } = channel;
  const replyTo = String(asked.message_id);
  const reply = { replyTo, quote: false };
  await outbound.replyText({ id: "t:0", text: "an answer", signal, route, ...reply });
  const file = { name: "a.png", mime: "image/png", data: sampleFiles.png, kind: "image" as const };
  await outbound.sendMedia?.({ id: "t:1", signal, route, ...file });
  const choices = { text: "Which?", options: ["tea", "coffee"] };
  await outbound.sendChoices?.({ id: "t:2", text: "", signal, route, choices });
  const poll = { ...choices, poll: true as const };
  await outbound.sendChoices?.({ id: "t:3", text: "", signal, route, choices: poll });
  expect(world.answers(group)).toMatchObject([
    { text: "an answer" },
    { photo: [{}] },
    { text: "Which?", reply_markup: {} },
    { poll: { question: "Which?" } },
  ]);
  for (const message of world.answers(group))
    expect(message).not.toHaveProperty("is_topic_message");
  // Where the topic is only lost to bots, Telegram puts a reply beside its parent.
  expect(server.calls("sendMessage")[1]).toMatchObject({
    reply_parameters: { message_id: asked.message_id },
  });
});

test("a chat that has no such topic for another reason is not written to", async () => {
  const { server, world, group, channel, route } = await start();
  server.faults.add("sendMessage", { kind: "refuse", status: 400 });
  const sent = channel.outbound.sendText({ id: "t:0", text: "no", signal, route });
  await expect(sent).rejects.toMatchObject({ code: "EAR_CHANNEL_REJECTED" });
  expect(world.answers(group)).toEqual([]);
});
