/**
 * The Matrix channel against a real Synapse: `npm run synapse` installs and starts one, and runs this. It
 * says what the server of test/support/matrix was written to say.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { matrixChannel } from "../../../../src/adapters/channels/matrix/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { SynapsePerson, synapse, synapseWorld, until } from "../../../support/matrix/synapse.ts";

const definition = matrixChannel as ChannelDefinition;
const signal = new AbortController().signal;

async function rig() {
  const [ann, scout] = [await SynapsePerson.register("ann"), await SynapsePerson.register("scout")];
  const kitchen = await ann.room("kitchen", [scout.id]);
  await scout.enter(kitchen);
  const config = { homeserver: synapse, accessToken: scout.token };
  const open = (cursors?: Map<string, string>) => {
    const channel = openChannel(definition, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const channel = open();
  await channel.live();
  const routeTo = (id: string) => ({
    channel: "matrix",
    account: "default",
    chat: { id, kind: "group" as const },
    thread: null,
  });
  return { ann, scout, kitchen, channel, open, routeTo };
}

describe.skipIf(synapse === "")("Synapse (npm run synapse)", () => {
  channelContract({
    name: "matrix, Synapse",
    definition,
    world: synapseWorld,
    can: ["split", "edit", "react", "line", "revoke"],
  });

  test("the same transaction id is one message", async () => {
    const { ann, scout, kitchen, channel, routeTo } = await rig();
    const request = { route: routeTo(kitchen), id: "t:0", text: "once", signal };
    const first = await channel.outbound.sendText(request);
    expect(await channel.outbound.sendText(request)).toEqual(first);
    const ours = (await ann.events(kitchen)).filter(
      ({ sender, type }) => sender === scout.id && type === "m.room.message",
    );
    expect(ours.map(({ event_id }) => event_id)).toEqual(first.messageIds);
  });

  test("more than one sync holds of a time away is read back, in order and complete", async () => {
    const { ann, kitchen, channel, open } = await rig();
    await channel.message(await ann.say(kitchen, "before"));
    await channel.stop();
    const away: string[] = [];
    for (let n = 0; n < 220; n += 1) away.push(await ann.say(kitchen, `away ${n}`));
    const again = open(channel.cursors);
    await again.message(away.at(-1) as string);
    expect(again.identities()).toEqual(away);
    expect(again.gaps).toEqual([]);
  });

  test("an invitation is accepted, and what was said before it is not delivered", async () => {
    const { ann, scout, channel } = await rig();
    const garden = await ann.room("garden", []);
    await ann.say(garden, "long ago");
    await ann.ask("POST", `/rooms/${encodeURIComponent(garden)}/invite`, { user_id: scout.id });
    await until(async () => (await ann.members(garden)).includes(scout.id), "the bot enters");
    const now = await ann.say(garden, "now");
    expect((await channel.message(now)).chat).toMatchObject({ id: garden, title: "garden" });
    expect(channel.identities()).toEqual([now]);
  });

  test("an upgraded room is followed, and answers go to the new one", async () => {
    const { ann, scout, kitchen, channel, open, routeTo } = await rig();
    await channel.message(await ann.say(kitchen, "before"));
    const upgrade = `/rooms/${encodeURIComponent(kitchen)}/upgrade`;
    const next = String((await ann.ask("POST", upgrade, { new_version: "10" })).replacement_room);
    await ann.ask("POST", `/rooms/${encodeURIComponent(next)}/invite`, { user_id: scout.id });
    await until(async () => (await ann.members(next)).includes(scout.id), "the bot follows");
    const moved = await channel.message(await ann.say(next, "after"));
    expect(moved.chat).toMatchObject({ id: kitchen, movedTo: next });
    await channel.outbound.sendText({ route: routeTo(kitchen), id: "t:0", text: "here", signal });
    expect((await ann.events(next)).at(-1)).toMatchObject({ sender: scout.id });
    await channel.stop();
    const again = open(channel.cursors);
    await again.live();
    expect((await again.message(await ann.say(next, "later"))).chat.id).toBe(kitchen);
  });

  test("files go both ways, reactions come off, typing and members are asked for", async () => {
    const { ann, kitchen, channel, routeTo } = await rig();
    const route = routeTo(kitchen);
    const data = new Uint8Array([0, 255, 10, 13]);
    const file = { route, id: "t:0", mime: "image/png", name: "hat.png", data, signal };
    const [id = ""] = (await channel.outbound.sendMedia?.(file))?.messageIds ?? [];
    const shown = (await ann.events(kitchen)).find(({ event_id }) => event_id === id);
    expect(shown?.content).toMatchObject({ msgtype: "m.image", body: "hat.png" });
    const said = await ann.say(kitchen, "look");
    await channel.message(said);
    await channel.outbound.addReaction?.(route, said, "👀", signal);
    await channel.outbound.addReaction?.(route, said, "👀", signal);
    await channel.outbound.removeReaction?.(route, said, "👀", signal);
    await channel.outbound.sendTyping?.(route, true, signal);
    const left = (await ann.events(kitchen)).filter(
      ({ type, content }) => type === "m.reaction" && content["m.relates_to"] !== undefined,
    );
    expect(left).toEqual([]);
  });
});
