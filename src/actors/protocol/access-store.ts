/**
 * Who may speak besides the people in the config: the access store as other parts see it.
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
  /** The people known on one account; admission asks for every message. */
  has(scope: GrantScope, person: Person): boolean;
  list(): AccessList;

  /** A stranger has written; null: they get no answer. */
  ask(person: Person & { readonly name: string }): (Pending & { readonly pairing: Pairing }) | null;
  /** A message that may be a claim code. */
  redeem(code: string, person: Person): Pending & { readonly result: Redeemed | Refused };

  /**
   * Admits the person who received this code. `from`: the room where an operator enters it, whose
   * failed attempts are counted; absent: the console.
   * @throws EarshotError EAR_STORE_FAILED
   *
   * EAR_STORE_FULL from this and all that follow: nothing changed.
   */
  approve(code: string, by: string, from?: AccessPlace): Promise<Approved | Refused>;
  /** Admits the person who waits under this id; null: there is none. */
  approvePerson(id: string, by: string): Promise<Approved | null>;
  /**
   * Adds a person to the list of direct chats or of groups, or gives a role. False: the list is
   * full.
   */
  allow(person: Person & { readonly scope: GrantScope }, by: string): Promise<boolean>;
  /**
   * Takes back what a person was given here; from their next message on they are strangers. False:
   * they had nothing (entries of the config are changed in the config).
   */
  revoke(revocation: Revocation): Promise<boolean>;
  /** Withdraws a pairing code that waits. */
  revokePairing(code: string): Promise<boolean>;
  /** A claim code, shown only here; null: too many are open. */
  issue(
    claim: ClaimWanted,
  ): Promise<{ readonly code: string; readonly claim: Omit<OpenClaim, "hash"> } | null>;
  revokeClaim(label: string): Promise<boolean>;
  /** Another node has stored these rows; null: deleted. */
  learn(rows: readonly { readonly name: string; readonly body: string | null }[]): void;
}
/** The content of the access store. It holds no claim codes. */

export interface AccessList {
  readonly grants: readonly Grant[];
  readonly pairings: readonly Pairing[];
  readonly claims: readonly Omit<OpenClaim, "hash">[];
  readonly guesses: readonly Guesses[];
}
/** Changes that a message made; they are stored with it. */

export interface Pending {
  readonly writes: readonly AccessWrite[];
  /** They were not stored: restores the state before them. */
  undo(): void;
}
