/** A whole daemon on a real prosody: from a line in a room to the answer in it, over a restart. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { self, until } from "../../../support/xmpp/bot.ts";
import { archivedRooms, missingProsody, type Prosody } from "../../../support/xmpp/prosody.ts";
import {
  botPassword,
  saidBy,
  startPeople,
  type XmppPeople,
} from "../../../support/xmpp/xmpp-rig.ts";

const room = `kitchen@${archivedRooms}`;

describe.skipIf(missingProsody !== "")(`daemon (apt-get install ${missingProsody})`, () => {
  let server: Prosody;
  let people: XmppPeople;
  beforeAll(async () => {
    ({ server, people } = await startPeople());
  });
  afterAll(() => people.close());

  test("a mention is answered as a reply, a direct message directly, and a restart loses nothing", async () => {
    const { ann, bob } = people;
    await ann.join(room);
    await bob.join(room);
    const stateDir = await mkdtemp(join(tmpdir(), "earshot-xmpp-"));
    const runs = ["**Hello** Ann", "Hi", "Back again"].map((text) => ({ steps: [{ text }] }));
    const account = {
      jid: self,
      password: botPassword,
      host: "127.0.0.1",
      port: server.port,
      tls: "off",
      nick: "scout",
      rooms: [room],
    };
    const config = {
      agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
      channels: { xmpp: { accounts: { default: account }, groups: { [room]: {} } } },
      access: { dmPolicy: "open" },
      messages: { inbound: { debounceMs: 0, debounceMaxMs: 0 } },
    };
    await writeFile(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
    const how = { stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
    let daemon: Daemon | null = null;
    onTestFinished(async () => {
      await daemon?.stop({ drainMs: 0 });
      await rm(stateDir, { recursive: true, force: true });
    });
    const isIn = () => ann.stanzas.findLast(({ attrs }) => attrs.from === `${room}/scout`);
    const answers = (count: number) =>
      until(() => {
        const said = saidBy(ann, room, "scout");
        return said.length >= count ? said : undefined;
      }, `${count} answers`);

    daemon = await startDaemon(how);
    await until(() => (isIn() === undefined ? undefined : true), "the bot in the room");
    await bob.say(room, "talking to nobody");
    const asked = await ann.say(room, "scout: are you there?");
    expect(await answers(1)).toMatchObject([{ text: "*Hello* Ann", replyTo: asked }]);

    await bob.write(self, "psst");
    await bob.until((one) => one.getChild("body")?.text().endsWith("Hi") === true);

    await daemon.stop({ drainMs: 0 });
    daemon = null;
    await until(() => (isIn()?.attrs.type === "unavailable" ? true : undefined), "the bot gone");
    const meanwhile = await ann.say(room, "scout: still there?");
    daemon = await startDaemon({ ...how });
    const all = await answers(2);
    expect(all.at(-1)).toMatchObject({ replyTo: meanwhile });
    expect(all).toHaveLength(2);
  });
});
