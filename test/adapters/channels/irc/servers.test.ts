/** What IRC is in real life, on real servers: inspircd, and ngircd with little more than RFC 2812. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import { EarshotError } from "../../../../src/domain/errors.ts";
import type { Route } from "../../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { type OpenedChannel, openChannel } from "../../../../src/testing/open-channel.ts";
import { saidBy } from "../../../support/irc/irc-rig.ts";
import {
  type Ircd,
  missingPackages,
  startInspircd,
  startNgircd,
} from "../../../support/irc/ircd.ts";
import { IrcPerson } from "../../../support/irc/person.ts";
import { startTcpProxy } from "../../../support/servers/tcp-proxy.ts";

const never = new AbortController().signal;
let count = 0;

const servers = [
  ["inspircd", () => startInspircd()],
  ["ngircd", startNgircd],
] as const;

describe.each(servers)("%s", (name, start) => {
  const missing = missingPackages(name);
  describe.skipIf(missing !== "")(`on ${name} (apt-get install ${missing || "done"})`, () => {
    let server: Ircd;
    let ann: IrcPerson;
    beforeAll(async () => {
      server = await start();
      ann = await IrcPerson.connect(server.port, "ann");
    });
    afterAll(async () => {
      await ann.close();
      await server.stop();
    });

    /** A bot in a room with Ann, who is the room's operator. */
    const enter = async (config: object = {}, live = true) => {
      count += 1;
      const room = `#r${count}`;
      const nick = `bot${count}`;
      await ann.join(room);
      const channel = openChannel(ircChannel as ChannelDefinition, {
        host: "127.0.0.1",
        port: server.port,
        tls: false,
        nick,
        join: [room],
        lineIntervalMs: 0,
        ...config,
      });
      onTestFinished(() => channel.stop());
      if (live) await channel.live();
      return { room, nick, channel };
    };
    const routeTo = (id: string, kind: "group" | "direct" = "group"): Route => ({
      channel: "irc",
      account: "default",
      chat: { id, kind },
      thread: null,
    });
    const send = (channel: OpenedChannel, route: Route, text: string, signal = never) =>
      channel.outbound.sendText({ route, id: `t:${text.length}`, text, signal });
    const detailOf = (channel: OpenedChannel) => channel.states.at(-1)?.detail ?? "";
    const heard = (channel: OpenedChannel) => channel.messages().map(({ text }) => text);

    test("TLS: a certificate that signs itself is refused, unless the config takes it", async () => {
      const tls = { port: server.tlsPort, tls: true };
      const { channel: strict } = await enter(tls, false);
      await strict.state("backing-off");
      expect(detailOf(strict)).toContain("set verifyCertificate: false");
      const { room, nick, channel } = await enter({ ...tls, verifyCertificate: false });
      await send(channel, routeTo(room), "encrypted");
      await ann.until(() => saidBy(ann, nick, room).length === 1);
    });

    test("a nick in use: another one, said in the state, and the own one when it is free", async () => {
      const other = await IrcPerson.connect(server.port, `wanted${name}`);
      const next = `#r${count + 1}`;
      await other.join(next);
      const { channel, room } = await enter({ nick: other.nick });
      expect(detailOf(channel)).toBe(`as ${other.nick}_, because ${other.nick} is in use`);
      await ann.say(room, `${other.nick}_: hello`);
      await expect.poll(() => channel.messages().length).toBe(1);
      expect(channel.messages()[0]?.mentions).toMatchObject([{ isSelf: true }]);
      other.write("QUIT");
      await expect.poll(() => detailOf(channel)).toBe("");
    });

    test("a long answer: whole lines within the limit, no character cut, nothing lost", async () => {
      const { channel, room, nick } = await enter();
      const text = Array.from({ length: 90 }, (_, n) => `слово${n}語`).join(" ");
      const { messageIds } = await send(channel, routeTo(room), text);
      expect(messageIds.length).toBeGreaterThan(2);
      await ann.until(() => saidBy(ann, nick, room).length === messageIds.length);
      const said = saidBy(ann, nick, room);
      expect(said.map((one) => one.text).join(" ")).toBe(text);
      const user = ann.lines.find((line) => line.includes(`:${nick}!`))?.match(/![^ ]+/)?.[0] ?? "";
      for (const { raw } of said) {
        const line = `:${nick}${user} PRIVMSG ${room} :${raw}\r\n`;
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(512);
      }
    });

    test("a line that the server cuts within a character is read as far as it goes", async () => {
      const { channel, room } = await enter();
      // As long as a client may write it; with who wrote it before it, the server has to cut it.
      const capacity = 510 - Buffer.byteLength(`PRIVMSG ${room} :`);
      for (const lead of ["", "x", "xx"]) {
        const text = lead + "語".repeat(Math.floor((capacity - lead.length) / 3));
        await ann.say(room, text);
        await expect.poll(() => heard(channel).length).toBe(lead.length + 1);
        const read = heard(channel).at(-1) ?? "";
        expect(read.length).toBeGreaterThan(100);
        // ngircd marks what it has cut.
        expect(text.startsWith(read.replace(/\ufffd?(?:\[CUT\])?$/, "")), read).toBe(true);
      }
    });

    test("a client that writes Latin-1 is read as such", async () => {
      const { channel, room } = await enter();
      ann.write(`PRIVMSG ${room} :für Ähnliches: ein Café`, "latin1");
      await expect.poll(() => heard(channel)).toEqual(["für Ähnliches: ein Café"]);
    });

    test("notices and requests to the client are neither heard nor answered; actions are heard", async () => {
      const { channel, room, nick } = await enter();
      for (const target of [room, nick]) {
        await ann.ask(`NOTICE ${target} :${nick}: are you there?`);
        for (const request of ["VERSION", "PING 1", "TIME", "DCC SEND a 1 2 3"])
          await ann.ask(`PRIVMSG ${target} :\u0001${request}\u0001`);
      }
      await ann.ask(`PRIVMSG ${room} :\u0001ACTION pokes ${nick}\u0001`);
      await ann.ask(`PRIVMSG ${room} :\u0002bold\u000f and \u000304,01red\u0003`);
      await expect.poll(() => heard(channel)).toEqual([`* ann pokes ${nick}`, "bold and red"]);
      expect(channel.messages()[0]?.mentions).toMatchObject([{ isSelf: true }]);
      expect(
        ann.lines.filter((line) => line.startsWith(`:${nick}!`) && / (NOTICE|PRIVMSG) /.test(line)),
      ).toEqual([]);
    });

    test("the nick is a word of its own, and a line may be addressed to others", async () => {
      const { channel, room, nick } = await enter();
      const bob = await IrcPerson.connect(server.port, `bob${count}`);
      onTestFinished(() => bob.close());
      await bob.join(room);
      for (const text of [
        `${nick.toUpperCase()}, hi`,
        `ask ${nick}!`,
        `${nick}-like`,
        `${bob.nick}: see`,
        `nobody: see`,
        `${bob.nick}, ${nick}: both`,
      ])
        await ann.say(room, text);
      await expect.poll(() => channel.messages().length).toBe(6);
      const mentioned = channel.messages().map(({ mentions }) => mentions.map(({ name }) => name));
      expect(mentioned).toEqual([[nick], [nick], [], [bob.nick], [], [nick, bob.nick]]);
    });

    test("an answer to a message names its author", async () => {
      const { channel, room, nick } = await enter();
      await ann.say(room, `${nick}: a question`);
      await expect.poll(() => channel.messages().length).toBe(1);
      const replyTo = channel.messages()[0]?.id as string;
      const request = { route: routeTo(room), id: "t:0", text: "yes", signal: never };
      await channel.outbound.replyText({ ...request, replyTo, quote: false });
      await ann.until(() => saidBy(ann, nick, room).length === 1);
      expect(saidBy(ann, nick, room)[0]?.raw).toBe("ann: yes");
    });

    test("a direct answer reaches who asked, and not who took the nick since", async () => {
      const { channel, nick } = await enter();
      const eve = await IrcPerson.connect(server.port, `eve${count}`);
      await eve.say(nick, "my secret");
      await expect.poll(() => heard(channel)).toEqual(["my secret"]);
      const { chat, author } = channel.messages()[0] as {
        chat: { id: string; kind: string };
        author: { id: string };
      };
      expect(chat).toMatchObject({ kind: "direct", id: author.id });
      expect(author.id).toMatch(/^~?eve\d*@(127\.0\.0\.1|localhost)$/);
      await send(channel, routeTo(chat.id, "direct"), "for you");
      await eve.until((line) => line.endsWith(" :for you"));
      await eve.ask(`NICK old${count}`);
      await eve.close();
      const gone: unknown = await send(channel, routeTo(chat.id, "direct"), "lost").catch(
        (error) => error,
      );
      expect(gone).toMatchObject({ disposition: "terminal" });
      const thief = await IrcPerson.connect(server.port, `old${count}`);
      onTestFinished(() => thief.close());
      // The same nick, another user name: another person.
      const stolen: unknown = await send(channel, routeTo(chat.id, "direct"), "stolen").catch(
        (error) => error,
      );
      expect(stolen).toMatchObject({ disposition: "terminal" });
      expect(thief.lines.filter((line) => line.includes("stolen"))).toEqual([]);
    });

    test("a person who takes another nick stays the same one, also in a direct talk", async () => {
      const { channel, room, nick } = await enter();
      const zoe = await IrcPerson.connect(server.port, `zoe${count}`);
      onTestFinished(() => zoe.close());
      await zoe.join(room);
      await zoe.say(nick, "between us");
      await expect.poll(() => heard(channel)).toEqual(["between us"]);
      await zoe.ask(`NICK zoey${count}`);
      await zoe.say(room, "it is me");
      await expect.poll(() => heard(channel)).toEqual(["between us", "it is me"]);
      const [first, second] = channel.messages();
      expect(second?.author).toMatchObject({ id: first?.author.id, name: `zoey${count}` });
      await send(channel, routeTo(first?.chat.id ?? "", "direct"), "of course");
      await zoe.until((line) => line.endsWith(" :of course"));
    });

    test("kicked: it says so, comes back, and reports what it did not hear once", async () => {
      const { channel, room, nick } = await enter();
      await ann.ask(`KICK ${room} ${nick} :out`);
      await expect.poll(() => detailOf(channel)).toBe(`not in ${room} (kicked: out)`);
      await ann.say(room, "behind its back");
      await expect.poll(() => channel.gaps).toMatchObject([{ rooms: [room], lost: "messages" }]);
      await expect.poll(() => detailOf(channel)).toBe("");
      await ann.say(room, "welcome back");
      await expect.poll(() => heard(channel)).toEqual(["welcome back"]);
      expect(channel.gaps).toHaveLength(1);
    });

    test("banned: the state names the room and the server's reason", async () => {
      const room = `#banned${count}`;
      await ann.join(room);
      await ann.ask(`MODE ${room} +b *!*@*`);
      const { channel } = await enter({ join: [room] });
      expect(detailOf(channel)).toMatch(new RegExp(`^not in ${room} \\(474 `));
      const error: unknown = await send(channel, routeTo(room), "hi").catch((reason) => reason);
      expect(error).toMatchObject({ code: "EAR_CHANNEL_REJECTED" });
    });

    test("a connection that broke: it comes back, and the gap is reported once with its span", async () => {
      const proxy = await startTcpProxy(server);
      onTestFinished(() => proxy.close());
      const { channel, room, nick } = await enter({ port: proxy.port });
      await ann.say(room, "before");
      await expect.poll(() => heard(channel)).toEqual(["before"]);
      proxy.cut();
      await channel.state("backing-off");
      const error: unknown = await send(channel, routeTo(room), "away").catch((reason) => reason);
      expect(error).toMatchObject({ disposition: "retry" });
      await ann.say(room, "during");
      proxy.restore();
      await channel.live();
      await ann.say(room, `${nick}: after`);
      await expect.poll(() => heard(channel)).toEqual(["before", `${nick}: after`]);
      expect(channel.gaps).toMatchObject([{ rooms: [room], lost: "messages" }]);
      const [{ from, to } = { from: 0, to: 0 }] = channel.gaps;
      expect(to).toBeGreaterThan(from);
    });

    test("a server that hangs leaves a send in doubt; one that is slow does not", async () => {
      const proxy = await startTcpProxy(server);
      onTestFinished(() => proxy.close());
      const { channel, room, nick } = await enter({ port: proxy.port });
      proxy.toServer.slowMs = 50;
      proxy.toClient.slowMs = 50;
      await send(channel, routeTo(room), "slow");
      await ann.until(() => saidBy(ann, nick, room).length === 1);
      proxy.hang(true);
      const lost: unknown = await send(
        channel,
        routeTo(room),
        "hang",
        AbortSignal.timeout(300),
      ).catch((error) => error);
      expect(lost).toBeInstanceOf(EarshotError);
      expect(lost).toMatchObject({ disposition: "in-doubt" });
      proxy.hang(false);
    });

    test("lines are paced: some at once, then one for each interval", async () => {
      const { channel, room, nick } = await enter({ lineBurst: 3, lineIntervalMs: 150 });
      const began = performance.now();
      await send(channel, routeTo(room), ["1", "2", "3", "4", "5", "6"].join("\n\n"));
      expect(performance.now() - began).toBeGreaterThan(400);
      await ann.until(() => saidBy(ann, nick, room).length === 6);
    });

    test("a retry goes on behind the last line that arrived", async () => {
      const proxy = await startTcpProxy(server);
      onTestFinished(() => proxy.close());
      const { channel, room, nick } = await enter({ port: proxy.port });
      const text = "one\n\ntwo\n\nthree";
      proxy.toServer.next(/PRIVMSG .*two/, async () => void (await ann.ask(`MODE ${room} +m`)));
      const error: unknown = await send(channel, routeTo(room), text).catch((reason) => reason);
      expect(error).toMatchObject({ code: "EAR_CHANNEL_REJECTED" });
      await ann.ask(`MODE ${room} -m`);
      await send(channel, routeTo(room), text);
      await ann.until(() => saidBy(ann, nick, room).length === 3);
      expect(saidBy(ann, nick, room).map((one) => one.text)).toEqual(["one", "two", "three"]);
    });

    test("a password that the server refuses halts the account", async () => {
      const other = await start();
      onTestFinished(() => other.stop());
      await other.restart("the right password");
      const { channel } = await enter(
        { port: other.port, serverPassword: "wrong-password" },
        false,
      );
      expect(await channel.ended()).toMatchObject({ code: "EAR_CHANNEL_AUTH" });
    });
  });
});
