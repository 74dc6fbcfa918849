/**
 * Who may speak, beside those whom the config names: the store as others see it.
 */
import type { AccessWrite } from "../../domain/ports/index.ts";
import type {
  AccessPlace,
  Grant,
  GrantScope,
  Guesses,
  KnownPeople,
  OpenClaim,
  Pairing,
  Person,
} from "../../machines/access/access-entries.ts";
import type {
  Approved,
  ClaimWanted,
  Redeemed,
  Refused,
  Revocation,
} from "../../machines/access/pairing.ts";

export interface AccessStore extends KnownPeople {
  /** Whom the book knows on one account; admission asks this for every message. */
  has(scope: GrantScope, person: Person): boolean;
  list(): AccessList;

  /** A stranger has written; null: nothing is said to them. */
  ask(person: Person & { readonly name: string }): (Pending & { readonly pairing: Pairing }) | null;
  /** Somebody has said what may be a claim code. */
  redeem(code: string, person: Person): Pending & { readonly result: Redeemed | Refused };

  /**
   * Admits the person who received this code. `from`: the place where an operator says it, whose guesses
   * are counted; left out: the console.
   * @throws EarshotError EAR_STORE_FAILED | EAR_STORE_FULL from all that follow: nothing changed.
   */
  approve(code: string, by: string, from?: AccessPlace): Promise<Approved | Refused>;
  /** Admits the person who waits under this id; null: nobody does. */
  approvePerson(id: string, by: string): Promise<Approved | null>;
  /** Puts somebody on the list of direct chats or of groups, or into a role. False: it is full. */
  allow(person: Person & { readonly scope: GrantScope }, by: string): Promise<boolean>;
  /**
   * Takes back what somebody was given here; from their next message on they are strangers. False:
   * they had nothing (what the config says is changed there).
   */
  revoke(revocation: Revocation): Promise<boolean>;
  /** Takes back a pairing code that waits. */
  revokePairing(code: string): Promise<boolean>;
  /** A claim code, told this once; null: too many are open. */
  issue(
    claim: ClaimWanted,
  ): Promise<{ readonly code: string; readonly claim: Omit<OpenClaim, "hash"> } | null>;
  revokeClaim(label: string): Promise<boolean>;
}
/** What the book holds at this moment. Codes of claims are in none of it. */

export interface AccessList {
  readonly grants: readonly Grant[];
  readonly pairings: readonly Pairing[];
  readonly claims: readonly Omit<OpenClaim, "hash">[];
  readonly guesses: readonly Guesses[];
}
/** Changes that a message made; they are stored with it. */

export interface Pending {
  readonly writes: readonly AccessWrite[];
  /** They were not stored: the book is as it was before. */
  undo(): void;
}
