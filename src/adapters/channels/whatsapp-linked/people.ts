/**
 * Who is who
 * ==========
 * WhatsApp addresses people by their number, or by an id without one (a "lid") where they hide it, and
 * changes from one to the other. A person is known by the number's digits, where it was known when the
 * person was first heard of, and else by the lid for good.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import { jidOf, lidServer, numberServer } from "./jid.ts";
import type { Heard, LinkedStore } from "./store.ts";

export class LinkedPeople {
  /** The digits of the account's own number, and its lid. */
  self = "";
  selfLid = "";
  readonly #heard = new LRUCache<string, Heard>(atMost(limits.linkedRecentMax));
  /** The reaction of a person to a message: taking it back does not say which. */
  readonly reactions = new LRUCache<string, readonly string[]>(atMost(limits.linkedHeardMax));
  readonly #numbers = new LRUCache<string, string>(atMost(limits.linkedHeardMax));
  readonly #store: LinkedStore;

  constructor(store: LinkedStore) {
    this.#store = store;
  }

  /** Our own address in a group, or in a direct chat. */
  ownAddress(isByLid: boolean): string {
    return isByLid && this.selfLid !== ""
      ? `${this.selfLid}@${lidServer}`
      : `${this.self}@${numberServer}`;
  }

  isSelf(address: string): boolean {
    const { user, server } = jidOf(address);
    return server === lidServer ? user === this.selfLid : user === this.self;
  }

  /** A message that was heard or sent; undefined: it is not known any more. */
  heard(chatId: string, id: string): Heard | undefined {
    const place = `${chatId} ${id}`;
    return this.#heard.get(place) ?? this.#store.heard(place) ?? undefined;
  }

  remember(chatId: string, id: string, heard: Heard): void {
    const place = `${chatId} ${id}`;
    this.#heard.set(place, heard);
    this.#store.rememberHeard(place, heard);
  }

  rememberFile(id: string, file: object): void {
    this.#store.rememberFile(id, file);
  }

  /** Somebody who writes. @param other the person's other address, where the stanza has it. */
  idOf(address: string, other?: string): string {
    const { user, server } = jidOf(address);
    if (this.isSelf(address)) return this.self;
    if (server !== lidServer) return user;
    const hasNumber = other !== undefined && jidOf(other).server === numberServer;
    const number = hasNumber ? jidOf(other).user : this.#numberOf(user);
    return this.#store.personOf(`${user}@${lidServer}`, number);
  }

  /** Somebody who is only named: that decides nothing about the id. */
  namedId(address: string): string {
    const { user, server } = jidOf(address);
    if (this.isSelf(address)) return this.self;
    if (server !== lidServer) return user;
    const lid = `${user}@${lidServer}`;
    return this.#store.knownAs(lid) ?? this.#numberOf(user) ?? lid;
  }

  /** A group says who of its members has which number. */
  learn(lid: string, number: string): void {
    this.#numbers.set(jidOf(lid).user, jidOf(number).user);
  }

  #numberOf(lidUser: string): string | null {
    return this.#numbers.get(lidUser) ?? this.#store.numberOf(lidUser);
  }
}

/** An address without the device. */
export function userAddress(address: string): string {
  const { user, server } = jidOf(address);
  return `${user}@${server}`;
}

/** Where a chat of ours is at WhatsApp. */
export const addressOf = (chatId: string): string =>
  chatId.includes("@") ? chatId : `${chatId}@${numberServer}`;
