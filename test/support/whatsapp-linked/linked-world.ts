/** The server as the channel contract sees it: Ann and Bob in a group with an account that a device is linked to. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as baileys from "baileys";
import { type BinaryNode, Curve, getNextPreKeysNode, initAuthCreds, proto } from "baileys";
import { LinkedStore } from "../../../src/adapters/channels/whatsapp-linked/store.ts";
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import type { Device } from "./device.ts";
import { node } from "./nodes.ts";
import { Person } from "./person.ts";
import type { Group } from "./queries.ts";
import { WebServer } from "./web-server.ts";

const preKeyCount = 30;
const storeFile = "linked-device.sqlite";

/**
 * A server, and a device of its owner's with the keys in a folder, as if linked yesterday.
 * @param at the folder; absent: one of its own
 */
export async function startLinked(at?: string) {
  const owner = new Person("15550100000", "90000000", "Scout");
  const server = new WebServer(owner);
  await server.up();
  const device = server.addDevice(7);
  const folder = at ?? (await mkdtemp(join(tmpdir(), "earshot-linked-")));
  const secrets = await seed(folder, server, device);
  const close = async () => {
    await server.down();
    if (at === undefined) await rm(folder, { recursive: true, force: true });
  };
  return { server, owner, device, folder, secrets, config: configOf(server), close };
}

export const configOf = (server: WebServer) => ({
  number: server.owner.number,
  url: server.url,
  mediaUrl: server.mediaUrl,
});

/** What a device of the owner's has after it was linked. */
interface Linked {
  /** Its store, as a file. */
  readonly store: Uint8Array;
  /** What it has uploaded of its keys. */
  readonly upload: BinaryNode;
  readonly secrets: readonly string[];
}

/** Made once in a process: thirty keys and two signatures. */
let linked: Promise<Linked> | null = null;

/** Gives a device its keys, and the account's signature. */
async function seed(folder: string, { owner }: WebServer, device: Device): Promise<string[]> {
  linked ??= link(owner, device);
  const { store, upload, secrets } = await linked;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, storeFile), store, { mode: 0o600 });
  device.upload(upload);
  return [...secrets];
}

async function link(owner: Person, device: Device): Promise<Linked> {
  const folder = await mkdtemp(join(tmpdir(), "earshot-linking-"));
  const store = new LinkedStore(folder, baileys);
  const creds = initAuthCreds();
  const keys = await getNextPreKeysNode({ creds, keys: store.keys }, preKeyCount);
  const own = owner.creds.signedIdentityKey;
  const details = proto.ADVDeviceIdentity.encode({ rawId: 1, keyIndex: 1 }).finish();
  const signed = Buffer.concat([Buffer.from([6, 0]), details, creds.signedIdentityKey.public]);
  Object.assign(creds, keys.update, {
    me: { id: device.jid, lid: device.lidJid, name: owner.name },
    account: {
      details,
      accountSignatureKey: own.public,
      accountSignature: Curve.sign(own.private, signed),
      deviceSignature: Buffer.alloc(64),
    },
    registered: true,
    accountSyncCounter: 1,
  });
  store.saveCreds(creds);
  store.close();
  const file = join(folder, storeFile);
  const content = await readFile(file);
  await rm(folder, { recursive: true });
  const secrets = [
    creds.advSecretKey,
    Buffer.from(creds.noiseKey.private).toString("base64"),
    Buffer.from(creds.signedIdentityKey.private).toString("base64"),
  ];
  return { store: content, upload: keys.node, secrets };
}

export interface Saying {
  readonly by: Person;
  /** A group, or the direct chat with the owner. */
  readonly in: Group | null;
  readonly message: proto.IMessage;
  readonly id?: string;
  /** How people are addressed. @default "pn" in direct chats, "lid" in groups */
  readonly as?: "pn" | "lid";
}

/** Somebody writes; resolves to the message's id when it is on its way. */
export async function speak(server: WebServer, device: Device, saying: Saying): Promise<string> {
  const { by, message, in: group } = saying;
  const id = saying.id ?? server.newId();
  const stanza =
    group === null
      ? await directStanza(server, device, saying, id)
      : await groupStanza(server, device, { by, group, message, id });
  device.deliver(stanza);
  return id;
}

const seconds = () => String(Math.floor(Date.now() / 1_000));
const cipher = ({ type, ciphertext }: { type: string; ciphertext: Uint8Array }): BinaryNode =>
  node("enc", { v: "2", type }, ciphertext);

async function directStanza(
  server: WebServer,
  device: Device,
  { by, message, as = "pn" }: Saying,
  id: string,
): Promise<BinaryNode> {
  const isOwn = by === server.owner;
  const content = await by.encrypt(device.jid, message, () => device.bundle());
  const names =
    as === "pn" ? { from: by.jid, sender_lid: by.lidJid } : { from: by.lidJid, sender_pn: by.jid };
  const attributes = { ...names, id, type: "text", t: seconds(), notify: by.name };
  const to = message.deviceSentMessage?.destinationJid ?? undefined;
  return node("message", { ...attributes, ...(isOwn && { recipient: to }) }, [cipher(content)]);
}

interface GroupSaying {
  readonly by: Person;
  readonly group: Group;
  readonly message: proto.IMessage;
  readonly id: string;
}

