/** A network and its bot, on a real inspircd with services: logins, bans, silent lines. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import { limits } from "../../../../src/domain/limits.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { accountPassword, registerAccount } from "../../../support/irc/irc-rig.ts";
import { type Ircd, missingPackages, startInspircd } from "../../../support/irc/ircd.ts";
import { IrcPerson } from "../../../support/irc/person.ts";
import { startTcpProxy } from "../../../support/servers/tcp-proxy.ts";

const missing = missingPackages("inspircd", "atheme-services");

describe.skipIf(missing !== "")(`a network (apt-get install ${missing || "done"})`, () => {
  let server: Ircd;
  let count = 0;
  beforeAll(async () => {
    server = await startInspircd({ services: true });
    await registerAccount(server, "helper");
  });
  afterAll(() => server.stop());

  const open = (config: object) => {
    count += 1;
    const nick = `net${count}`;
    const basics = { host: "127.0.0.1", port: server.port, tls: false, nick, join: ["#net"] };
    const channel = openChannel(ircChannel as ChannelDefinition, { ...basics, ...config });
    onTestFinished(() => channel.stop());
    return channel;
  };
  const login = { account: "helper", password: accountPassword, by: "nickserv" };

  test("a login at NickServ: others know the bot by its account", async () => {
    const channel = open({ login });
    await channel.live();
    expect(channel.states.at(-1)).toEqual({ state: "live" });
    const ann = await IrcPerson.connect(server.port, "asks");
    onTestFinished(() => ann.close());
    await ann.join("#net");
    await ann.say("#net", `net${count}: hello`);
    await expect.poll(() => channel.messages().length).toBe(1);
    expect(channel.messages()[0]?.mentions).toMatchObject([{ id: "account:helper", isSelf: true }]);
  });

  test("NickServ refuses the password: it is in the rooms all the same, and says so", async () => {
    const channel = open({ login: { ...login, password: "wrong-canary" } });
    await channel.live();
    expect(channel.states.at(-1)?.detail).toBe("NickServ has not confirmed the login");
    expect(JSON.stringify([channel.states, channel.logs])).not.toContain("wrong-canary");
  });

  test.each(["KLINE", "GLINE"])(
    "%s: the account halts, with the reason that was given",
    async (command) => {
      const username = `x${command.toLowerCase()}`;
      const channel = open({ username });
      await channel.live();
      const oper = await IrcPerson.connect(server.port, `oper${count}`);
      onTestFinished(() => oper.close());
      await oper.ask("OPER root root");
      oper.write(`${command} *${username}@* 1h :too many birds`);
      const error = await channel.ended();
      expect(error).toMatchObject({ code: "EAR_CHANNEL_AUTH", disposition: "terminal" });
      expect(String(error)).toContain("we are banned there");
      expect(String(error)).toContain("too many birds");
    },
  );

  test("a silent line is noticed, and what was missed is known", async () => {
    const proxy = await startTcpProxy(server);
    onTestFinished(() => proxy.close());
    const channel = open({ port: proxy.port, pingSeconds: 1 });
    await channel.live();
    proxy.hang(true);
    await channel.state("backing-off");
    expect(channel.states.at(-1)?.detail).toContain("it has not answered for too long");
    proxy.hang(false);
    await channel.live();
    expect(channel.gaps).toMatchObject([{ rooms: ["#net"], lost: "messages" }]);
  });

  test("while the intake is full nothing is read, and that is no silent line", async () => {
    const proxy = await startTcpProxy(server);
    onTestFinished(() => proxy.close());
    const channel = open({ port: proxy.port, pingSeconds: 1 });
    await channel.live();
    // Tried again after 0.4, 0.8, 1.5 and 3 s: longer than a line may be silent.
    channel.refuseDeliveries(4);
    const count = 2 * limits.waitingEventsMax;
    const lines = Array.from({ length: count }, (_, n) => `:x!y@z PRIVMSG #net :line ${n}\r\n`);
    proxy.toClient.inject(lines.join(""));
    await expect.poll(() => channel.messages().length, { timeout: 20_000 }).toBe(count);
    expect(channel.messages().map(({ text }) => text)).toEqual(lines.map((_, n) => `line ${n}`));
    expect(channel.states.map(({ state }) => state)).not.toContain("backing-off");
    expect(proxy.connects()).toBe(1);
  });

  test("a line that is played back has the same time: the server keeps whole seconds of it", async () => {
    const room = "#again";
    const bea = await IrcPerson.connect(server.port, "bea");
    onTestFinished(() => bea.close());
    await bea.join(room);
    await bea.ask(`MODE ${room} +H 50:1d`);
    const proxy = await startTcpProxy(server);
    onTestFinished(() => proxy.close());
    const channel = open({ port: proxy.port, join: [room] });
    await channel.live();
    // Early in a second, so that what is played back begins before it.
    await expect.poll(() => Date.now() % 1_000, { interval: 20 }).toBeLessThan(300);
    const one = await bea.say(room, "one");
    await channel.message(one);
    proxy.reset();
    await channel.state("backing-off");
    await channel.live();
    await channel.message(await bea.say(room, "two"));
    const found = channel.messages().filter(({ id }) => id === one);
    expect(new Set(found.map(({ sentAt }) => sentAt)).size).toBe(1);
    expect(channel.gaps).toEqual([]);
  });
});
