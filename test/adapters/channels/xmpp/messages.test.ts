/** Messages as they are in real life, in rooms and in direct chats, on a real prosody. */
import { type Element, xml } from "@xmpp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChannelEvent } from "../../../../src/domain/ports/index.ts";
import { type Bot, enter, never, routeTo, self, until } from "../../../support/xmpp/bot.ts";
import { missingProsody, type Prosody } from "../../../support/xmpp/prosody.ts";
import {
  occupantIn,
  saidBy,
  startPeople,
  type XmppPeople,
} from "../../../support/xmpp/xmpp-rig.ts";

const body = (text: string) => xml("body", {}, text);
const replace = (id: string) => xml("replace", { xmlns: "urn:xmpp:message-correct:0", id });
const retract = (id: string) => xml("retract", { xmlns: "urn:xmpp:message-retract:1", id });
const reactions = (id: string, ...emoji: string[]) => {
  const all = emoji.map((one) => xml("reaction", {}, one));
  return xml("reactions", { xmlns: "urn:xmpp:reactions:0", id }, ...all);
};
const oob = (url: string) => xml("x", { xmlns: "jabber:x:oob" }, xml("url", {}, url));

const ofType = <Type extends ChannelEvent["type"]>(bot: Bot, type: Type) =>
  bot.channel.events().filter((event) => event.type === type) as Extract<
    ChannelEvent,
    { type: Type }
  >[];

