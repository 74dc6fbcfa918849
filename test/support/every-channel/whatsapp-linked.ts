/** A linked WhatsApp device in the storm: a person a room, each in a direct chat. */
import { configOf, speak, startLinked } from "../whatsapp-linked/linked-world.ts";
import type { StormPlatform } from "./platform.ts";

/** @param folder where the daemon's account keeps its keys */
export async function linkedPlatform(rooms: number, folder: string): Promise<StormPlatform> {
  const { server, device, close } = await startLinked(folder);
  const people = Array.from({ length: rooms }, (_, n) =>
    server.person(String(15_550_120_000 + n), String(90_020_000 + n), `Ann ${n}`),
  );
  const addresses = people.map(({ jid }) => jid);
  /** A person writes one message after the other. */
  let last: Promise<unknown> = Promise.resolve();
  return {
    id: "whatsapp-linked",
    rooms,
    section: { accounts: { default: configOf(server) } },
    say(room, conversation) {
      const by = people[room];
      if (by === undefined) throw new Error(`there is no room ${room}`);
      last = last.then(() => speak(server, device, { by, in: null, message: { conversation } }));
      return last;
    },
    answers: () =>
      server.sent.flatMap(({ to, message }) => {
        const text = message.extendedTextMessage?.text;
        return text ? [{ room: addresses.indexOf(to), text }] : [];
      }),
    trouble(pick) {
      const what = pick(6);
      if (what < 2) device.line?.cut();
      else if (what < 3) server.endStream(515);
      else if (what < 5) server.sendFaults.push("lose");
      else server.sendFaults.push("cut");
    },
    calm: () => void server.sendFaults.splice(0),
    close,
  };
}
