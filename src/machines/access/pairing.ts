/**
 * Pairing, claims and revocation
 * ==============================
 * What changes in the access list, and what is answered: each rule takes the list, the moment and
 * chance, and gives the changes. A stranger is given a code once, and three of an account at most
 * wait at a time; the operator approves. A claim code gives its role to the first who says it. Who
 * guesses wrong too often at one account is not looked at there for a while, and neither is
 * anybody else, nor the right code; other accounts go on.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Digest } from "../../domain/ports/index.ts";
import {
  type AccessChange,
  type AccessPlace,
  type AccessState,
  entriesOf,
  expiredEntries,
  type Grant,
  type GrantScope,
  type Guesses,
  grantName,
  guessesName,
  isOver,
  nameOfEntry,
  type OpenClaim,
  type Pairing,
  type Person,
  type Role,
  removeEntry,
  setEntry,
} from "./access-entries.ts";
import { hashOfClaim, newClaimCode, newPairingCode, readPairingCode, sameHash } from "./codes.ts";

/** The list, the moment, and chance in [0, 1) that nobody can foresee. */
export interface AccessInput {
  readonly state: AccessState;
  readonly now: Millis;
  readonly chance: () => number;
  readonly digest: Digest;
}
export interface Changed {
  readonly changes: readonly AccessChange[];
}

const codeTriesMax = 8;
const nothing: readonly AccessChange[] = [];

/** A stranger has written. Null: nothing is said, because they know their code or too many wait. */
export function askToPair(
  { state, now, chance }: AccessInput,
  who: Person & { readonly name: string },
): (Changed & { readonly pairing: Pairing }) | null {
  const waiting = entriesOf(state, "pairing", now);
  const here = waiting.filter((one) => isAt(one, who));
  if (here.length >= limits.pairingsPendingMax || here.some(({ id }) => id === who.id)) return null;
  if (sizeOf(state) >= limits.accessRowsMax) return null;
  const taken = new Set(waiting.map(({ code }) => code));
  for (let n = 0; n < codeTriesMax; n += 1) {
    const code = newPairingCode(chance);
    if (taken.has(code)) continue;
    const { channel, account, id, name } = who;
    const pairing: Pairing = {
      kind: "pairing",
      channel,
      account,
      id,
      name,
      code,
      at: now,
      expiresAt: now + limits.pairingMsMax,
    };
    return { pairing, changes: [...expiredEntries(state, now), setEntry(pairing)] };
  }
  return null;
}

/** How an approval or a claim ended. */
export type Refused = Changed &
  ({ readonly outcome: "unknown" } | { readonly outcome: "locked"; readonly until: Millis });
export type Approved = Changed & {
  readonly outcome: "approved";
  readonly person: Pairing;
  /** It was the first approval of all, and nobody was an owner: now they are. */
  readonly owner: boolean;
};

/**
 * The operator says a code. `from`: where they say it; null: on the console. `owned`: the config
 * names an owner, so nobody becomes one by being first.
 */
export function approvePairing(
  { state, now }: AccessInput,
  typed: string,
  { by, from, owned }: { by: string; from: AccessPlace | null; owned: boolean },
): Approved | Refused {
  const lock = lockOf(state, from, now);
  if (lock !== null) return { outcome: "locked", until: lock, changes: nothing };
  const code = readPairingCode(typed);
  const found = entriesOf(state, "pairing", now).filter((one) => sameHash(one.code, code));
  const [person] = found;
  if (person === undefined) return { outcome: "unknown", changes: guessed(state, from, now) };
  return { ...approved(state, person, now, by, owned), person };
}

/** The same without a code, where the person is known: the newest request under this id. */
export function approvePerson(
  { state, now }: AccessInput,
  id: string,
  { by, owned }: { by: string; owned: boolean },
): Approved | null {
  const person = entriesOf(state, "pairing", now)
    .filter((one) => one.id === id)
    .at(-1);
  return person === undefined ? null : { ...approved(state, person, now, by, owned), person };
}

function approved(state: AccessState, person: Pairing, now: Millis, by: string, owned: boolean) {
  const { channel, account, id } = person;
  const grant: Grant = { kind: "grant", scope: "paired", channel, account, id, at: now, by };
  const isFirst = entriesOf(state, "first", now).length === 0;
  const hasOwner = entriesOf(state, "grant", now).some(({ scope }) => scope === "owner");
  const owner = isFirst && !owned && !hasOwner;
  const changes = [
    ...expiredEntries(state, now),
    removeEntry(person),
    setEntry(grant),
    ...(owner ? [setEntry({ ...grant, scope: "owner" })] : []),
    ...(isFirst ? [setEntry({ kind: "first", at: now })] : []),
  ];
  return { outcome: "approved" as const, owner, changes };
}

export type Redeemed = Changed & { readonly outcome: "granted"; readonly role: Role };

