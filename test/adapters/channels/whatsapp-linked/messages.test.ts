/** What people send, in WhatsApp Web's form, and what becomes of it. */
import { proto } from "baileys";
import { expect, onTestFinished, test } from "vitest";
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { speak, startLinked } from "../../../support/whatsapp-linked/linked-world.ts";
import { node } from "../../../support/whatsapp-linked/nodes.ts";
import type { Person } from "../../../support/whatsapp-linked/person.ts";

const types = proto.Message.ProtocolMessage.Type;

async function rig() {
  const { server, device, owner, config, folder, close } = await startLinked();
  const ann = server.person("15550107001", "90007001", "Ann");
  const bob = server.person("15550107002", "90007002", "Bob");
  const kitchen = server.group("kitchen", [owner, ann, bob]);
  const definition = whatsappLinkedChannel as ChannelDefinition;
  const channel = openChannel(definition, config, undefined, folder);
  onTestFinished(async () => {
    await channel.stop();
    await close();
  });
  await channel.live();
  const say = (message: proto.IMessage, by = ann) =>
    speak(server, device, { by, in: kitchen, message });
  const hear = async (message: proto.IMessage, by = ann) => channel.message(await say(message, by));
  /** Everything that was said before this has been read. */
  const settled = () => hear({ conversation: "and now to something else" });
  const keyOf = (id: string, by: Person) => ({
    remoteJid: kitchen.id,
    id,
    participant: by.lidJid,
  });
  const direct = (by: Person, as: "pn" | "lid") =>
    speak(server, device, { by, in: null, as, message: { conversation: "hi" } });
  return { server, device, owner, ann, bob, kitchen, channel, say, hear, settled, keyOf, direct };
}

test("an edit is its author's, and a program cannot edit what others wrote", async () => {
  const { channel, ann, bob, hear, say, settled, keyOf } = await rig();
  const { id } = await hear({ conversation: "befor" });
  const editOf = (text: string): proto.IMessage => ({
    protocolMessage: {
      key: keyOf(id, ann),
      type: types.MESSAGE_EDIT,
      editedMessage: { extendedTextMessage: { text } },
    },
  });
  await say(editOf("forged"), bob);
  await say({ editedMessage: { message: editOf("before") } });
  expect(await channel.edit(id)).toMatchObject({ text: "before", author: { id: ann.number } });
  await settled();
  expect(channel.events().filter(({ type }) => type === "edit")).toHaveLength(1);
});

test("a deletion is the author's or an admin's, and a program cannot delete what others wrote", async () => {
  const { channel, server, device, owner, ann, bob, settled } = await rig();
  const garden = server.group("garden", [ann, owner, bob]);
  const say = (by: Person, message: proto.IMessage, where: typeof garden | null = garden) =>
    speak(server, device, { by, in: where, message });
  const hear = (by: Person, text: string) => say(by, { conversation: text });
  const remove = (by: Person, id: string, author: Person) => {
    const key = { remoteJid: garden.id, id, participant: author.lidJid };
    return say(by, { protocolMessage: { key, type: types.REVOKE } });
  };
  const deleted = () =>
    channel.events().flatMap((one) => (one.type === "delete" ? [one.deletion.id] : []));
  const [regretted, spam, anns] = [
    await hear(bob, "regrets"),
    await hear(bob, "spam"),
    await hear(ann, "rules"),
  ];
  await remove(bob, anns, ann);
  await remove(bob, anns, bob);
  await remove(bob, regretted, bob);
  await remove(ann, spam, bob);
  await settled();
  expect(deleted()).toEqual([regretted, spam]);

  const message = { conversation: "from the phone" };
  const ours = { deviceSentMessage: { destinationJid: ann.jid, message } };
  const ownId = await say(owner, ours, null);
  const key = { remoteJid: ann.lidJid, id: ownId, fromMe: true };
  await say(ann, { protocolMessage: { key, type: types.REVOKE } }, null);
  await settled();
  expect(deleted()).toEqual([regretted, spam]);
});

const picture = { mimetype: "image/jpeg", fileLength: 4_321, url: "https://mmg.whatsapp.net/x" };

test("a file with a caption is its text and its file", async () => {
  const { hear } = await rig();
  const heard = await hear({ imageMessage: { ...picture, caption: "the soup" } });
  expect(heard.text).toBe("the soup");
  expect(heard.attachments).toMatchObject([{ kind: "image", mime: "image/jpeg", bytes: 4_321 }]);
  const menu = { mimetype: "application/pdf", fileName: "menu.pdf" };
  const wrapped = { documentWithCaptionMessage: { message: { documentMessage: menu } } };
  expect((await hear(wrapped)).attachments).toMatchObject([{ kind: "file", name: "menu.pdf" }]);
  const voice = { audioMessage: { mimetype: "audio/ogg; codecs=opus", ptt: true } };
  expect((await hear(voice)).attachments).toMatchObject([{ kind: "audio" }]);
});

test("the files of an album are one group, and its announcement is nothing", async () => {
  const { channel, say, hear, keyOf, ann } = await rig();
  const album = await say({ albumMessage: { expectedImageCount: 2 } });
  const { MEDIA_ALBUM: associationType } = proto.MessageAssociation.AssociationType;
  const messageAssociation = { associationType, parentMessageKey: keyOf(album, ann) };
  const one = { imageMessage: picture, messageContextInfo: { messageAssociation } };
  expect(await hear(one)).toMatchObject({ groupId: album });
  expect(await hear(one)).toMatchObject({ groupId: album });
  expect(channel.messages()).toHaveLength(2);
});

