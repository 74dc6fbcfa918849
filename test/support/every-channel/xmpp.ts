/** XMPP in the storm: Ann in every room of a real prosody, the bot behind a proxy. */
import { startTcpProxy } from "../servers/tcp-proxy.ts";
import { XmppPerson } from "../xmpp/person.ts";
import { archivedRooms, domain, startProsody } from "../xmpp/prosody.ts";
import { stanzaLength } from "../xmpp/stanzas.ts";
import type { StormPlatform } from "./platform.ts";

export async function xmppPlatform(rooms: number): Promise<StormPlatform> {
  const password = "canary-password";
  const server = await startProsody({ scout: password, ann: "a" });
  const proxy = await startTcpProxy(server, stanzaLength);
  const ann = await XmppPerson.connect(server.port, "ann", "a");
  const names = Array.from({ length: rooms }, (_, n) => `room${n}@${archivedRooms}`);
  for (const name of names) await ann.join(name);
  const account = {
    jid: `scout@${domain}`,
    password,
    host: "127.0.0.1",
    port: proxy.port,
    tls: "off",
    nick: "scout",
    rooms: names,
  };
  const places = new Map(names.map((name, room) => [`${name}/scout`, room]));
  let queue: Promise<unknown> = Promise.resolve();
  return {
    id: "xmpp",
    rooms,
    section: { accounts: { default: account } },
    say(room, text) {
      queue = queue.then(() => ann.say(names[room] as string, `scout: ${text}`));
      return queue;
    },
    answers() {
      // Client's ids: a correction is shown in place of what it corrects, the same sent twice is two.
      const shown: { readonly wireId: string; readonly room: number; text: string }[] = [];
      for (const one of ann.stanzas) {
        const room = one.name === "message" ? places.get(one.attrs.from ?? "") : undefined;
        // Without the quote of what it answers.
        const text = one
          .getChild("body")
          ?.text()
          .replace(/^>.*\n/gmu, "");
        if (room === undefined || text === undefined) continue;
        const replaced = one.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
        const first = shown.find(({ wireId }) => wireId === replaced);
        if (first === undefined) shown.push({ wireId: one.attrs.id ?? "", room, text });
        else first.text = text;
      }
      return shown;
    },
    trouble(pick) {
      if (pick(4) === 0) proxy.reset();
      else if (pick(2) === 0) proxy.toClient.next(/<body>/, "duplicate");
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