async function groupStanza(
  server: WebServer,
  device: Device,
  { by, group, message, id }: GroupSaying,
): Promise<BinaryNode> {
  const { ciphertext, key } = await by.encryptGroup(group.id, message);
  const before =
    key === null
      ? []
      : [
          cipher(
            await by.encrypt(device.jid, { senderKeyDistributionMessage: key }, () =>
              device.bundle(),
            ),
          ),
        ];
  const attributes = {
    from: group.id,
    participant: by.lidJid,
    participant_pn: by.jid,
    addressing_mode: "lid",
    id,
    type: "text",
    t: seconds(),
    notify: by === server.owner ? undefined : by.name,
  };
  return node("message", attributes, [...before, cipher({ type: "skmsg", ciphertext })]);
}

const textOf = (message: proto.IMessage | null | undefined): string =>
  message?.conversation || message?.extendedTextMessage?.text || "";

export async function linkedWorld(): Promise<ChannelWorld> {
  const { server, owner, device, folder, secrets, config, close } = await startLinked();
  const ann = server.person("15550107001", "90007001", "Ann");
  const bob = server.person("15550107002", "90007002", "Bob");
  const kitchen = server.group("kitchen", [owner, ann, bob]);
  const say = (message: proto.IMessage, by = ann, group: Group | null = kitchen, id?: string) =>
    speak(server, device, { by, in: group, message, ...(id !== undefined && { id }) });
  const old = { us: "3EB0OLDOFUS", other: "3AOLDOFBOB" };
  const authors = { us: owner, other: bob };
  const quoted = { us: "I said so", other: "Bob said so" };
  const messageOf = ({ text, mentions, repliesTo }: SpokenMessage): proto.IMessage => {
    if (mentions === undefined && repliesTo === undefined) return { conversation: text };
    const contextInfo = {
      ...(mentions !== undefined && { mentionedJid: [authors[mentions].lidJid] }),
      ...(repliesTo !== undefined && {
        stanzaId: old[repliesTo],
        participant: authors[repliesTo].lidJid,
        quotedMessage: { conversation: quoted[repliesTo] },
      }),
    };
    return { extendedTextMessage: { text, contextInfo } };
  };
  const keyOf = (id: string, isOurs: boolean) => ({
    remoteJid: kitchen.id,
    id,
    fromMe: false,
    participant: isOurs ? owner.lidJid : ann.lidJid,
  });
  const edits = () =>
    server.sent.flatMap(({ message: { protocolMessage } }) =>
      protocolMessage?.editedMessage ? [protocolMessage] : [],
    );
  const shown = () =>
    server.sent.flatMap(({ id, to, message }) => {
      if (to !== kitchen.id || message.protocolMessage || message.reactionMessage) return [];
      const edit = edits().findLast(({ key }) => key?.id === id)?.editedMessage;
      const replyTo = message.extendedTextMessage?.contextInfo?.stanzaId ?? null;
      return [{ id, text: textOf(edit ?? message), replyTo: replyTo || null }];
    });
  return {
    config,
    folder,
    secrets,
    classified: [
      [
        { text: "hi", in: "direct" },
        { chat: { kind: "direct", id: ann.number, title: "Ann" }, author: { id: ann.number } },
      ],
      [
        { text: "hi" },
        {
          chat: { kind: "group", id: kitchen.id, title: "kitchen" },
          mentions: [],
          author: { id: ann.number, name: "Ann" },
        },
      ],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: owner.number, isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob.number, isSelf: false }] }],
      [
        { text: "hi", repliesTo: "us" },
        {
          replyTo: {
            id: old.us,
            authorId: owner.number,
            authorIsSelf: true,
            text: "I said so",
          },
        },
      ],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { id: old.other, authorIsSelf: false, text: "Bob said so" } },
      ],
    ],
    async say(what) {
      return await say(messageOf(what), ann, what.in === "direct" ? null : kitchen);
    },
    route: () => ({
      channel: "whatsapp-linked",
      account: "default",
      thread: null,
      chat: { id: kitchen.id, kind: "group" },
    }),
    async shown(count) {
      await server.until(() => shown().length >= count);
      return shown();
    },
    // From the phone.
    echo: (text) => say({ conversation: text }, owner),
    async edit(id, text) {
      const editedMessage = { conversation: text };
      const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT;
      await say({ protocolMessage: { key: keyOf(id, false), type, editedMessage } });
    },
    async react(id, emoji, on) {
      await say({ reactionMessage: { key: keyOf(id, true), text: on ? emoji : "" } });
    },
    reactions: (id) => {
      const of = server.sent.flatMap(({ message: { reactionMessage: reaction } }) =>
        reaction?.key?.id === id ? [reaction.text ?? ""] : [],
      );
      return of.slice(-1).filter((text) => text !== "");
    },
    pings: () =>
      server.sent.filter(
        ({ message }) => (message.extendedTextMessage?.contextInfo?.mentionedJid ?? []).length > 0,
      ).length,
    refuseNext: () => void server.sendFaults.push({ refuse: "479" }),
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    garbage() {
      const attributes = { from: ann.jid, id: server.newId(), type: "text", t: seconds() };
      const wrong = { type: "msg", ciphertext: Buffer.from([51, 1, 2, 3]) };
      device.deliver(node("message", attributes, [cipher(wrong)]));
      device.line?.send(node("message", { id: "no-sender" }, [cipher(wrong)]));
    },
    revoke: () => server.endStream(401),
    close,
  };
}
