/** IRC in the storm: Ann in every room of a real inspircd, the bot behind a proxy. */

import { saidBy } from "../irc/irc-rig.ts";
import { startInspircd } from "../irc/ircd.ts";
import { IrcPerson } from "../irc/person.ts";
import { startTcpProxy } from "../servers/tcp-proxy.ts";
import type { StormPlatform } from "./platform.ts";

export async function ircPlatform(rooms: number): Promise<StormPlatform> {
  const server = await startInspircd();
  const proxy = await startTcpProxy(server);
  const ann = await IrcPerson.connect(server.port, "ann");
  const names = Array.from({ length: rooms }, (_, n) => `#room${n}`);
  for (const name of names) {
    const answer = await ann.ask(`JOIN ${name}`);
    if (!answer.some((line) => line.includes(" 366 "))) throw new Error(answer.join("; "));
    // What is said while the bot is away can be read back.
    await ann.ask(`MODE ${name} +H 50:1d`);
  }
  const account = {
    host: "127.0.0.1",
    port: proxy.port,
    tls: false,
    nick: "scout",
    join: names,
    lineIntervalMs: 0,
  };
  let queue = Promise.resolve("");
  return {
    id: "irc",
    rooms,
    section: { accounts: { default: account } },
    say(room, text) {
      queue = queue.then(() => ann.say(names[room] as string, `scout: ${text}`));
      return queue;
    },
    answers: () =>
      names.flatMap((name, room) => saidBy(ann, "scout", name).map(({ text }) => ({ room, text }))),
    trouble(pick) {
      if (pick(4) === 0) proxy.reset();
      else if (pick(2) === 0) proxy.toClient.next(/ PRIVMSG /, "duplicate");
      else proxy.toClient.slowMs = pick(20);
    },
    calm() {
      proxy.toClient.slowMs = 0;
    },
    async close() {
      await ann.close();
      await proxy.close();
      await server.stop();
    },
  };
}
