/** What a linked device sends: to whose message it belongs, who can read it, what is sent again. */
import { expect, onTestFinished, test } from "vitest";
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { speak, startLinked } from "../../../support/whatsapp-linked/linked-world.ts";
import { bigEndian, node } from "../../../support/whatsapp-linked/nodes.ts";

const signal = new AbortController().signal;
const definition = whatsappLinkedChannel as ChannelDefinition;

async function rig() {
  const { server, device, owner, config, folder, close } = await startLinked();
  onTestFinished(close);
  const ann = server.person("15550107001", "90007001", "Ann");
  const bob = server.person("15550107002", "90007002", "Bob");
  const kitchen = server.group("kitchen", [owner, ann, bob]);
  const open = async () => {
    const channel = openChannel(definition, config, undefined, folder);
    onTestFinished(() => channel.stop());
    await channel.live();
    return channel;
  };
  const place = { channel: "whatsapp-linked", account: "default", thread: null };
  const toGroup = { ...place, chat: { id: kitchen.id, kind: "group" as const } };
  const toAnn = { ...place, chat: { id: ann.number, kind: "direct" as const } };
  const say = (conversation: string) =>
    speak(server, device, { by: ann, in: kitchen, message: { conversation } });
  return { server, device, owner, ann, bob, kitchen, open, say, toGroup, toAnn };
}

test("a reply and a reaction name the message as the group knows it, also after a restart", async () => {
  const { server, ann, owner, open, say, toGroup } = await rig();
  const first = await open();
  const id = await say("soup?");
  await first.message(id);
  const own = await first.outbound.sendText({ route: toGroup, id: "t:0", text: "hm", signal });
  await first.stop();
  const { outbound } = await open();
  const reply = { route: toGroup, id: "t:1", text: "yes", replyTo: id, quote: true, signal };
  await outbound.replyText(reply);
  await outbound.addReaction?.(toGroup, id, "👍", signal);
  await outbound.addReaction?.(toGroup, own.messageIds[0] ?? "", "👀", signal);
  const [, answer, toAnns, toOurs] = server.sent.map(({ message }) => message);
  expect(answer?.extendedTextMessage?.contextInfo).toMatchObject({
    stanzaId: id,
    participant: ann.lidJid,
    quotedMessage: { conversation: "soup?" },
  });
  expect(toAnns?.reactionMessage?.key).toMatchObject({
    id,
    participant: ann.lidJid,
    fromMe: false,
  });
  expect(toOurs?.reactionMessage?.key).toMatchObject({
    fromMe: true,
    participant: owner.lidJid,
  });
});

test("everybody in a group can read what is sent, and the phone of the account", async () => {
  const { server, owner, ann, bob, open, toGroup } = await rig();
  const { outbound } = await open();
  for (const [index, text] of ["one", "two"].entries())
    await outbound.sendText({ route: toGroup, id: `t:${index}`, text, signal });
  for (const { readers } of server.sent)
    expect(readers.toSorted()).toEqual([owner.number, ann.number, bob.number].toSorted());
});

test("typing is shown and ends", async () => {
  const { server, open, toAnn, ann } = await rig();
  const { outbound } = await open();
  await outbound.sendTyping?.(toAnn, true, signal);
  await outbound.sendTyping?.(toAnn, false, signal);
  await server.until(() => server.typings.length > 0);
  expect(server.typings).toEqual([ann.jid]);
});

test("who cannot read a message gets it again, also after a restart", async () => {
  const { server, device, ann, open, toAnn } = await rig();
  const first = await open();
  const request = { route: toAnn, id: "t:0", text: "again, please", signal };
  const { messageIds } = await first.outbound.sendText(request);
  await first.stop();
  await open();
  const [id = ""] = messageIds;
  server.sent.length = 0;
  const receipt = { from: ann.jid, id, type: "retry", t: "1790000000" };
  device.deliver(
    node("receipt", receipt, [
      node("retry", { count: "1", id, t: "1790000000", v: "1" }),
      node("registration", {}, bigEndian(ann.creds.registrationId, 4)),
    ]),
  );
  await server.until(() => server.sent.length > 0);
  expect(server.sent[0]?.message.extendedTextMessage?.text).toBe("again, please");
});

test("a group that the account is not in is refused for good", async () => {
  const { server, open, toGroup, ann } = await rig();
  const chat = { id: server.group("other", [ann]).id, kind: "group" as const };
  const { outbound } = await open();
  const request = { route: { ...toGroup, chat }, id: "t:0", text: "hi", signal };
  await expect(outbound.sendText(request)).rejects.toMatchObject({ code: "EAR_CHANNEL_REJECTED" });
});
