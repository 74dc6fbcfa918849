/**
 * What an account knows of its rooms
 * ==================================
 * Who is in each room, as the server reports it; under which nick a person was last heard; and who
 * wrote the newest messages, so that an answer can name them. In memory, except the nicks of people
 * who wrote directly: these are part of the account's cursor (`progress.ts`).
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { Fold } from "./names.ts";
import { type IrcLine, sourceOf } from "./wire.ts";

interface Member {
  readonly nick: string;
  /** As WHO reports it, on servers with a bot mode. */
  readonly isBot: boolean;
}

/** The author of a heard message. */
interface Heard {
  readonly nick: string;
  /** Whether the id is the server's own (msgid). */
  readonly isServerId: boolean;
}

export class IrcChats {
  fold: Fold = (name) => name.toLowerCase();
  /** By folded name of the room, then of the nick. */
  readonly #rooms = new Map<string, Map<string, Member>>();
  /** Nicks of people who wrote directly, by their id. */
  readonly nicks = new LRUCache<string, string>({ max: limits.ircNicksMax });
  readonly heard = new LRUCache<string, Heard>(atMost(limits.sentTopicsMax));

  /** Rooms that we should be in and are not, by folded name: until when they were heard. */
  readonly unheard = new Map<string, Millis>();

  unheardSince(room: string): Millis | null {
    return this.unheard.get(this.fold(room)) ?? null;
  }

  /** A new connection: nothing is known of rooms. */
  clear(): void {
    this.#rooms.clear();
  }

  isIn(room: string): boolean {
    return this.#rooms.has(this.fold(room));
  }

  hasMember(room: string, nick: string): boolean {
    return this.#rooms.get(this.fold(room))?.has(this.fold(nick)) === true;
  }

  isBot(room: string, nick: string): boolean {
    return this.#rooms.get(this.fold(room))?.get(this.fold(nick))?.isBot === true;
  }

  members(room: string): readonly Member[] {
    return [...(this.#rooms.get(this.fold(room))?.values() ?? [])];
  }

  /** What a line says about who is where. */
  note(line: IrcLine, ownNick: string): void {
    const { command, params, source } = line;
    const isOurs = this.fold(source.nick) === this.fold(ownNick);
    const [first = "", second = ""] = params;
    switch (command) {
      case "JOIN":
        if (isOurs && !this.isIn(first)) this.#rooms.set(this.fold(first), new Map());
        this.#add(first, source.nick, "bot" in line.tags);
        break;
      case "PART":
        this.#remove(first, source.nick, isOurs);
        break;
      case "KICK":
        this.#remove(first, second, this.fold(second) === this.fold(ownNick));
        break;
      case "QUIT":
        for (const room of this.#rooms.values()) room.delete(this.fold(source.nick));
        break;
      case "NICK":
        this.#rename(source.nick, first);
        break;
      case "353":
        for (const name of (params[3] ?? "").split(" "))
          this.#add(params[2] ?? "", sourceOf(name.replace(/^[~&@%+!]+/, "")).nick);
        break;
      case "352":
        // <client> <channel> <user> <host> <server> <nick> <flags> :...
        this.#add(second, params[5] ?? "", /B/.test(params[6] ?? ""));
        break;
    }
  }

  #add(room: string, nick: string, isBot = false): void {
    const members = this.#rooms.get(this.fold(room));
    if (members === undefined || nick === "" || members.size >= limits.ircMembersMax) return;
    members.set(this.fold(nick), { nick, isBot: isBot || this.isBot(room, nick) });
  }

  #remove(room: string, nick: string, isOurs: boolean): void {
    if (isOurs) this.#rooms.delete(this.fold(room));
    else this.#rooms.get(this.fold(room))?.delete(this.fold(nick));
  }

  #rename(from: string, to: string): void {
    for (const room of this.#rooms.values()) {
      const member = room.get(this.fold(from));
      if (member === undefined) continue;
      room.delete(this.fold(from));
      room.set(this.fold(to), { ...member, nick: to });
    }
    for (const [id, nick] of this.nicks.entries())
      if (this.fold(nick) === this.fold(from)) this.nicks.set(id, to);
  }
}