test("pins, votes and kept messages say nothing: no answer to them in a direct chat", async () => {
  const { channel, server, device, ann } = await rig();
  const write = (message: proto.IMessage) => speak(server, device, { by: ann, in: null, message });
  const key = { remoteJid: ann.lidJid, id: "3EB0AA", fromMe: true };
  await write({ pinInChatMessage: { key, type: proto.Message.PinInChatMessage.Type.PIN_FOR_ALL } });
  await write({ keepInChatMessage: { key, keepType: proto.KeepType.KEEP_FOR_ALL } });
  const vote = { encPayload: new Uint8Array(32), encIv: new Uint8Array(12) };
  await write({ pollUpdateMessage: { pollCreationMessageKey: key, vote } });
  await write({ encReactionMessage: { targetMessageKey: key, ...vote } });
  const said = await write({ conversation: "hello" });
  await channel.message(said);
  expect(channel.messages().map(({ text }) => text)).toEqual(["hello"]);
});

test("what is forwarded says so", async () => {
  const { hear } = await rig();
  const contextInfo = { isForwarded: true, forwardingScore: 1 };
  const heard = await hear({ extendedTextMessage: { text: "/stop", contextInfo } });
  expect(heard.forwarded).toBe(true);
});

test("a reply has the author and the words of the other message", async () => {
  const { hear, bob } = await rig();
  const { id } = await hear({ conversation: "soup or salad" }, bob);
  const contextInfo = {
    stanzaId: id,
    participant: bob.lidJid,
    // A program may write here what it likes; what was heard counts.
    quotedMessage: { conversation: "salad only" },
  };
  const heard = await hear({ extendedTextMessage: { text: "soup", contextInfo } });
  expect(heard.replyTo).toEqual({
    id,
    authorId: bob.number,
    authorIsSelf: false,
    text: "soup or salad",
  });
});

test("a person who hides the number is known by the lid, for good once it is known so", async () => {
  const { server, device, channel } = await rig();
  const eve = server.person("15550109999", "90009999", "Eve");
  const { ciphertext, type } = await eve.encrypt(device.jid, { conversation: "hi" }, () =>
    device.bundle(),
  );
  const attributes = { from: eve.lidJid, id: "3AHIDDEN", type: "text", t: "1790000000" };
  device.deliver(node("message", attributes, [node("enc", { v: "2", type }, ciphertext)]));
  const hidden = await channel.message("3AHIDDEN");
  expect(hidden).toMatchObject({ author: { id: eve.lidJid }, chat: { id: eve.lidJid } });
  const id = await speak(server, device, {
    by: eve,
    in: null,
    as: "lid",
    message: { conversation: "and here is my number" },
  });
  expect((await channel.message(id)).author.id).toBe(eve.lidJid);
});

test("a person who begins to hide the number stays the same person, in the same chat", async () => {
  const { ann, channel, direct } = await rig();
  const before = await channel.message(await direct(ann, "pn"));
  const after = await channel.message(await direct(ann, "lid"));
  expect(after.author.id).toBe(before.author.id);
  expect(after.chat.id).toBe(before.chat.id);
});

test("joins, a new name of the group and status updates are no messages", async () => {
  const { server, device, ann, kitchen, channel, settled } = await rig();
  await settled();
  kitchen.subject = "canteen";
  const notice = (id: string, child: ReturnType<typeof node>) =>
    node("notification", { from: kitchen.id, participant: ann.lidJid, type: "w:gp2", id, t: "1" }, [
      child,
    ]);
  device.deliver(notice("n1", node("subject", { subject: "canteen", s_t: "1" })));
  device.deliver(notice("n2", node("add", {}, [node("participant", { jid: "90001111@lid" })])));
  const { ciphertext, type } = await ann.encrypt(device.jid, { conversation: "my day" }, () =>
    device.bundle(),
  );
  const status = { from: "status@broadcast", participant: ann.jid, id: "3ASTATUS", t: "1" };
  device.deliver(node("message", status, [node("enc", { v: "2", type }, ciphertext)]));
  expect((await settled()).chat.title).toBe("canteen");
  expect(channel.messages()).toHaveLength(2);
  expect(server.receipts.map(({ attrs }) => attrs.id)).toContain("3ASTATUS");
});

test("what is shown as code or as a quote is marked", async () => {
  const { hear } = await rig();
  const text = "run ```/stop``` or `this`\n> they said";
  expect((await hear({ conversation: text })).verbatim).toEqual([
    [4, 15],
    [19, 25],
    [26, 37],
  ]);
});

test("places, contacts and polls are a line, and what is unknown engages nobody", async () => {
  const { hear } = await rig();
  const at = { degreesLatitude: 1.5, degreesLongitude: 2, name: "Pier" };
  expect((await hear({ locationMessage: at })).text).toBe("[location: Pier 1.5, 2]");
  expect((await hear({ contactMessage: { displayName: "Cy" } })).text).toBe("[contact: Cy]");
  const options = [{ optionName: "soup" }, { optionName: "salad" }];
  const poll = await hear({ pollCreationMessageV3: { name: "Lunch?", options } });
  expect(poll.text).toBe("[poll] Lunch?\n- soup\n- salad");
  const unknown = await hear({ productMessage: { body: "buy" } });
  expect(unknown).toMatchObject({ explicitOnly: true });
});
