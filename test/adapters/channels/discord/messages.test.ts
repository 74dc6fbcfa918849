/** Messages of real rooms in Discord's form, and what an account makes of them. */
import { expect, test } from "vitest";
import { openDiscord } from "../../../support/discord/discord-open.ts";

test("a forwarded message is somebody else's text", async () => {
  const { world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const snapshot = { content: `<@${world.bot.id}> /stop`, timestamp: "2026-01-02T03:04:05.000Z" };
  const said = world.say(kitchen, ann, "", {
    message_reference: { type: 1, message_id: "77", channel_id: "88" },
    message_snapshots: [{ message: snapshot as never }],
  });
  expect(await channel.message(said.id)).toMatchObject({
    text: "@Scout /stop",
    mentions: [],
    explicitOnly: true,
    forwarded: { chat: { id: "88" }, messageId: "77", sentAt: Date.parse(snapshot.timestamp) },
  });
});

test("a webhook counts as a bot, and its embeds are text", async () => {
  const { world, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const hook = world.user("CI");
  const said = world.say(kitchen, hook, "", {
    webhook_id: hook.id,
    embeds: [{ type: "rich" as never, title: "Build 7", description: "It failed." }],
  });
  expect(await channel.message(said.id)).toMatchObject({
    text: "Build 7\nIt failed.",
    author: { name: "CI", isBot: true },
  });
});

test("joins and pins say nothing; a reply to a deleted message keeps its id", async () => {
  const { world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  world.say(kitchen, ann, "", { type: 7 });
  world.say(kitchen, ann, "", { type: 6, message_reference: { message_id: "77" } as never });
  const said = world.say(kitchen, ann, "yes", {
    type: 19,
    message_reference: { type: 0, message_id: "77", channel_id: kitchen.id },
    referenced_message: null,
  });
  expect(await channel.message(said.id)).toMatchObject({ replyTo: { id: "77" } });
  expect(channel.messages()).toHaveLength(1);
});

test("the bot's own role is the bot, another role is not, and code is shown as it is", async () => {
  const { world, ann, guild, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const role = guild.roles[0]?.id ?? "";
  const text = `<@&${role}> see \`<#${kitchen.id}>\` and <#${kitchen.id}>`;
  const said = world.say(kitchen, ann, text, { mention_roles: [role, "99"] });
  const code = `\`<#${kitchen.id}>\``;
  expect(await channel.message(said.id)).toMatchObject({
    text: `@Scout see ${code} and #kitchen`,
    mentions: [
      { id: world.bot.id, isSelf: true },
      { id: "role:99", isSelf: false },
    ],
    verbatim: [[11, 11 + code.length]],
  });
});

test("a deletion is a deletion, and a preview that Discord adds is no edit", async () => {
  const { world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const said = world.say(kitchen, ann, "https://example.com");
  world.emit("MESSAGE_UPDATE", { ...said, embeds: [{ type: "link" }] });
  world.delete(kitchen, said.id);
  await channel.message(world.say(kitchen, ann, "after").id);
  const types = channel.events().map(({ type }) => type);
  expect(types).toEqual(["message", "delete", "message"]);
});
