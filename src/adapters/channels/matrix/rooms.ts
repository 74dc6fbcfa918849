/**
 * What an account knows of its rooms
 * ==================================
 * Names, members' names, encryption, who is written to directly, and which room took the place of which:
 * a room that was upgraded is another room with the same people, and goes on under its first id if both
 * say so. Read from the state that a sync brings; in memory, and complete after the first sync of a run.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { AuthorId, ChatKind, Inbound } from "../../../domain/message.ts";
import {
  aliasSchema,
  createSchema,
  directSchema,
  memberSchema,
  nameSchema,
  tombstoneSchema,
  type WireEvent,
} from "./wire.ts";

interface Room {
  name: string | null;
  alias: string | null;
  isEncrypted: boolean;
  predecessor: string | null;
  replacement: string | null;
}

/** A message that was heard or sent. */
export interface Heard {
  readonly room: string;
  readonly authorId: AuthorId;
  readonly isSelf: boolean;
  readonly text: string;
  /** The first message of the thread that it is in. */
  readonly thread: string | null;
}

/** A reaction, by the id of its event. */
export interface HeardReaction {
  readonly room: string;
  readonly of: string;
  readonly emoji: string;
  readonly authorId: AuthorId;
}

/** Units of a text that a reply repeats. */
const heardUnitsMax = 300;
/** Upgrades of one room that are followed. */
const upgradesMax = 20;

export class MatrixRooms {
  /** Our user id; empty before the first login. */
  self = "";
  readonly #rooms = new LRUCache<string, Room>(atMost(limits.matrixRoomsMax));
  readonly #names = new LRUCache<string, string>(atMost(limits.matrixNamesMax));
  readonly #heard = new LRUCache<string, Heard>(atMost(limits.matrixEventsMax));
  readonly #reactions = new LRUCache<string, HeardReaction>(atMost(limits.matrixEventsMax));
  #directs: ReadonlyMap<string, string> = new Map();

  /** Takes what a state event says. */
  note(
    roomId: string,
    { type, state_key: key, content }: Pick<WireEvent, "type" | "state_key" | "content">,
  ): void {
    if (key === undefined) return;
    const room = this.#room(roomId);
    switch (type) {
      case "m.room.name":
        room.name = nameSchema.safeParse(content).data?.name || null;
        return;
      case "m.room.canonical_alias":
        room.alias = aliasSchema.safeParse(content).data?.alias || null;
        return;
      case "m.room.encryption":
        room.isEncrypted = true;
        return;
      case "m.room.create":
        room.predecessor = createSchema.safeParse(content).data?.predecessor?.room_id ?? null;
        return;
      case "m.room.tombstone":
        room.replacement = tombstoneSchema.safeParse(content).data?.replacement_room ?? null;
        return;
      case "m.room.member": {
        const name = memberSchema.safeParse(content).data?.displayname?.trim();
        if (name) this.#names.set(keyOf(roomId, key), name);
        else this.#names.delete(keyOf(roomId, key));
      }
    }
  }

  /** Takes the list of direct chats (account data m.direct). */
  noteDirects(content: unknown): void {
    const lists = Object.entries(directSchema.safeParse(content).data ?? {});
    this.#directs = new Map(
      lists.flatMap(([user, rooms]) => (rooms ?? []).map((room) => [room, user] as const)),
    );
  }

  /** The list of direct chats with another one in it. */
  directsWith(roomId: string, user: string): Readonly<Record<string, readonly string[]>> {
    const all = new Map([...this.#directs, [roomId, user] as const]);
    const lists: Record<string, string[]> = {};
    for (const [room, who] of all) lists[who] = [...(lists[who] ?? []), room];
    return lists;
  }

  chatOf(roomId: string): Inbound["chat"] {
    const id = this.chatIdOf(roomId);
    const title = this.titleOf(roomId);
    const chat = { id, kind: this.kindOf(roomId), ...(id !== roomId && { movedTo: roomId }) };
    return title === null ? chat : { ...chat, title };
  }

  titleOf(roomId: string): string | null {
    const room = this.#rooms.get(roomId);
    const person = this.#directs.get(roomId);
    return room?.name ?? room?.alias ?? (person === undefined ? null : this.nameOf(roomId, person));
  }

  kindOf(roomId: string): ChatKind {
    return this.#directs.has(roomId) || this.#directs.has(this.chatIdOf(roomId))
      ? "direct"
      : "group";
  }

  isEncrypted(roomId: string): boolean {
    return this.#rooms.get(roomId)?.isEncrypted === true;
  }

  /** The room that took this one's place, as this one says; null: none did. */
  replacementOf(roomId: string): string | null {
    return this.#rooms.get(roomId)?.replacement ?? null;
  }

  /** The first id of a room. */
  chatIdOf(roomId: string): string {
    let at = roomId;
    for (let count = 0; count < upgradesMax; count += 1) {
      const before = this.#rooms.peek(at)?.predecessor ?? null;
      if (before === null || this.#rooms.peek(before)?.replacement !== at) break;
      at = before;
    }
    return at;
  }

  /** The room in which a chat goes on. */
  currentOf(chatId: string): string {
    let at = chatId;
    for (let count = 0; count < upgradesMax; count += 1) {
      const next = this.#rooms.get(at)?.replacement ?? null;
      if (next === null || this.#rooms.get(next)?.predecessor !== at) break;
      at = next;
    }
    return at;
  }

  /** What a person is called in a room; the first part of the id where nobody said. */
  nameOf(roomId: string, user: string): string {
    return this.#names.get(keyOf(roomId, user)) ?? localpart(user);
  }

  remember(eventId: string, heard: Heard): void {
    this.#heard.set(eventId, { ...heard, text: heard.text.slice(0, heardUnitsMax) });
  }

  heard(roomId: string, eventId: string): Heard | undefined {
    const heard = this.#heard.get(eventId);
    // A reply may name a message of the room before its upgrade, and of no other one.
    return heard !== undefined && this.chatIdOf(heard.room) === this.chatIdOf(roomId)
      ? heard
      : undefined;
  }

  rememberReaction(eventId: string, reaction: HeardReaction): void {
    this.#reactions.set(eventId, reaction);
  }

  reaction(roomId: string, eventId: string): HeardReaction | undefined {
    const found = this.#reactions.get(eventId);
    return found?.room === roomId ? found : undefined;
  }

  #room(id: string): Room {
    const known = this.#rooms.get(id);
    if (known !== undefined) return known;
    const room: Room = {
      name: null,
      alias: null,
      isEncrypted: false,
      predecessor: null,
      replacement: null,
    };
    this.#rooms.set(id, room);
    return room;
  }
}

/** Ids have no line break. */
export const keyOf = (...parts: readonly string[]): string => parts.join("\n");

const localpart = (user: string): string => /^@([^:]+):/.exec(user)?.[1] ?? user;
