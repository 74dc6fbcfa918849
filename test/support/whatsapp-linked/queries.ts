/**
 * What a linked device asks the server for: keys, devices and lids of people, groups, settings. Forms as
 * in WhatsApp Web's own queries, which the library's parsers (lib/WAUSync, lib/Socket/groups.js) describe.
 */
import type { BinaryNode } from "baileys";
import { bundleNode, type Device } from "./device.ts";
import { fileAuth } from "./file-host.ts";
import { child, childrenOf, errorOf, node, resultOf } from "./nodes.ts";
import type { Person } from "./person.ts";

export interface Group {
  readonly id: string;
  subject: string;
  readonly members: Person[];
}

export interface Directory {
  readonly owner: Person;
  readonly people: readonly Person[];
  readonly groups: readonly Group[];
  readonly devices: readonly Device[];
}

const userOf = (jid: string) => jid.split("@")[0]?.split(":")[0] ?? "";

export const personOf = ({ people }: Pick<Directory, "people">, jid: string): Person | undefined =>
  people.find(({ number, lid }) => userOf(jid) === (jid.endsWith("@lid") ? lid : number));

/** The answer to a query that is about nothing but the directory. */
export function answer(directory: Directory, device: Device, iq: BinaryNode): BinaryNode {
  switch (iq.attrs.xmlns) {
    case "encrypt":
      return keys(directory, device, iq);
    case "usync":
      return users(directory, iq);
    case "w:m":
      return resultOf(iq, [
        node("media_conn", { auth: fileAuth, ttl: "300" }, [
          node("host", { hostname: "media.example.whatsapp.net" }),
        ]),
      ]);
    case "w:g2":
      return group(directory, iq);
    default:
      return resultOf(iq);
  }
}

function keys(directory: Directory, device: Device, iq: BinaryNode): BinaryNode {
  if (iq.attrs.type === "set") {
    if (childrenOf(iq).some(({ tag }) => tag === "list")) device.upload(iq);
    return resultOf(iq);
  }
  const [asked] = childrenOf(iq);
  if (asked?.tag === "count")
    return resultOf(iq, [node("count", { value: String(device.singleCount) })]);
  if (asked?.tag === "digest") return resultOf(iq, [node("digest")]);
  const found = childrenOf(asked as BinaryNode).map(({ attrs }) => {
    const jid = attrs.jid as string;
    const person = personOf(directory, jid);
    return person === undefined
      ? node("user", { jid }, [node("error", { code: "404", text: "item-not-found" })])
      : bundleNode(jid, person.bundle());
  });
  return resultOf(iq, [node("list", {}, found)]);
}

function users(directory: Directory, iq: BinaryNode): BinaryNode {
  const asked = childrenOf(child(child(iq, "usync"), "list"));
  const list = asked.flatMap(({ attrs }) => {
    const person = personOf(directory, attrs.jid ?? "");
    if (person === undefined) return [];
    const own = person === directory.owner ? directory.devices : [];
    const devices = [
      node("device", { id: "0" }),
      ...own.map(({ jid }) =>
        node("device", { id: jid.split(/[:@]/)[1] as string, "key-index": "1" }),
      ),
    ];
    const isLid = attrs.jid?.endsWith("@lid") === true;
    return [
      node("user", { jid: attrs.jid }, [
        node("devices", {}, [node("device-list", {}, devices)]),
        ...(isLid ? [] : [node("lid", { val: person.lidJid })]),
      ]),
    ];
  });
  return resultOf(iq, [node("usync", {}, [node("list", {}, list)])]);
}

function group({ groups, owner }: Directory, iq: BinaryNode): BinaryNode {
  const found = groups.find(({ id }) => id === iq.attrs.to);
  if (found === undefined) return errorOf(iq, 404, "item-not-found");
  if (!found.members.includes(owner)) return errorOf(iq, 403, "forbidden");
  const [first] = found.members as [Person, ...Person[]];
  const participants = found.members.map((member) =>
    node("participant", {
      jid: member.lidJid,
      phone_number: member.jid,
      ...(member === first && { type: "superadmin" }),
    }),
  );
  const attributes = {
    id: found.id.split("@")[0],
    subject: found.subject,
    creation: "1700000000",
    creator: first.lidJid,
    s_t: "1700000000",
    s_o: first.lidJid,
    addressing_mode: "lid",
    size: String(found.members.length),
  };
  return resultOf(iq, [node("group", attributes, participants)]);
}