/** Somebody says a claim code. Every open code is compared, whether one was found or not. */
export function redeemClaim({ state, now, digest }: AccessInput, code: string, who: Person) {
  const { channel, account, id } = who;
  const lock = lockOf(state, { channel, account }, now);
  if (lock !== null) return { outcome: "locked", until: lock, changes: nothing } as Refused;
  const hash = hashOfClaim(code, digest);
  const [claim] = entriesOf(state, "claim", now).filter((one) => sameHash(one.hash, hash));
  if (claim === undefined) {
    const changes = guessed(state, { channel, account }, now);
    return { outcome: "unknown", changes } as Refused;
  }
  const { role } = claim;
  const by = `claim ${claim.label}`;
  const grant: Grant = { kind: "grant", scope: role, channel, account, id, at: now, by };
  const changes = [...expiredEntries(state, now), removeEntry(claim), setEntry(grant)];
  return { outcome: "granted", role, changes } as Redeemed;
}

export interface ClaimWanted {
  readonly role: Role;
  readonly ttlMs: number;
  readonly by: string;
  /** For a simulation, in which the code was said before. @default a new one */
  readonly code?: string;
}

/** A new claim code, shown once. Null: too many are open. */
export function issueClaim(
  { state, now, chance, digest }: AccessInput,
  { role, ttlMs, by, label, code = newClaimCode(chance) }: ClaimWanted & { readonly label: string },
): (Changed & { readonly code: string; readonly claim: OpenClaim }) | null {
  if (entriesOf(state, "claim", now).length >= limits.claimsOpenMax) return null;
  const hash = hashOfClaim(code, digest);
  const expiresAt = now + Math.min(ttlMs, limits.claimMsMax);
  const claim: OpenClaim = { kind: "claim", label, hash, role, at: now, expiresAt, by };
  return { code, claim, changes: [...expiredEntries(state, now), setEntry(claim)] };
}

/** Which person a revocation is about. */
export interface Revocation {
  readonly channel: string;
  /** Left out: on every account of the channel. */
  readonly account?: string;
  readonly id: string;
  /** Left out: everything they have, and the code they may have been given. */
  readonly scope?: GrantScope;
}

/** Takes back what somebody was given; none where they had nothing. */
export function revoke({ state }: Pick<AccessInput, "state">, person: Revocation): AccessChange[] {
  return [...state.grants.values(), ...state.open.values()]
    .filter((entry) => {
      if (entry.kind !== "grant" && entry.kind !== "pairing") return false;
      const same = entry.channel === person.channel && entry.id === person.id;
      if (!same || (person.account !== undefined && entry.account !== person.account)) return false;
      if (person.scope === undefined) return true;
      return entry.kind === "grant" && entry.scope === person.scope;
    })
    .map(removeEntry);
}

/** Takes back a pairing code that waits. */
export function revokePairing({ state, now }: AccessInput, typed: string): AccessChange[] {
  const code = readPairingCode(typed);
  return entriesOf(state, "pairing", now)
    .filter((one) => sameHash(one.code, code))
    .map(removeEntry);
}

/** Takes back a claim code by its label; none where it was used, is over or never was. */
export function revokeClaim({ state, now }: AccessInput, label: string): AccessChange[] {
  return entriesOf(state, "claim", now)
    .filter((one) => one.label === label)
    .map(removeEntry);
}

/** Puts a person on a list, or into a role. None: already so; null: the list is full. */
export function allow(
  { state, now }: AccessInput,
  { channel, account, id }: Person,
  scope: GrantScope,
  by: string,
): readonly AccessChange[] | null {
  if (state.grants.has(grantName({ channel, account, id }, scope))) return nothing;
  if (sizeOf(state) >= limits.accessRowsMax) return null;
  return [setEntry({ kind: "grant", scope, channel, account, id, at: now, by })];
}

const sizeOf = ({ grants, open }: AccessState) => grants.size + open.size;
const isAt = (one: AccessPlace, { channel, account }: AccessPlace) =>
  one.channel === channel && one.account === account;

/** When the lock of a place ends; null: there is none. */
export function lockOf(state: AccessState, place: AccessPlace | null, now: Millis): Millis | null {
  const guesses = state.open.get(guessesName(place));
  if (guesses?.kind !== "guesses" || isOver(guesses, now)) return null;
  return guesses.count >= limits.codeGuessesMax ? guesses.until : null;
}

/** One more wrong code. The last one before the lock begins the lock's time. */
function guessed(state: AccessState, place: AccessPlace | null, now: Millis): AccessChange[] {
  const before = state.open.get(guessesName(place));
  const counted = before?.kind === "guesses" && !isOver(before, now) ? before.count : 0;
  const entry: Guesses = {
    kind: "guesses",
    place: place === null ? null : { channel: place.channel, account: place.account },
    count: counted + 1,
    until: now + limits.codeLockMs,
  };
  const mine = nameOfEntry(entry);
  return [...expiredEntries(state, now).filter(([name]) => name !== mine), setEntry(entry)];
}
