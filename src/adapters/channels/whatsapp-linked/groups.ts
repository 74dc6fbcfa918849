/**
 * Groups that the account is in
 * =============================
 * Names and members, asked for when a message needs them, and again when a group reports a change.
 */
import type { BinaryNode, GroupMetadata } from "baileys";
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { LinkedPeople } from "./people.ts";

/** Changes are reported; this is for those that were missed. */
const keptMs = 3_600_000;

export type AskGroup = (groupId: string) => Promise<GroupMetadata>;

export class LinkedGroups {
  readonly #known = new LRUCache<string, GroupMetadata>({
    ...atMost(limits.linkedGroupsMax),
    ttl: keptMs,
  });
  readonly #people: LinkedPeople;
  /** Asks WhatsApp; null while there is no connection. */
  ask: AskGroup | null = null;

  constructor(people: LinkedPeople) {
    this.#people = people;
  }

  /** For the library, which would ask before each message. */
  known(groupId: string): GroupMetadata | undefined {
    return this.#known.get(groupId);
  }

  /** @throws what the library throws when WhatsApp does not answer */
  async of(groupId: string): Promise<GroupMetadata | null> {
    const known = this.#known.get(groupId);
    if (known !== undefined || this.ask === null) return known ?? null;
    const found = await this.ask(groupId);
    this.#known.set(groupId, found);
    for (const { id, phoneNumber } of found.participants)
      if (phoneNumber !== undefined) this.#people.learn(id, phoneNumber);
    return found;
  }

  /** A notification of WhatsApp's: what it is about is asked for again. */
  changed({ attrs }: BinaryNode): void {
    if (attrs.type === "w:gp2" && attrs.from !== undefined) this.#known.delete(attrs.from);
  }
}
