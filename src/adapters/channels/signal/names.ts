/**
 * Names of people and groups, as far as they were heard, and the first id of messages that were edited:
 * each edit is a message of its own, with a time of its own, that names the one before or the first.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import { type Address, personId, SignalSelf } from "./ids.ts";

export class SignalNames {
  readonly self: SignalSelf;
  readonly #people = new LRUCache<string, string>(atMost(limits.slackNamesMax));
  readonly #groups = new LRUCache<string, string>(atMost(limits.slackNamesMax));
  readonly #texts = new LRUCache<string, string>(atMost(limits.sentTopicsMax));
  /** Id of an edit to the id of the message as it was first sent, and the other way round. */
  readonly #first = new LRUCache<string, string>(atMost(limits.sentTopicsMax));
  readonly #newest = new LRUCache<string, string>(atMost(limits.sentTopicsMax));

  constructor(account: string, name: string | undefined) {
    this.self = new SignalSelf(account);
    if (name !== undefined) this.#people.set(account, name);
  }

  /** The id of a person; null: the sender is hidden. */
  idOf(address: Address): string | null {
    return personId(address, this.self);
  }

  nameOf(id: string): string | null {
    return this.#people.get(id) ?? null;
  }

  titleOf(group: string): string | null {
    return this.#groups.get(group) ?? null;
  }

  rename(id: string, name: string | null | undefined): void {
    if (name) this.#people.set(id, name);
  }

  retitle(group: string, title: string | null | undefined): void {
    if (title) this.#groups.set(group, title);
  }

  /** The text of a message, for quotes of it. */
  textOf(id: string): string | null {
    return this.#texts.get(id) ?? null;
  }

  said(id: string, text: string): void {
    this.#texts.set(id, text.slice(0, limits.captionUnitsMax));
  }

  edited(target: string, edit: string): void {
    const first = this.firstOf(target);
    this.#first.set(edit, first);
    this.#newest.set(first, edit);
  }

  firstOf(id: string): string {
    return this.#first.get(id) ?? id;
  }

  newestOf(id: string): string {
    return this.#newest.get(this.firstOf(id)) ?? id;
  }
}
