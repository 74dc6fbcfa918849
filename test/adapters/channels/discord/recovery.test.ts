/** What an account does about a session that Discord has forgotten, and about one that it may not begin. */
import { expect, test } from "vitest";
import { openDiscord } from "../../../support/discord/discord-open.ts";

const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);

test("a request to reconnect is followed, and the session goes on", async () => {
  const { server, world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  server.gateway.askReconnect();
  await server.until(() => server.gateway.logins.length === 2, "the second login");
  const said = world.say(kitchen, ann, "still there?");
  await channel.message(said.id);
  expect(server.gateway.logins).toEqual(["identify", "resume"]);
  expect(channel.gaps).toEqual([]);
});

test("after a lost session the missed messages are fetched, in order, before newer ones", async () => {
  const { server, world, ann, guild, kitchen, open } = await openDiscord();
  const garden = world.channel(guild, "garden");
  const first = open();
  await first.live();
  const before = world.say(kitchen, ann, "before");
  await first.message(before.id);
  await first.stop();
  server.gateway.forget();
  const missed = Array.from({ length: 120 }, (_, n) => world.say(kitchen, ann, `missed ${n}`));
  const elsewhere = world.say(garden, ann, "here too");
  const second = open(first.cursors);
  await second.message(elsewhere.id);
  const after = world.say(kitchen, ann, "after");
  await second.message(after.id);
  const inKitchen = second.messages().filter(({ chat }) => chat.id === kitchen.id);
  const fresh = idsOf(inKitchen).filter((id) => id !== before.id);
  expect(fresh).toEqual([...idsOf(missed), after.id]);
  expect(second.gaps).toMatchObject([{ lost: "edits", rooms: [] }]);
  expect(server.gateway.logins).toEqual(["identify", "resume", "identify"]);
});

test("what cannot be read is reported once, with its room and its span", async () => {
  const { server, world, ann, guild, kitchen, open } = await openDiscord();
  const secret = world.channel(guild, "secret");
  const unseen = world.channel(guild, "unseen");
  const first = open();
  await first.live();
  await first.message(world.say(kitchen, ann, "before").id);
  await first.stop();
  server.gateway.forget();
  secret.hasHistory = false;
  unseen.isVisible = false;
  world.build(secret, ann, "nobody knows");
  world.build(unseen, ann, "not for the bot");
  const second = open(first.cursors);
  await second.message(world.say(kitchen, ann, "while away").id);
  const lost = second.gaps.filter((gap) => gap.lost === "messages");
  expect(lost).toMatchObject([{ rooms: [secret.id] }]);
  expect(lost[0]?.to).toBeGreaterThan(lost[0]?.from ?? 0);
});

test("direct messages are fetched as well", async () => {
  const { server, world, ann, open } = await openDiscord();
  const direct = world.direct();
  const first = open();
  await first.live();
  await first.message(world.say(direct, ann, "hello").id);
  await first.stop();
  server.gateway.forget();
  const missed = world.say(direct, ann, "are you there?");
  const second = open(first.cursors);
  expect(await second.message(missed.id)).toMatchObject({ chat: { kind: "direct" } });
});

test("a first start fetches nothing", async () => {
  const { server, world, ann, kitchen, open } = await openDiscord();
  world.build(kitchen, ann, "long ago");
  const channel = open();
  await channel.live();
  await channel.message(world.say(kitchen, ann, "now").id);
  expect(channel.messages()).toHaveLength(1);
  expect(server.called("messages")).toEqual([]);
});

test("without the intent MESSAGE CONTENT the account ends with one error that says what to do", async () => {
  const { server, open } = await openDiscord();
  server.gateway.allowsContent = false;
  const error = (await open().ended()) as Error;
  expect(error).toMatchObject({ code: "EAR_CHANNEL_AUTH", disposition: "terminal" });
  expect(error.message).toContain("Message Content Intent");
});

test("an account that does not ask for it hears mentions", async () => {
  const { server, world, ann, kitchen, open } = await openDiscord({ messageContent: false });
  server.gateway.allowsContent = false;
  const channel = open();
  await channel.live();
  world.say(kitchen, ann, "among us");
  const mentions = [world.bot];
  const called = world.say(kitchen, ann, `<@${world.bot.id}> hello`, { mentions });
  expect(await channel.message(called.id)).toMatchObject({ text: "@Scout hello" });
  expect(channel.messages()).toHaveLength(1);
});

test("servers that are not listed are not heard", async () => {
  const { world, ann, kitchen, open } = await openDiscord({ guilds: ["1"] });
  const channel = open();
  await channel.live();
  world.say(kitchen, ann, "hello");
  const direct = world.say(world.direct(), ann, "hello");
  await channel.message(direct.id);
  expect(channel.messages()).toHaveLength(1);
});
