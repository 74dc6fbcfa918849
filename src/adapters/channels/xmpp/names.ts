/**
 * Addresses and names on XMPP
 * ===========================
 * An address (JID, RFC 7622) is `name@domain/resource`; in a room the resource is a nick. Servers send
 * them in their normal form. A nick is nobody's: anybody may take it. So a person is the real address
 * where the room shows it, else the room's own id of the occupant (XEP-0421), else somebody for as
 * long as they are in the room.
 */

/** The part before the resource. */
export function bareOf(jid: string): string {
  const slash = jid.indexOf("/");
  return slash < 0 ? jid : jid.slice(0, slash);
}

/** The part behind the first slash: in a room, the nick; null: there is none. */
export function resourceOf(jid: string): string | null {
  const slash = jid.indexOf("/");
  return slash < 0 ? null : jid.slice(slash + 1);
}

export const domainOf = (bare: string): string => bare.slice(bare.indexOf("@") + 1);

/** What is known of who somebody in a room is. */
export interface Who {
  /** The real address, bare. */
  readonly real: string | null;
  /** The room's id of them (XEP-0421). */
  readonly occupantId: string | null;
  /** Ours, for as long as they are there. */
  readonly visit: string;
}

/** Within a room: a real address, or `#` and an id. */
export const whoOf = ({ real, occupantId, visit }: Who): string =>
  real ?? `#${occupantId ?? visit}`;

/** A person's id: a bare address, or `room@service#id`. */
export function authorIdOf(room: string, who: Who): string {
  return who.real ?? `${room}${whoOf(who)}`;
}

/** The id of a private chat inside a room; it holds a slash, which a bare address does not. */
export const privateChatOf = (room: string, who: Who): string => `${room}/${whoOf(who)}`;

/** Where a text has this name as a word of its own; case does not count. */
export function namesNick(text: string, nick: string): boolean {
  const all = text.toLowerCase();
  const wanted = nick.toLowerCase();
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1)) {
    const before = all.slice(Math.max(0, at - 3), at);
    const after = all.slice(at + wanted.length, at + wanted.length + 3);
    if (!/[\p{L}\p{N}_]-?$/u.test(before) && !/^-?[\p{L}\p{N}_]/u.test(after)) return true;
  }
  return false;
}

/** The nicks that a text is addressed to at its beginning: `ann: hi`, `ann, bob: hi`. */
export function addressed(text: string, nicks: readonly string[]): readonly string[] {
  const found: string[] = [];
  const longestFirst = [...nicks].sort((a, b) => b.length - a.length);
  for (let rest = text; found.length < 16; ) {
    const lower = rest.toLowerCase();
    const nick = longestFirst.find(
      (one) => lower.startsWith(one.toLowerCase()) && /^[,:](?:\s|$)/.test(rest.slice(one.length)),
    );
    if (nick === undefined) break;
    found.push(nick);
    rest = rest.slice(nick.length + 1).trimStart();
  }
  return found;
}
