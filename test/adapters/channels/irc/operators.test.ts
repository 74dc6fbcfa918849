/**
 * What the operators of a network can do to a bot, on real servers: a KILL is over with the next
 * connection, a ban of its user is not and halts the account.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import {
  type Ircd,
  missingPackages,
  startInspircd,
  startNgircd,
} from "../../../support/irc/ircd.ts";
import { IrcPerson } from "../../../support/irc/person.ts";

const servers = [
  ["inspircd", () => startInspircd()],
  ["ngircd", startNgircd],
] as const;

describe.each(servers)("%s", (name, start) => {
  const missing = missingPackages(name);
  describe.skipIf(missing !== "")(`on ${name} (apt-get install ${missing || "done"})`, () => {
    let server: Ircd;
    let oper: IrcPerson;
    let count = 0;
    beforeAll(async () => {
      server = await start();
      oper = await IrcPerson.connect(server.port, "oper");
      await oper.ask("OPER root root");
      await oper.until((line) => line.includes(" 381 "));
    });
    afterAll(async () => {
      await oper.close();
      await server.stop();
    });

    /** Without ident, ngircd puts `~` before what a user calls itself; its masks have a nick. */
    const maskOf = (username: string) => (name === "ngircd" ? `*!~${username}@*` : `${username}@*`);
    const open = () => {
      count += 1;
      const [nick, username, room] = [`bot${count}`, `user${count}`, `#r${count}`];
      const basics = { host: "127.0.0.1", port: server.port, tls: false, lineIntervalMs: 0 };
      const channel = openChannel(ircChannel as ChannelDefinition, {
        ...basics,
        nick,
        username,
        join: [room],
      });
      onTestFinished(() => channel.stop());
      return { channel, nick, username, room };
    };

    test("KILL: the state has the operator's reason, and it comes back with a gap", async () => {
      const { channel, nick, room } = open();
      await channel.live();
      await oper.join(room);
      await oper.say(room, "before");
      await expect.poll(() => channel.messages().length, { timeout: 20_000 }).toBe(1);
      await oper.ask(`KILL ${nick} :spoke too loudly`);
      await channel.state("backing-off");
      const { detail } = channel.states.at(-1) ?? {};
      expect(detail).toContain("spoke too loudly");
      await oper.say(room, "behind its back");
      await channel.live();
      await oper.say(room, "after");
      await expect.poll(() => channel.messages().length, { timeout: 20_000 }).toBe(2);
      expect(channel.messages().map(({ text }) => text)).toEqual(["before", "after"]);
      expect(channel.gaps).toMatchObject([{ rooms: [room], lost: "messages" }]);
      expect(channel.states.at(-1)).toEqual({ state: "live" });
    });

    test("a ban while it is connected and a KILL: the account halts, with the reason", async () => {
      const { channel, nick, username } = open();
      await channel.live();
      const mask = maskOf(username);
      await oper.ask(`KLINE ${mask} 3600 :too many birds`);
      await oper.ask(`KILL ${nick} :go`);
      const error = await channel.ended();
      expect(error).toMatchObject({ code: "EAR_CHANNEL_AUTH", disposition: "terminal" });
      expect(String(error)).toContain("we are banned there");
      expect(String(error)).toContain("too many birds");
    });

    test("a ban before it connects: the account halts, with the reason", async () => {
      const mask = maskOf(`user${count + 1}`);
      await oper.ask(`KLINE ${mask} 3600 :no birds`);
      const { channel } = open();
      const error = await channel.ended();
      expect(error).toMatchObject({ code: "EAR_CHANNEL_AUTH", disposition: "terminal" });
      expect(String(error)).toContain("we are banned there");
      expect(String(error)).toContain("no birds");
    });
  });
});
