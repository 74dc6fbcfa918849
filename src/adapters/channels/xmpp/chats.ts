/**
 * What an account knows of its chats
 * ==================================
 * Who is in each room, as the room reports it; and of the newest messages what later ones refer to:
 * their author, the sender's own id of them, their text for a quote. In memory.
 */
import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { AuthorId } from "../../../domain/message.ts";
import type { Who } from "./names.ts";
import { spaces } from "./spaces.ts";
import type { XmppPresence } from "./wire.ts";

export interface Occupant extends Who {
  readonly nick: string;
}

/** A message that was heard or sent. */
export interface Heard {
  readonly id: string;
  readonly authorId: AuthorId;
  readonly isSelf: boolean;
  /** The sender's own id of it, to which corrections refer. */
  readonly wireId: string;
  /** The sender's address, with resource. */
  readonly from: string;
  readonly text: string;
}

/** Units of a text that a quote repeats. */
const quotedUnitsMax = 300;

export class XmppRoom {
  readonly jid: string;
  features: ReadonlySet<string> = new Set();
  ownNick: string;
  /** The room's id of us. */
  ownOccupantId: string | null = null;
  isJoined = false;
  readonly occupants = new Map<string, Occupant>();
  readonly #reals = new LRUCache<string, string>(atMost(limits.xmppOccupantsMax));

  constructor(jid: string, nick: string) {
    this.jid = jid;
    this.ownNick = nick;
  }

  /** Whether the room says who is whose occupant id, and removes what others claim. */
  get hasOccupantIds(): boolean {
    return this.features.has(spaces.occupantId);
  }

  get hasStanzaIds(): boolean {
    return this.features.has(spaces.stanzaId);
  }

  get hasArchive(): boolean {
    return this.features.has(spaces.archive);
  }

  /** Who is there. Nobody says which of the others are bots. */
  get members(): { readonly humans: number; readonly bots: number; readonly truncated: boolean } {
    const others = Math.max(0, this.occupants.size - 1);
    return { humans: others, bots: this.isJoined ? 1 : 0, truncated: others > 1 };
  }

  /** What a presence says about who is there. */
  note(presence: XmppPresence, nick: string): void {
    const { type, newNick, codes } = presence;
    const before = this.occupants.get(nick);
    if (type === "unavailable") {
      this.occupants.delete(nick);
      if (codes.includes("303") && newNick !== null && before !== undefined)
        this.occupants.set(newNick, { ...before, nick: newNick });
      return;
    }
    if (this.occupants.size >= limits.xmppOccupantsMax && before === undefined) return;
    const occupantId = this.hasOccupantIds ? presence.occupantId : null;
    const real = presence.real === null ? null : presence.real.split("/", 1)[0] || null;
    const visit = before?.visit ?? randomUUID();
    this.occupants.set(nick, { nick, real, occupantId, visit });
    if (real !== null && occupantId !== null) this.#reals.set(occupantId, real);
  }

  /** Who wrote what is played back: the address only where it is known, never by the nick. */
  past(nick: string, occupantId: string | null, real: string | null): Who {
    const id = this.hasOccupantIds ? occupantId : null;
    const known = real ?? (id === null ? null : (this.#reals.get(id) ?? null));
    return { real: known, occupantId: id, visit: `unknown:${nick}` };
  }
}

export class XmppChats {
  /** By address. */
  readonly rooms = new Map<string, XmppRoom>();
  readonly #known = new LRUCache<string, true>(atMost(limits.sentTopicsMax));
  readonly #heard = new LRUCache<string, Heard>(atMost(limits.sentTopicsMax));
  /** A sender's own id of a message to it. */
  readonly #byWireId = new LRUCache<string, Heard>(atMost(limits.sentTopicsMax));
  /** A person's reactions to a message. */
  readonly reactions = new LRUCache<string, readonly string[]>(atMost(limits.sentTopicsMax));

  /** A new connection: nothing is known of rooms. */
  clear(): void {
    this.rooms.clear();
  }

  remember(chat: string, heard: Heard): void {
    this.#known.set(chat, true);
    const text = heard.text.slice(0, quotedUnitsMax);
    const kept = { ...heard, text };
    this.#heard.set(keyOf(chat, heard.id), kept);
    this.#byWireId.set(keyOf(chat, heard.authorId, heard.wireId), kept);
  }

  /** Whether anything of a chat is known. */
  knows(chat: string): boolean {
    return this.#known.has(chat);
  }

  heard(chat: string, id: string): Heard | undefined {
    return this.#heard.get(keyOf(chat, id));
  }

  /** The message that this author gave this id. */
  byWireId(chat: string, authorId: AuthorId, wireId: string): Heard | undefined {
    return this.#byWireId.get(keyOf(chat, authorId, wireId));
  }
}

/** None of the parts has a line break. */
export const keyOf = (...parts: readonly string[]): string => parts.join("\n");
