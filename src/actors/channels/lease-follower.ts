/**
 * Connects while this node has an account's lease, and disconnects when it is lost: one after the other, also
 * where the lease comes back while the connection still ends.
 */
import type { Lease, LeaseHolder, LeaseListener } from "../../domain/ports/index.ts";

export interface LeaseFollower {
  /** Whether no other node may use the account now. */
  isHeld(): boolean;
  /** The node that has the lease, this or another one; null: none. */
  holder(): LeaseHolder | null;
  /** Connects no more. */
  stop(): void;
  /** Lets others connect: called once the connection has ended. Never rejects. */
  giveBack(): Promise<void>;
}

export interface FollowedAccount {
  /** Wants the lease; see `ConnectionLeases.want`. */
  readonly want: (listener: LeaseListener) => () => Promise<void>;
  readonly connect: () => void;
  /** Begins to disconnect before it returns. */
  readonly disconnect: () => Promise<void>;
  /** This node does not connect, and why. */
  readonly elsewhere: (why: string) => void;
}

const nobody = "no node has it yet";

/** Begins at once: with a lease that is there already it has connected when it returns. */
export function followLease({
  want,
  connect,
  disconnect,
  elsewhere,
}: FollowedAccount): LeaseFollower {
  let lease: Lease | null = null;
  let other: LeaseHolder | null = null;
  let ending: Promise<void> | null = null;
  let stopped = false;
  const begin = () => {
    if (lease !== null && !stopped && ending === null) connect();
  };
  const ended = () => {
    ending = null;
    begin();
  };
  const giveBack = want({
    onHeld(given) {
      lease = given;
      other = null;
      begin();
    },
    onLost(reason) {
      lease = null;
      ending ??= disconnect().then(ended);
      elsewhere(reason);
    },
    onHolder(holder) {
      other = holder;
      elsewhere(holder === null ? nobody : `${holder.node} has it`);
    },
  });
  if (lease === null) elsewhere(nobody);
  return {
    isHeld: () => lease?.isValid() === true,
    holder: () => lease?.holder ?? other,
    stop() {
      stopped = true;
    },
    giveBack,
  };
}
