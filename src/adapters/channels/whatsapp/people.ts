/**
 * Who is who after a change of number
 * ===================================
 * WhatsApp reports when a person's number, or the person's id for this business, has changed
 * (webhooks/reference/messages/system). The conversation keeps the first one, and with it its allowance
 * and its session; calls go to the newest one. A number that was given up may get another owner: what
 * comes from it later is another person's, under an id of its own. The pairs are stored with the events.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";

/** Marks the id of the next owner of a number. */
const nextOwner = "/next";

export class WhatsAppPeople {
  /** The address now, by first id. */
  readonly #now = new Map<string, string>();
  /** The first id, by the address now. */
  readonly #first = new Map<string, string>();
  /** The newest message of each chat. */
  readonly heard = new LRUCache<string, string>(atMost(limits.lastHeardMax));

  /** The reactions of people, by message and person: a removal does not say what it removes. */
  readonly reactions = new LRUCache<string, string[]>(atMost(limits.lastHeardMax));

  get cursor(): string {
    return JSON.stringify({ moved: [...this.#now] });
  }

  load(cursor: string | null): void {
    try {
      const { moved } = JSON.parse(cursor ?? "{}") as { moved?: unknown };
      if (!Array.isArray(moved)) return;
      for (const [first, now] of moved as unknown[][])
        if (typeof first === "string" && typeof now === "string") this.#set(first, now);
    } catch {
      // Only another program writes anything else.
    }
  }

  move(from: string, to: string): void {
    const first = this.idOf(from);
    if (from !== to && this.addressOf(first) !== to) this.#set(first, to);
  }

  /** The id under which a sender is known. */
  idOf(address: string): string {
    const first = this.#first.get(address);
    if (first !== undefined) return first;
    return this.#now.has(address) ? `${address}${nextOwner}` : address;
  }

  /** Where to send to. */
  addressOf(id: string): string {
    return this.#now.get(id) ?? (id.endsWith(nextOwner) ? id.slice(0, -nextOwner.length) : id);
  }

  #set(first: string, now: string): void {
    const before = this.#now.get(first);
    if (before !== undefined) this.#first.delete(before);
    const [oldest] = this.#now.keys();
    if (before === undefined && oldest !== undefined && this.#now.size >= limits.movedPeopleMax) {
      this.#first.delete(this.#now.get(oldest) as string);
      this.#now.delete(oldest);
    }
    this.#now.set(first, now);
    this.#first.set(now, first);
  }
}
