/**
 * The access list
 * ===============
 * What is known of people beside what the config says: who was approved, who is an owner or a
 * member, whose pairing waits, which claim codes are open, how often was guessed. One entry a fact,
 * under a unique name; the access list is the map of them. Everybody is known by
 * the platform's stable id, on one channel and one account.
 */
import type { Millis } from "../../domain/message.ts";

export type Role = "owner" | "member";
/**
 * How somebody is known. `paired`: approved by code, for direct chats where they pair. `direct` and
 * `group`: put on the list of direct chats, or of groups, by an owner. `owner` and `member`: roles.
 */
export type GrantScope = "paired" | "direct" | "group" | Role;

/** One account of one channel. */
export interface AccessPlace {
  readonly channel: string;
  readonly account: string;
}
/** Somebody there, by the platform's stable id. */
export interface Person extends AccessPlace {
  readonly id: string;
}
export interface Grant extends Person {
  readonly kind: "grant";
  readonly scope: GrantScope;
  readonly at: Millis;
  /** Who said so: `console`, `claim`, or an owner as `telegram:7`. */
  readonly by: string;
}
/** A stranger who was given a code. */
export interface Pairing extends Person {
  readonly kind: "pairing";
  readonly code: string;
  /** As the platform shows them: for the operator's eyes, it grants nothing. */
  readonly name: string;
  readonly at: Millis;
  readonly expiresAt: Millis;
}
/** A role for the person who says the code; the code itself is not here. */
export interface OpenClaim {
  readonly kind: "claim";
  /** What the operator calls it by. */
  readonly label: string;
  readonly hash: string;
  readonly role: Role;
  readonly at: Millis;
  readonly expiresAt: Millis;
  readonly by: string;
}
/** Wrong codes at one place; forgotten at `until`. Enough of them are a lock until then. */
export interface Guesses {
  readonly kind: "guesses";
  /** Null: on the console. */
  readonly place: AccessPlace | null;
  readonly count: number;
  readonly until: Millis;
}
/** An approval was given: no later one makes an owner. */
export interface FirstApproval {
  readonly kind: "first";
  readonly at: Millis;
}
export type AccessEntry = Grant | Pairing | OpenClaim | Guesses | FirstApproval;

/** Entries by name. Grants may be many and are looked through only when an operator acts. */
export interface AccessState {
  readonly grants: ReadonlyMap<string, Grant>;
  /** All that waits or runs out: few. */
  readonly open: ReadonlyMap<string, Exclude<AccessEntry, Grant>>;
}
/** An entry set, or removed (null). */
export type AccessChange = readonly [name: string, entry: AccessEntry | null];

/** The one name of an entry: a second one for the same fact replaces the first. */
export function nameOfEntry(entry: AccessEntry): string {
  switch (entry.kind) {
    case "grant":
      return grantName(entry, entry.scope);
    case "pairing":
      return JSON.stringify(["pairing", entry.channel, entry.account, entry.id]);
    case "claim":
      return JSON.stringify(["claim", entry.label]);
    case "guesses":
      return guessesName(entry.place);
    case "first":
      return JSON.stringify(["first"]);
  }
}

export function grantName({ channel, account, id }: Person, scope: GrantScope): string {
  return JSON.stringify(["grant", scope, channel, account, id]);
}

export function guessesName(place: AccessPlace | null): string {
  return JSON.stringify(["guesses", place?.channel ?? null, place?.account ?? null]);
}

export const setEntry = (entry: AccessEntry): AccessChange => [nameOfEntry(entry), entry];
export const removeEntry = (entry: AccessEntry): AccessChange => [nameOfEntry(entry), null];

/** Entries that no longer count: the next change of the store removes them in its commit. */
export function expiredEntries(state: AccessState, now: Millis): AccessChange[] {
  return [...state.open.values()].filter((entry) => isOver(entry, now)).map(removeEntry);
}

export function isOver(entry: AccessEntry, now: Millis): boolean {
  if (entry.kind === "pairing" || entry.kind === "claim") return now >= entry.expiresAt;
  return entry.kind === "guesses" && now >= entry.until;
}

/** All entries of one kind that count at this moment. */
export function entriesOf<Kind extends AccessEntry["kind"]>(
  state: AccessState,
  kind: Kind,
  now: Millis,
): Extract<AccessEntry, { readonly kind: Kind }>[] {
  type Wanted = Extract<AccessEntry, { readonly kind: Kind }>;
  const all: Iterable<AccessEntry> = kind === "grant" ? state.grants.values() : state.open.values();
  return [...all].filter((entry): entry is Wanted => entry.kind === kind && !isOver(entry, now));
}

/** The people on the access list, as admission asks for every message. */
export interface KnownPeople {
  has(scope: GrantScope, person: Person): boolean;
}

/** An empty access list. */
export const noKnownPeople: KnownPeople = { has: () => false };
