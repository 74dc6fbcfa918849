/** What was said while the bot was away, with an archive and without one, on a real prosody. */
import { xml } from "@xmpp/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { xmppChannel } from "../../../../src/adapters/channels/xmpp/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { type Bot, enter, self, until } from "../../../support/xmpp/bot.ts";
import { missingProsody, type Prosody, plainRooms } from "../../../support/xmpp/prosody.ts";
import { startPeople, type XmppPeople } from "../../../support/xmpp/xmpp-rig.ts";

const contextOf = ({ channel }: Pick<Bot, "channel">) =>
  channel
    .events()
    .flatMap((event) => (event.type === "history" ? event.history.messages : []))
    .map(({ text }) => text);

describe.skipIf(missingProsody !== "")(`history (apt-get install ${missingProsody})`, () => {
  let server: Prosody;
  let people: XmppPeople;
  beforeAll(async () => {
    ({ server, people } = await startPeople());
  });
  afterAll(() => people.close());

  /** Breaks the line, and waits until the room has noticed. */
  const away = async (bot: Bot) => {
    bot.proxy.cut();
    await people.ann.until(
      ({ attrs }) => attrs.from === `${bot.room}/${bot.nick}` && attrs.type === "unavailable",
    );
    await bot.channel.state("backing-off");
  };
  const back = async (bot: Bot) => {
    bot.proxy.restore();
    await bot.channel.live();
  };
  const sayAll = async (room: string, ...texts: readonly string[]) => {
    for (const text of texts) await people.ann.say(room, text);
  };

  test.each([["with an archive"], ["without an archive"]])(
    "%s: what was said before the bot first came is context",
    async (how) => {
      const bot = await enter(server, people, {
        ...(how === "with an archive" ? {} : { service: plainRooms }),
        before: (room) => sayAll(room, "one", "two"),
      });
      await people.ann.say(bot.room, "three");
      await bot.said("three");
      expect(contextOf(bot)).toEqual(["one", "two"]);
      expect(bot.heard()).toEqual(["three"]);
      expect(bot.channel.gaps).toEqual([]);
    },
  );

  test("an archive: hundreds of lines come back in order, once, before what is new", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    await sayAll(bot.room, "before");
    await bot.said("before");
    await away(bot);
    const missed = Array.from({ length: 130 }, (_, n) => `missed ${n}`);
    const id = `${bot.room}-last`;
    await Promise.all(missed.map((text) => ann.send(line(bot.room, text))));
    await ann.inRoom(bot.room, xml("body", {}, id));
    await back(bot);
    await sayAll(bot.room, "after");
    await bot.said("after");
    expect(bot.heard()).toEqual(["before", ...missed, id, "after"]);
    expect(bot.channel.gaps).toEqual([]);
  });

  test("an archive: a correction, a reaction and a retraction of the time away", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const own = await bot.send("mine");
    const first = await ann.inRoom(bot.room, xml("body", {}, "helo"));
    const second = await ann.say(bot.room, "gone soon");
    await bot.said("gone soon");
    await away(bot);
    await ann.say(
      bot.room,
      "hello",
      xml("replace", { xmlns: "urn:xmpp:message-correct:0", id: first.attrs.id ?? "" }),
    );
    const all = { xmlns: "urn:xmpp:reactions:0", id: own };
    const store = xml("store", { xmlns: "urn:xmpp:hints" });
    await ann.inRoom(bot.room, xml("reactions", all, xml("reaction", {}, "🎉")), store);
    const retract = xml("retract", { xmlns: "urn:xmpp:message-retract:1", id: second });
    await ann.inRoom(bot.room, retract, store);
    await back(bot);
    const types = () => bot.channel.events().map(({ type }) => type);
    await until(() => (types().includes("delete") ? true : undefined), "the retraction");
    const original = await bot.said("helo");
    const events = bot.channel.events();
    expect(events).toContainEqual(
      expect.objectContaining({
        edit: expect.objectContaining({ id: original.id, text: "hello" }),
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ reaction: expect.objectContaining({ id: own, added: ["🎉"] }) }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ deletion: expect.objectContaining({ id: second }) }),
    );
  });

  test("a new process knows what corrections of earlier messages refer to", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const first = await ann.inRoom(bot.room, xml("body", {}, "helo"));
    const original = await bot.said("helo");
    await bot.channel.stop();
    const next = openChannel(xmppChannel as ChannelDefinition, bot.config, bot.channel.cursors);
    onTestFinished(() => next.stop());
    await next.live();
    const replace = { xmlns: "urn:xmpp:message-correct:0", id: first.attrs.id ?? "" };
    await ann.say(bot.room, "hello", xml("replace", replace));
    expect((await next.edit(original.id)).text).toBe("hello");
    expect(next.messages()).toEqual([]);
    expect(contextOf({ channel: next })).toEqual([]);
  });

  test("direct messages of the time away come once, also where the server keeps them twice", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    await ann.write(self, "before");
    await bot.said("before");
    await away(bot);
    await ann.write(self, "are you there?");
    await ann.write(self, "hello?");
    await back(bot);
    await ann.write(self, "at last");
    await bot.said("at last");
    expect(bot.heard()).toEqual(["before", "are you there?", "hello?", "at last"]);
    expect(bot.channel.gaps).toEqual([]);
  });

  test("without an archive: what the room plays back, and no gap if that begins before", async () => {
    const bot = await enter(server, people, { service: plainRooms });
    await sayAll(bot.room, "before");
    await bot.said("before");
    await away(bot);
    await sayAll(bot.room, "one", "two");
    await back(bot);
    await sayAll(bot.room, "after");
    await bot.said("after");
    expect(bot.heard().filter((text) => text !== "before")).toEqual(["one", "two", "after"]);
    expect(bot.channel.identities()).toHaveLength(4);
    expect(bot.channel.gaps).toEqual([]);
  });

  test("without an archive: more than the room plays back is a gap, reported once", async () => {
    const { ann } = people;
    const bot = await enter(server, people, { service: plainRooms });
    await sayAll(bot.room, "before");
    await bot.said("before");
    const began = Date.now();
    await away(bot);
    const missed = Array.from({ length: 30 }, (_, n) => `missed ${n}`);
    await Promise.all(missed.slice(0, -1).map((text) => ann.send(line(bot.room, text))));
    await ann.say(bot.room, missed.at(-1) as string);
    await back(bot);
    await sayAll(bot.room, "after");
    await bot.said("after");
    // Prosody plays back twenty.
    expect(bot.heard()).toEqual(["before", ...missed.slice(-20), "after"]);
    expect(bot.channel.gaps).toHaveLength(1);
    const [gap] = bot.channel.gaps;
    expect(gap).toMatchObject({ rooms: [bot.room], lost: "messages" });
    expect(gap?.from).toBeLessThan(gap?.to ?? 0);
    expect(gap?.to).toBeGreaterThan(began);
  });

  test("an archive that no longer has our last message: what it has, and a gap", async () => {
    const bot = await enter(server, people);
    await sayAll(bot.room, "before");
    await bot.said("before");
    await bot.channel.stop();
    const [[identity, stored] = ["", "{}"]] = [...bot.channel.cursors];
    const cursor = JSON.parse(stored) as { archives: Record<string, string> };
    cursor.archives[bot.room] = "long-gone";
    const cursors = new Map([[identity, JSON.stringify(cursor)]]);
    await sayAll(bot.room, "meanwhile");
    const next = openChannel(xmppChannel as ChannelDefinition, bot.config, cursors);
    onTestFinished(() => next.stop());
    await next.live();
    expect(next.messages().map(({ text }) => text)).toContain("meanwhile");
    expect(next.gaps).toMatchObject([{ rooms: [bot.room], lost: "messages" }]);
  });
});

/** A line of a person who does not wait for the room. */
const line = (room: string, text: string) =>
  xml("message", { to: room, type: "groupchat" }, xml("body", {}, text));
