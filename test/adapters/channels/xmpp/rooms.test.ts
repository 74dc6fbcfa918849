/** Rooms as they are in real life, on a real prosody: names, kicks, bans, silence, TLS. */
import { xml } from "@xmpp/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { xmppChannel } from "../../../../src/adapters/channels/xmpp/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { enter, never, routeTo, self, until } from "../../../support/xmpp/bot.ts";
import { XmppPerson } from "../../../support/xmpp/person.ts";
import {
  archivedRooms,
  missingProsody,
  type Prosody,
  silentRooms,
  startSilent,
} from "../../../support/xmpp/prosody.ts";
import {
  accounts,
  botPassword,
  startPeople,
  type XmppPeople,
} from "../../../support/xmpp/xmpp-rig.ts";

const mucUser = "http://jabber.org/protocol/muc#user";

describe.skipIf(missingProsody !== "")(
  `rooms (apt-get install ${missingProsody || "done"})`,
  () => {
    let server: Prosody;
    let people: XmppPeople;
    beforeAll(async () => {
      ({ server, people } = await startPeople());
    });
    afterAll(() => people.close());

    test("TLS: a certificate that signs itself is refused, unless the config takes it", async () => {
      const account = { jid: self, password: botPassword, host: "127.0.0.1", port: server.port };
      const opened = (config: object) => {
        const channel = openChannel(xmppChannel as ChannelDefinition, { ...account, ...config });
        onTestFinished(() => channel.stop());
        return channel;
      };
      for (const tls of ["starttls", "direct"]) {
        const port = tls === "direct" ? server.tlsPort : server.port;
        const strict = opened({ tls, port });
        await strict.state("backing-off");
        expect(strict.states.at(-1)?.detail).toContain("set verifyCertificate: false");
        await strict.stop();
        const mild = opened({ tls, port, verifyCertificate: false });
        await mild.live();
        await mild.stop();
      }
    });

    test("a nick in use: another one, said in the state, and the own one when it is free", async () => {
      const { bob, ann } = people;
      const bot = await enter(server, people, {
        before: (room, nick) => bob.send(xml("presence", { to: `${room}/${nick}` })),
      });
      expect(bot.detail()).toBe(`as ${bot.nick}_ in ${bot.room}, because ${bot.nick} is in use`);
      await ann.say(bot.room, `${bot.nick}_: hello`);
      expect((await bot.said(`${bot.nick}_: hello`)).mentions).toMatchObject([{ isSelf: true }]);
      await bob.send(xml("presence", { to: `${bot.room}/bob` }));
      await until(() => (bot.detail() === "" ? true : undefined), "the own nick");
      await ann.say(bot.room, `${bot.nick}: again`);
      expect((await bot.said(`${bot.nick}: again`)).mentions).toMatchObject([{ isSelf: true }]);
    });

    test("who changes the nick stays the same person, and who takes it is another one", async () => {
      const { bob, robot, ann } = people;
      const bot = await enter(server, people);
      await bob.say(bot.room, "I am Bob");
      await bob.send(xml("presence", { to: `${bot.room}/robert` }));
      await ann.until(({ attrs }) => attrs.from === `${bot.room}/robert`);
      await robot.join(bot.room, "bob");
      onTestFinished(() => robot.leave(bot.room, "bob"));
      await bob.say(bot.room, "I am Robert");
      await robot.say(bot.room, "I am the other Bob");
      const [first, second, third] = [
        await bot.said("I am Bob"),
        await bot.said("I am Robert"),
        await bot.said("I am the other Bob"),
      ];
      expect(second.author).toMatchObject({ id: first.author.id, name: "robert" });
      expect(third.author.id).not.toBe(first.author.id);
      expect(third.author.name).toBe(first.author.name);
      await bob.leave(bot.room, "robert");
    });

    test("a room that shows addresses: these are the ids, and nobody can claim another one", async () => {
      const { bob } = people;
      const open = { "muc#roomconfig_whois": "anyone" };
      const claim = xml("x", { xmlns: mucUser }, xml("item", { jid: "ann@xmpp.test" }));
      let forged = "";
      const bot = await enter(server, people, {
        room: open,
        before: async (room) => {
          forged = await bob.say(room, "before", claim);
        },
      });
      const history = bot.channel.events().find((event) => event.type === "history");
      expect(history?.type === "history" && history.history.messages).toMatchObject([
        { id: forged, author: { id: bob.jid } },
      ]);
      await bob.say(bot.room, "now", claim);
      expect((await bot.said("now")).author.id).toBe(bob.jid);
    });

    test("a room that does not exist is made", async () => {
      const room = `fresh@${archivedRooms}`;
      const bot = await enter(server, people, { config: { rooms: [room] } });
      await people.ann.join(room);
      const request = { route: routeTo(room), id: "t:0", text: "welcome", signal: never };
      await bot.channel.outbound.sendText(request);
      await people.ann.until((one) => one.getChild("body")?.text() === "welcome");
      await people.ann.leave(room);
    });

    test("kicked: it says so, comes back, and has not missed what was said meanwhile", async () => {
      const { ann } = people;
      const bot = await enter(server, people);
      await ann.admin(bot.room, { nick: bot.nick, role: "none" }, "too loud");
      await until(() => (bot.detail() === "" ? undefined : true), "the kick");
      expect(bot.detail()).toBe(`not in ${bot.room} (kicked: too loud)`);
      await ann.say(bot.room, "while it was out");
      const error: unknown = await bot.send("hello?").catch((reason) => reason);
      expect(error).toMatchObject({ disposition: "retry" });
      await until(() => (bot.detail() === "" ? true : undefined), "to be back");
      await ann.say(bot.room, "and now");
      await bot.said("and now");
      expect(bot.heard()).toEqual(["while it was out", "and now"]);
      expect(bot.channel.gaps).toEqual([]);
    });

    test("a room that was destroyed: the state says where it goes on, and it is not made again", async () => {
      const { ann } = people;
      const [old, other] = [`small@${archivedRooms}`, `other@${archivedRooms}`];
      for (const room of [old, other]) await ann.join(room);
      const bot = await enter(server, people, { config: { rooms: [old, other] } });
      const next = `larger@${archivedRooms}`;
      const destroy = xml("destroy", { jid: next }, xml("reason", {}, "too small"));
      const query = xml("query", { xmlns: "http://jabber.org/protocol/muc#owner" }, destroy);
      await ann.ask("set", old, query);
      const note = `not in ${old} (the room was destroyed, and goes on at ${next}: too small)`;
      await until(() => (bot.detail() === note ? true : undefined), "the note");
      // A kick is over after the pause of a new try.
      await ann.admin(other, { nick: bot.nick, role: "none" });
      await until(() => (bot.detail().includes(other) ? true : undefined), "the kick");
      await until(() => (bot.detail().includes(other) ? undefined : true), "to be back");
      expect(bot.detail()).toBe(note);
      await ann.leave(other);
    });

    test("banned, and a password that is missing: the state says it, other rooms go on", async () => {
      const { ann } = people;
      const banned = `closed@${archivedRooms}`;
      const locked = `locked@${archivedRooms}`;
      await ann.join(banned);
      await ann.admin(banned, { jid: self, affiliation: "outcast" });
      await ann.join(locked, "ann", {
        "muc#roomconfig_passwordprotectedroom": "1",
        "muc#roomconfig_roomsecret": "sesame",
      });
      const bot = await enter(server, people, { live: false, config: {} });
      await bot.channel.stop();
      const rooms = [banned, { jid: locked, password: "wrong" }, bot.room];
      const channel = openChannel(xmppChannel as ChannelDefinition, { ...bot.config, rooms });
      onTestFinished(() => channel.stop());
      await channel.live();
      const detail = channel.states.at(-1)?.detail;
      expect(detail).toContain(`not in ${banned} (forbidden`);
      expect(detail).toContain(`not in ${locked} (not-authorized`);
      const id = await ann.say(bot.room, "still here");
      await channel.message(id);
      const keyed = openChannel(xmppChannel as ChannelDefinition, {
        ...bot.config,
        rooms: [{ jid: locked, password: "sesame" }],
      });
      onTestFinished(() => keyed.stop());
      await keyed.live();
      expect(keyed.states.at(-1)?.detail).toBeUndefined();
      for (const room of [banned, locked]) await ann.leave(room);
    });

    test("a room that does not answer: the state says it, the rest goes on, and it is tried again", async () => {
      const { ann } = people;
      const silent = await startSilent(server);
      onTestFinished(() => silent.close());
      const bot = await enter(server, people, { live: false });
      await bot.channel.stop();
      const far = `hall@${silentRooms}`;
      const channel = openChannel(xmppChannel as ChannelDefinition, {
        ...bot.config,
        rooms: [far, bot.room],
      });
      onTestFinished(() => channel.stop());
      await channel.live();
      expect(channel.states.at(-1)?.detail).toBe(`not in ${far} (it does not answer)`);
      // Now the server says that nobody is there; before, nothing was said at all.
      silent.close();
      const id = await ann.say(bot.room, "still here, as ever");
      await channel.message(id);
      const send = { route: routeTo(far), id: "t:far", text: "hello?", signal: never };
      await expect(channel.outbound.sendText(send)).rejects.toMatchObject({
        code: "EAR_CHANNEL_UNAVAILABLE",
      });
      await expect
        .poll(() => channel.states.at(-1)?.detail, { timeout: 60_000 })
        .toMatch(/ \((?:service-unavailable|remote-server-)/);
      expect(channel.states.map(({ state }) => state)).not.toContain("backing-off");
    });

    test("a room that has lost us without a word is entered again", async () => {
      const { ann } = people;
      const bot = await enter(server, people, { config: { pingIntervalMs: 400 } });
      bot.proxy.toClient.next(/<presence[^>]*type='unavailable'/, "drop");
      await ann.admin(bot.room, { nick: bot.nick, role: "none" });
      await ann.say(bot.room, "to nobody");
      await until(() => (bot.detail() === "" ? undefined : true), "the loss");
      expect(bot.detail()).toBe(`not in ${bot.room} (the room has lost us)`);
      await bot.said("to nobody");
    });

    test("a line that says nothing is found out, and a new one recovers what was said", async () => {
      const { ann } = people;
      const bot = await enter(server, people, { config: { pingIntervalMs: 400 } });
      bot.proxy.hang(true);
      await ann.say(bot.room, "into the void");
      await bot.channel.state("backing-off");
      expect(bot.detail()).toContain("it has not answered for too long");
      bot.proxy.hang(false);
      await bot.said("into the void");
      expect(bot.heard()).toEqual(["into the void"]);
    });

    test("somebody else's login with the same resource ends ours, and we come back", async () => {
      const bot = await enter(server, people, { config: { resource: "home" } });
      const other = await XmppPerson.connect(server.port, "scout", accounts.scout);
      await bot.channel.state("backing-off");
      expect(bot.detail()).toContain("conflict");
      await bot.channel.live();
      await other.close().catch(() => undefined);
    });
  },
);
