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

const upload = (id: string, filename: string, content_type: string) =>
  ({
    id,
    filename,
    content_type,
    size: 30_334,
    url: `https://cdn.discordapp.com/attachments/1/${id}/${filename}?ex=1&is=2&hm=3`,
    proxy_url: `https://media.discordapp.net/attachments/1/${id}/${filename}`,
    width: 640,
    height: 480,
  }) as never;

test("several files are one message, with what was written to them; so are a sticker and a poll", async () => {
  const { world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const album = world.say(kitchen, ann, "the soup", {
    attachments: [
      upload("501", "soup.png", "image/png"),
      upload("502", "boiling.mp4", "video/mp4"),
      upload("503", "voice-message.ogg", "audio/ogg"),
      upload("504", "recipe.pdf", "application/pdf"),
    ],
  });
  const place = `${kitchen.id}/${album.id}`;
  expect(await channel.message(album.id)).toMatchObject({
    text: "the soup",
    attachments: [
      { id: `${place}/501`, kind: "image", mime: "image/png", bytes: 30_334, name: "soup.png" },
      { id: `${place}/502`, kind: "video" },
      { id: `${place}/503`, kind: "audio" },
      { id: `${place}/504`, kind: "file", name: "recipe.pdf" },
    ],
  });
  const bare = world.say(kitchen, ann, "", { attachments: [upload("505", "a.png", "image/png")] });
  expect(await channel.message(bare.id)).toMatchObject({ text: "", attachments: [{}] });
  const sticker = world.say(kitchen, ann, "", {
    sticker_items: [{ id: "749054660769218631", name: "Wave", format_type: 3 }],
  });
  expect(await channel.message(sticker.id)).toMatchObject({ text: "[sticker: Wave]" });
  const poll = world.say(kitchen, ann, "", {
    poll: {
      question: { text: "Soup?" },
      answers: [
        { answer_id: 1, poll_media: { text: "yes" } },
        { answer_id: 2, poll_media: { text: "no", emoji: { id: null, name: "🙅" } } },
      ],
      expiry: null,
      allow_multiselect: false,
      layout_type: 1,
    } as never,
  });
  expect(await channel.message(poll.id)).toMatchObject({ text: "[poll: Soup?; yes; no]" });
});

test("a post of a forum is a thread of it, with its title and author", async () => {
  const { world, guild, ann, bob, open } = await openDiscord();
  const forum = world.channel(guild, "recipes", 15);
  const post = world.thread(guild, forum, bob, "Borscht");
  const channel = open();
  await channel.live();
  const said = world.say(post, ann, "needs dill");
  expect(await channel.message(said.id)).toMatchObject({
    chat: { id: forum.id, title: "recipes" },
    thread: { id: post.id, kind: "thread", title: "Borscht", rootAuthorId: bob.id },
    replyTo: null,
  });
});

test("what a followed channel announces is signed by that channel, and counts as a bot's", async () => {
  const { world, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const source = world.user("Cooks #news");
  // Flag 2: IS_CROSSPOST. The reference has no type in what older servers have stored.
  const said = world.say(kitchen, source, "New soup", {
    webhook_id: "612345678901234567",
    flags: 2,
    message_reference: { message_id: "77", channel_id: "88", guild_id: "99" } as never,
  });
  expect(await channel.message(said.id)).toMatchObject({
    text: "New soup",
    author: { id: source.id, name: "Cooks #news", isBot: true },
    replyTo: null,
  });
});

test("a message of somebody who has left has their name, and no roles", async () => {
  const { world, ann, guild, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  // Discord leaves the member out of what REST has, and of those who are gone.
  const said = world.build(kitchen, ann, "bye");
  world.emit("MESSAGE_CREATE", { ...said, guild_id: guild.id });
  const found = await channel.message(said.id);
  expect(found).toMatchObject({ author: { id: ann.id, name: "Ann", isBot: false } });
  expect(found.scope).toEqual({ guildId: guild.id });
});
