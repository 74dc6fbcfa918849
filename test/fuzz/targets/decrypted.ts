/**
 * What comes of a decrypted message of a linked WhatsApp device: the stanza is the server's, the content is
 * what the sender's program put into it.
 */
import * as baileys from "baileys";
import { readReceived } from "../../../src/adapters/channels/whatsapp-linked/delivery.ts";
import { LinkedPeople } from "../../../src/adapters/channels/whatsapp-linked/people.ts";
import type { LinkedStore } from "../../../src/adapters/channels/whatsapp-linked/store.ts";
import type { Frames } from "../harness/mutate.ts";
import type { Target } from "../harness/target.ts";

const { proto } = baileys;
/** Nothing is remembered from one input to the next. */
const store = {
  personOf: (lid: string, id: string | null) => id ?? lid,
  knownAs: () => null,
  numberOf: () => null,
  rememberFile: () => undefined,
  heard: () => null,
  rememberHeard: () => undefined,
} as unknown as LinkedStore;

const group = "120363041000000@g.us";
const stanza = (more: Readonly<Record<string, string>>): Buffer =>
  baileys.encodeBinaryNode({
    tag: "message",
    attrs: { id: "3A01", type: "text", t: "1790000000", notify: "Ann", ...more },
    content: [{ tag: "enc", attrs: { v: "2", type: "skmsg" }, content: Buffer.from([51]) }],
  });
const inGroup = stanza({
  from: group,
  participant: "90007001@lid",
  participant_pn: "15550107001@s.whatsapp.net",
});
const direct = stanza({ from: "15550107001@s.whatsapp.net" });
// One byte of padding, so that a seed is the same in every run.
const padded = (message: baileys.proto.IMessage): Buffer =>
  Buffer.concat([proto.Message.encode(message).finish(), Buffer.from([1])]);

const key = { id: "3A00", remoteJid: group, participant: "90007001@lid" };
const contextInfo = {
  stanzaId: "3A00",
  participant: "90007002@lid",
  quotedMessage: { conversation: "hi" },
  mentionedJid: ["15550100000@s.whatsapp.net", "90007002@lid"],
};
const messages: readonly baileys.proto.IMessage[] = [
  { extendedTextMessage: { text: "hello `there`", contextInfo } },
  { imageMessage: { caption: "soup", mimetype: "image/png", fileLength: 3, directPath: "/v/x" } },
  { protocolMessage: { type: 14, key, editedMessage: { conversation: "new" } } },
  { protocolMessage: { type: 0, key } },
  { reactionMessage: { key, text: "👍" } },
  { pollCreationMessageV3: { name: "Lunch?", options: [{ optionName: "soup" }] } },
];

const linked: Target = {
  name: "whatsapp-linked",
  claim: "a decrypted message is an event, or is passed over",
  seeds: messages.flatMap((message, index) => [
    { name: `group ${index}`, frames: [inGroup, padded(message)] },
    { name: `direct ${index}`, frames: [direct, padded(message)] },
  ]),
  async read([node, plain]: Frames) {
    if (node === undefined || plain === undefined) return null;
    const people = new LinkedPeople(store);
    people.self = "15550100000";
    people.selfLid = "90000000";
    const groupOf = async () => ({ subject: "Kitchen", participants: [] });
    const receiver = { account: "default", people, groupOf };
    try {
      return await readReceived(baileys, node, plain, receiver);
    } catch {
      // What the delivery logs as unreadable, without its text.
      return null;
    }
  },
  refuses: () => false,
};

export const decryptedTargets: readonly Target[] = [linked];