describe.skipIf(missingProsody !== "")(`messages (apt-get install ${missingProsody})`, () => {
  let server: Prosody;
  let people: XmppPeople;
  beforeAll(async () => {
    ({ server, people } = await startPeople());
  });
  afterAll(() => people.close());

  test("an encrypted message is a line that says so, in place of its body for other clients", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const advice = body("I sent you an OMEMO encrypted message but your client can't read that");
    const omemo = (...parts: Element[]) =>
      xml("encrypted", { xmlns: "eu.siacs.conversations.axolotl" }, xml("header", {}), ...parts);
    const eme = xml("encryption", { xmlns: "urn:xmpp:eme:0", namespace: "urn:xmpp:otr:0" });
    await ann.inRoom(bot.room, omemo(xml("payload", {}, "AAAA")), advice);
    await ann.inRoom(bot.room, omemo(xml("payload", {}, "AAAA")));
    await ann.inRoom(bot.room, eme, body("?OTR:AAMD"));
    // Keys alone, which clients send by themselves.
    await ann.inRoom(bot.room, omemo(), advice);
    await ann.say(bot.room, "in the open");
    await bot.said("in the open");
    const line = "[an encrypted message, which this account cannot read]";
    expect(bot.heard()).toEqual([line, line, line, "in the open"]);
    expect(bot.channel.messages().map(({ explicitOnly }) => explicitOnly)).toEqual([
      ...[true, true, true],
      false,
    ]);
  });

  test("a retraction is the author's own, or a moderator's", async () => {
    const { ann, bob } = people;
    const bot = await enter(server, people);
    const [one, two, three, four] = [
      await ann.say(bot.room, "one"),
      await ann.say(bot.room, "two"),
      await ann.say(bot.room, "three"),
      await ann.say(bot.room, "four"),
    ];
    await bob.inRoom(bot.room, retract(one), body("/me retracted a message"));
    await ann.inRoom(bot.room, retract(two), body("This person attempted to retract"));
    // As version 0 of the extension has it.
    const old = xml("retract", { xmlns: "urn:xmpp:message-retract:0" });
    await ann.inRoom(bot.room, xml("apply-to", { xmlns: "urn:xmpp:fasten:0", id: three }, old));
    await until(() => ofType(bot, "delete")[1], "her deletions");
    // Prosody has no moderation (XEP-0425): as a service sends it.
    const moderated = `<moderated xmlns='urn:xmpp:message-moderate:1' by='${bot.room}/ann'/>`;
    for (const from of [`${bot.room}/eve`, bot.room])
      bot.proxy.toClient.inject(
        `<message type='groupchat' from='${from}'><retract xmlns='urn:xmpp:message-retract:1' id='${four}'>${moderated}</retract></message>`,
      );
    await until(() => ofType(bot, "delete")[2], "the moderator's");
    expect(ofType(bot, "delete").map(({ deletion }) => deletion.id)).toEqual([two, three, four]);
    await ann.say(bot.room, "end");
    await bot.said("end");
    expect(bot.heard()).toEqual(["one", "two", "three", "four", "end"]);
  });

  test("a reply without the quote for other clients, with the author of what was heard", async () => {
    const { ann, bob } = people;
    const bot = await enter(server, people);
    const parent = await bob.say(bot.room, "shall we? 👩‍👩‍👧");
    const quote = "> shall we? 👩‍👩‍👧\n";
    const part = xml("body", { start: "0", end: String([...quote].length) });
    const reply = { xmlns: "urn:xmpp:reply:0", id: parent, to: `${bot.room}/bob` };
    await ann.say(
      bot.room,
      `${quote}yes`,
      xml("reply", reply),
      xml("fallback", { xmlns: "urn:xmpp:fallback:0", for: "urn:xmpp:reply:0" }, part),
    );
    expect((await bot.said("yes")).replyTo).toEqual({
      id: parent,
      authorId: occupantIn(bob, bot.room, "bob"),
      authorIsSelf: false,
      text: "shall we? 👩‍👩‍👧",
    });
    await ann.say(bot.room, "to what?", xml("reply", { xmlns: "urn:xmpp:reply:0", id: "lost" }));
    expect((await bot.said("to what?")).replyTo).toEqual({ id: "lost" });
  });

  test("mentions by address, and by nick as a word of its own", async () => {
    const { ann, bob } = people;
    const bot = await enter(server, people);
    const mention = (uri: string) =>
      xml("reference", {
        xmlns: "urn:xmpp:reference:0",
        type: "mention",
        uri,
        begin: "0",
        end: "3",
      });
    const bobId = occupantIn(bob, bot.room, "bob");
    const cases: [string, Element[], string[]][] = [
      ["you there", [mention(`xmpp:${self}`)], [self]],
      [
        "you two",
        [mention(`xmpp:${bot.room}/${bot.nick}`), mention("xmpp:bob@xmpp.test")],
        [self, "bob@xmpp.test"],
      ],
      ["and him", [mention(`xmpp:${bot.room}/bob`)], [bobId]],
      [`ask ${bot.nick.toUpperCase()}!`, [], [self]],
      [`${bot.nick}: hi`, [], [self]],
      [`${bot.nick}s are many`, [], []],
      [`my-${bot.nick} and ${bot.nick}_x`, [], []],
      [`bob, ${bot.nick}: both`, [], [self, bobId]],
      ["nobody: see", [mention("not an address")], []],
    ];
    for (const [text, parts, expected] of cases) {
      await ann.say(bot.room, text, ...parts);
      const { mentions } = await bot.said(text);
      expect(mentions.map(({ id }) => id).sort(), text).toEqual([...expected].sort());
    }
  });

  test("states, receipts, subjects, invitations and errors are no messages", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    await ann.inRoom(
      bot.room,
      xml("composing", { xmlns: "http://jabber.org/protocol/chatstates" }),
    );
    await ann.send(
      xml("message", { to: bot.room, type: "groupchat" }, xml("subject", {}, "Plans")),
    );
    const received = xml("received", { xmlns: "urn:xmpp:receipts", id: "x" });
    await ann.send(xml("message", { to: self, type: "chat" }, received));
    const invite = xml("invite", { to: self });
    const user = xml("x", { xmlns: "http://jabber.org/protocol/muc#user" }, invite);
    await ann.send(xml("message", { to: bot.room }, user));
    const direct = xml("x", { xmlns: "jabber:x:conference", jid: bot.room });
    await ann.write(self, "come in", direct);
    await ann.write(self, "the end");
    await bot.said("the end");
    expect(bot.heard()).toEqual(["the end"]);
  });

  test("files come as attachments, and their address is no text", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const url = "https://files.xmpp.test/a/photo%20of%20us.jpg";
    await ann.inRoom(bot.room, body(url), oob(url));
    await ann.inRoom(bot.room, body("see this"), oob("https://files.xmpp.test/plan.pdf"));
    await ann.inRoom(bot.room, body("aesgcm://a"), oob("aesgcm://a"));
    await ann.say(bot.room, "end");
    await bot.said("end");
    const [photo, plan, rest] = bot.channel.messages();
    expect(photo).toMatchObject({
      text: "",
      attachments: [{ kind: "image", name: "photo of us.jpg", url }],
    });
    expect(plan).toMatchObject({
      text: "see this",
      attachments: [{ kind: "file", name: "plan.pdf" }],
    });
    expect(rest?.text).toBe("end");
  });

  test("a file is uploaded to the server, and its address said", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const data = Buffer.from("a plan\n".repeat(100));
    const request = {
      route: routeTo(bot.room),
      id: "t:0",
      mime: "text/plain",
      signal: never,
      data,
    };
    const { messageIds } = (await bot.channel.outbound.sendMedia?.({
      ...request,
      name: "der Plan.txt",
      caption: "**the plan**",
    })) ?? { messageIds: [] };
    expect(messageIds).toHaveLength(2);
    const isFile = (one: Element) =>
      one.attrs.from === `${bot.room}/${bot.nick}` &&
      one.getChild("x", "jabber:x:oob") !== undefined;
    const sent = await ann.until(isFile);
    const url = sent.getChild("x", "jabber:x:oob")?.getChild("url")?.text() ?? "";
    expect(sent.getChild("body")?.text()).toBe(url);
    expect(await (await fetch(url)).text()).toBe(data.toString());
    expect(saidBy(ann, bot.room, bot.nick)[0]?.text).toBe("*the plan*");
    const tooLarge = bot.channel.outbound.sendMedia?.({
      ...request,
      name: "big",
      data: Buffer.alloc(200_000),
    });
    expect(await tooLarge?.catch((error) => error)).toMatchObject({ disposition: "terminal" });
  });

  test("a direct chat: answers, replies, corrections, retractions and reactions both ways", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const wireId = await ann.write(self, "psst");
    const asked = await bot.said("psst");
    expect(asked.chat).toMatchObject({ id: ann.jid, kind: "direct" });
    const route = routeTo(ann.jid, "direct");
    const { outbound } = bot.channel;
    const request = { route, id: "t:1", text: "what?", signal: never };
    const [id = ""] = (await outbound.replyText({ ...request, replyTo: asked.id, quote: false }))
      .messageIds;
    const answer = await ann.until((one) => one.attrs.id === id);
    expect(answer.getChild("reply", "urn:xmpp:reply:0")?.attrs.id).toBe(wireId);
    await outbound.addReaction?.(route, asked.id, "👀", never);
    await ann.until(
      (one) => one.getChild("reactions", "urn:xmpp:reactions:0")?.attrs.id === wireId,
    );
    await outbound.editText?.({ ...request, text: "what is it?", messageId: id });
    await ann.until(
      (one) => one.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id === id,
    );
    await ann.write(self, "never mind", replace(wireId));
    await until(() => ofType(bot, "edit").find(({ edit }) => edit.id === asked.id), "the edit");
    await ann.send(xml("message", { to: self, type: "chat", id: "r1" }, reactions(id, "👍")));
    await until(() => ofType(bot, "reaction")[0], "the reaction");
    expect(ofType(bot, "reaction")[0]?.reaction).toMatchObject({ id, added: ["👍"], ofSelf: true });
    await ann.write(self, "hm", xml("reply", { xmlns: "urn:xmpp:reply:0", id, to: self }));
    expect((await bot.said("hm")).replyTo).toMatchObject({ id, authorIsSelf: true });
    await ann.send(xml("message", { to: self, type: "chat", id: "d1" }, retract(wireId)));
    await until(() => ofType(bot, "delete")[0], "the deletion");
    expect(ofType(bot, "delete")[0]?.deletion.id).toBe(asked.id);
  });

  test("somebody who does not exist refuses a direct message", async () => {
    const bot = await enter(server, people);
    const error: unknown = await bot
      .send("anyone?", routeTo("nobody@xmpp.test", "direct"))
      .catch((reason) => reason);
    expect(error).toMatchObject({ disposition: "terminal" });
  });

  test("a private chat through a room goes to the person, not to the nick", async () => {
    const { ann, bob, robot } = people;
    const bot = await enter(server, people);
    await bob.write(`${bot.room}/${bot.nick}`, "between us");
    const asked = await bot.said("between us");
    const { id, kind } = asked.chat;
    expect(kind).toBe("direct");
    expect(id.startsWith(`${bot.room}/#`)).toBe(true);
    expect(asked.author.id).toBe(occupantIn(bob, bot.room, "bob"));
    await bot.send("of course", routeTo(id, "direct"));
    await bob.until((one) => one.getChild("body")?.text() === "of course");
    await bob.leave(bot.room);
    await ann.until(
      ({ attrs }) => attrs.from === `${bot.room}/bob` && attrs.type === "unavailable",
    );
    await robot.join(bot.room, "bob");
    await robot.say(bot.room, "I am Bob now");
    await bot.said("I am Bob now");
    const error: unknown = await bot.send("and more", routeTo(id, "direct")).catch((one) => one);
    expect(error).toMatchObject({ disposition: "terminal" });
    expect(robot.stanzas.some((one) => one.getChild("body")?.text() === "and more")).toBe(false);
    await robot.leave(bot.room, "bob");
  });

  test("what is shown as code or as a quote is marked, unless it is unstyled", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const text = "run `rm -rf` now\n> said Bob\n```\nlet a;\n```\nend";
    await ann.say(bot.room, text);
    const { verbatim = [] } = await bot.said(text);
    expect(verbatim.map(([from, to]) => text.slice(from, to))).toEqual([
      "`rm -rf`",
      "> said Bob",
      "```\nlet a;\n```",
    ]);
    await ann.say(bot.room, "a `b`", xml("unstyled", { xmlns: "urn:xmpp:styling:0" }));
    expect((await bot.said("a `b`")).verbatim).toBeUndefined();
  });

  test.each([
    ["one character", "x"],
    ["right to left and combining marks", "שלום עולם e\u0301 \u202Eabc"],
    ["emoji of several parts", "👩🏽‍🚀🏳️‍🌈"],
    ["what XML must escape", `<b a="1">&amp; ]]> 'x'</b>`],
    ["a long one, of wide characters", "語🦆".repeat(20_000)],
  ])("%s arrives as it was written, both ways", async (_, text) => {
    const { ann } = people;
    const bot = await enter(server, people);
    await ann.say(bot.room, text);
    expect((await bot.said(text)).text).toBe(text);
    await bot.send(text.slice(0, 3_000));
    await ann.until(() => saidBy(ann, bot.room, bot.nick).length === 1);
    expect(saidBy(ann, bot.room, bot.nick)[0]?.text).toBe(text.slice(0, 3_000));
  });

  test("what XML cannot hold does not end the stream", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    await bot.send("a\u0000b\ufffec\u0008d \ud800 e");
    await ann.until(() => saidBy(ann, bot.room, bot.nick).length === 1);
    expect(saidBy(ann, bot.room, bot.nick)[0]?.text).toBe("abcd \ufffd e");
    expect(bot.channel.states.map(({ state }) => state)).toEqual(["live"]);
  });
});
