/**
 * What a device sent, opened by everybody who got it: each phone decrypts its own copy, or the group's
 * with the key that came before. A message that somebody cannot read is an error of the sender.
 */
import type { BinaryNode, proto } from "baileys";
import type { Device } from "./device.ts";
import { bytesOf, childrenOf } from "./nodes.ts";
import type { Person } from "./person.ts";
import { type Directory, personOf } from "./queries.ts";

export interface Outgoing {
  readonly id: string;
  /** The chat's address. */
  readonly to: string;
  readonly message: proto.IMessage;
  /** Who has read it, by number. */
  readonly readers: readonly string[];
  readonly attributes: BinaryNode["attrs"];
}

type CipherType = "pkmsg" | "msg";

export async function opened(
  directory: Directory,
  device: Device,
  stanza: BinaryNode,
): Promise<Outgoing> {
  const { id = "", to = "" } = stanza.attrs;
  const copies = childrenOf(stanza)
    .filter(({ tag }) => tag === "participants")
    .flatMap(childrenOf);
  let message: proto.IMessage | null = null;
  const readers = new Set<string>();
  for (const copy of copies) {
    const person = personOf(directory, copy.attrs.jid ?? "");
    const [cipher] = childrenOf(copy);
    if (person === undefined || cipher === undefined) continue;
    const type = cipher.attrs.type as CipherType;
    const own = await person.decrypt(device.jid, type, bytesOf(cipher));
    if (to.endsWith("@g.us")) continue;
    readers.add(person.number);
    message = own.deviceSentMessage?.message ?? own;
  }
  for (const cipher of childrenOf(stanza).filter(({ tag }) => tag === "enc")) {
    for (const person of membersOf(directory, to)) {
      message = await person.decryptGroup(to, device.jid, bytesOf(cipher));
      readers.add(person.number);
    }
  }
  if (message === null) throw new Error(`nobody can read ${id}`);
  return { id, to, message, readers: [...readers], attributes: stanza.attrs };
}

const membersOf = ({ groups }: Directory, to: string): readonly Person[] =>
  groups.find(({ id }) => id === to)?.members ?? [];
