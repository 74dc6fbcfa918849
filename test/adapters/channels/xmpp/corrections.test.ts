/** Corrections, and actions (`/me`), in rooms and in direct chats, on a real prosody. */
import { xml } from "@xmpp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bot, enter, self, until } from "../../../support/xmpp/bot.ts";
import { idIn } from "../../../support/xmpp/person.ts";
import { missingProsody, type Prosody } from "../../../support/xmpp/prosody.ts";
import { startPeople, type XmppPeople } from "../../../support/xmpp/xmpp-rig.ts";

const body = (text: string) => xml("body", {}, text);
const replace = (id: string) => xml("replace", { xmlns: "urn:xmpp:message-correct:0", id });
const editsIn = ({ channel }: Bot) =>
  channel.events().flatMap((event) => (event.type === "edit" ? [event.edit] : []));

describe.skipIf(missingProsody !== "")(`corrections (apt-get install ${missingProsody})`, () => {
  let server: Prosody;
  let people: XmppPeople;
  beforeAll(async () => {
    ({ server, people } = await startPeople());
  });
  afterAll(() => people.close());

  test("a correction is the author's own; of another's message it is none", async () => {
    const { ann, bob } = people;
    const bot = await enter(server, people);
    const first = await ann.inRoom(bot.room, body("helo"));
    await bob.say(bot.room, "bob was here", replace(first.attrs.id ?? ""));
    // By the id that the room gave it, too.
    await bob.say(bot.room, "bob was here, too", replace(idIn(first)));
    await ann.say(bot.room, "hello", replace(first.attrs.id ?? ""));
    await ann.say(bot.room, "hello!", replace(first.attrs.id ?? ""));
    await until(() => editsIn(bot)[2], "the edits");
    const original = await bot.said("helo");
    const edits = editsIn(bot);
    expect(edits.filter(({ id }) => id === original.id).map(({ text }) => text)).toEqual([
      "hello",
      "hello!",
    ]);
    expect(edits.find(({ text }) => text === "bob was here")?.id).not.toBe(original.id);
    expect(edits.some(({ text }) => text === "bob was here, too")).toBe(false);
    expect(bot.heard()).toEqual(["helo"]);
  });

  test("what somebody does with /me is said as such, also where it is corrected", async () => {
    const { ann } = people;
    const bot = await enter(server, people);
    const first = await ann.inRoom(bot.room, body("/me waves"));
    await ann.say(bot.room, "/me smiles", replace(first.attrs.id ?? ""));
    await ann.say(bot.room, "/mean it");
    await ann.write(self, "/me leaves");
    await bot.said("* ann leaves");
    await until(() => editsIn(bot)[0], "the edit");
    expect(editsIn(bot)[0]?.text).toBe("* ann smiles");
    expect(bot.heard().toSorted()).toEqual(["* ann leaves", "* ann waves", "/mean it"]);
  });
});
