/**
 * A network of two inspircds splits and is whole again: who was on the other side is gone and comes
 * back, and nobody said anything by that.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import type { ChannelAccount, ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { saidBy } from "../../../support/irc/irc-rig.ts";
import { type Ircd, missingPackages, startInspircdPair } from "../../../support/irc/ircd.ts";
import { IrcPerson } from "../../../support/irc/person.ts";

const missing = missingPackages("inspircd");
const never = new AbortController().signal;
const patience = { timeout: 20_000 };

describe.skipIf(missing !== "")(`a netsplit (apt-get install ${missing || "done"})`, () => {
  let near: Ircd;
  let far: Ircd;
  let oper: IrcPerson;
  let farOper: IrcPerson;
  const operator = async (server: Ircd, nick: string) => {
    const one = await IrcPerson.connect(server.port, nick);
    await one.ask("OPER root root");
    await one.until((line) => line.includes(" 381 "));
    return one;
  };
  beforeAll(async () => {
    [near, far] = await startInspircdPair();
    oper = await operator(near, "oper");
    farOper = await operator(far, "faroper");
  });
  afterAll(async () => {
    await oper.close();
    await farOper.close();
    await near.stop();
    await far.stop();
  });

  const isSeen = async (by: IrcPerson, nick: string) =>
    (await by.ask(`WHOIS ${nick}`)).some((line) => line.includes(" 311 "));
  /** Resolves when both sides know of it; `across` is a person of the far one. */
  const split = async (across: IrcPerson) => {
    /** Nothing, or what both servers say of a link that is still there. */
    const stillLinked = async () => {
      // Asked for each time: a link that is still being made may outlive the first.
      const answer = await oper.ask("SQUIT leaf.test");
      if (!(await isSeen(across, "oper"))) return [];
      // Of two that were being made at once, the far side may have kept the one that is no more here.
      await farOper.ask("SQUIT irc.test");
      if (!(await isSeen(across, "oper"))) return [];
      return [...answer, ...(await oper.ask("LINKS")), ...(await across.ask("LINKS"))];
    };
    await expect.poll(stillLinked, patience).toEqual([]);
  };
  /** Links the two; resolves when they see each other's people. */
  const link = async (across: IrcPerson) => {
    const isLinked = async () => {
      // Refused while the other side has not seen the end of the last link.
      await oper.ask("CONNECT leaf.test");
      return isSeen(oper, across.nick);
    };
    await expect.poll(isLinked, { ...patience, interval: 1_000 }).toBe(true);
    await expect.poll(() => isSeen(across, "oper"), patience).toBe(true);
  };
  const person = async (server: Ircd, nick: string, room: string) => {
    const one = await IrcPerson.connect(server.port, nick);
    onTestFinished(() => one.close());
    await one.join(room);
    return one;
  };
  /** A bot on the near server. */
  const open = (nick: string, room: string) => {
    let account: ChannelAccount | null = null;
    const channel = openChannel(
      {
        ...(ircChannel as ChannelDefinition),
        open(context) {
          account = (ircChannel as ChannelDefinition).open(context);
          return account;
        },
      },
      { host: "127.0.0.1", port: near.port, tls: false, nick, join: [room], lineIntervalMs: 0 },
    );
    onTestFinished(() => channel.stop());
    const route = {
      channel: "irc",
      account: "default",
      chat: { id: room, kind: "group" },
      thread: null,
    } as const;
    const members = () => account?.membership?.(route, never);
    const send = (text: string) =>
      channel.outbound.sendText({ route, id: `t:${text}`, text, signal: never });
    const others = () => channel.messages().filter(({ author }) => !author.isSelf);
    const heard = () => others().map(({ text }) => text);
    return { channel, members, send, heard };
  };

  test("members are right at each moment, and nothing is heard or said twice", async () => {
    const room = "#split";
    const nick = "scout";
    const bob = await person(near, "bob", room);
    const ann = await person(far, "ann", room);
    const robot = await person(far, "robot", room);
    await robot.ask("MODE robot +B");
    await link(robot);
    const { channel, members, send, heard } = open(nick, room);
    await channel.live();
    expect(await members()).toEqual({ humans: 2, bots: 2, truncated: false });
    await ann.say(room, "one");
    await expect.poll(heard, patience).toEqual(["one"]);
    await send("first");

    await split(robot);
    await expect.poll(members, patience).toEqual({ humans: 1, bots: 1, truncated: false });
    await ann.say(room, "on the other side");
    await bob.say(room, "two");
    await send("during");

    await link(robot);
    await expect.poll(members, patience).toEqual({ humans: 2, bots: 2, truncated: false });
    await ann.say(room, "three");
    await send("after");
    await expect.poll(heard, patience).toEqual(["one", "two", "three"]);
    const seen = (by: IrcPerson) => saidBy(by, nick, room).map(({ text }) => text);
    await expect.poll(() => seen(ann), patience).toEqual(["first", "after"]);
    await expect.poll(() => seen(bob), patience).toEqual(["first", "during", "after"]);
    expect(channel.states).toEqual([{ state: "live" }]);
    expect(channel.gaps).toEqual([]);
  });

  test("its nick was taken on the other side: the state says so, and it gets it back", async () => {
    const room = "#twins";
    const rival = await person(far, "rival", room);
    await split(rival);
    // The server compares whole seconds; who had the nick first keeps it.
    const second = () => Math.floor(Date.now() / 1_000);
    const taken = second();
    await expect.poll(second, patience).toBeGreaterThan(taken);
    const { channel, heard } = open("rival", room);
    await channel.live();
    expect(channel.states).toEqual([{ state: "live" }]);
    await link(rival);
    const detail = () => channel.states.at(-1)?.detail;
    await expect.poll(detail, patience).toMatch(/^as \S+, because rival is in use$/);
    const now = /^as (\S+),/.exec(detail() ?? "")?.[1] as string;
    await rival.say(room, `${now}: is that you?`);
    await expect.poll(heard, patience).toEqual([`${now}: is that you?`]);
    expect(channel.messages()[0]).toMatchObject({
      author: { name: "rival", isSelf: false },
      mentions: [{ name: now, isSelf: true }],
    });
    rival.write("QUIT");
    await expect.poll(detail, patience).toBeUndefined();
    expect(channel.states.map(({ state }) => state)).not.toContain("backing-off");
    expect(channel.gaps).toEqual([]);
  });
});
