/**
 * Connects while this node has an account's lease, and disconnects when it is lost: one after the other, also
 * where the lease comes back while the connection still ends.
 */
import type { Lease, LeaseHolder, LeaseListener, WantedLease } from "../../domain/ports/index.ts";

export interface LeaseFollower {
  /** The lease of this node; null: another node may use the account now. */
  held(): Lease | null;
  /** The node that has the lease, this or another one; null: none. */
  holder(): LeaseHolder | null;
  /** Another node has it, and is connected. */
  isLiveElsewhere(): boolean;
  /** As `WantedLease.live`. */
  live(author: string | null): void;
  /** Connects no more. */
  stop(): void;
  /** Lets others connect: called once the connection has ended. Never rejects. */
  giveBack(): Promise<void>;
}

export interface FollowedAccount {
  /** Wants the lease; see `ConnectionLeases.want`. */
  readonly want: (listener: LeaseListener) => WantedLease;
  readonly connect: () => void;
  /** Begins to disconnect before it returns. */
  readonly disconnect: () => Promise<void>;
  /**
   * This node does not connect, and why. `author`: who the account is, where the node that has it is connected
   * (empty: unknown).
   */
  readonly elsewhere: (why: string, author: string | null) => void;
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
  let isLive = false;
  let ending: Promise<void> | null = null;
  let stopped = false;
  const begin = () => {
    if (lease !== null && !stopped && ending === null) connect();
  };
  const ended = () => {
    ending = null;
    begin();
  };
  const wanted = want({
    onHeld(given) {
      lease = given;
      other = null;
      isLive = false;
      begin();
    },
    onLost(reason) {
      lease = null;
      ending ??= disconnect().then(ended);
      elsewhere(reason, null);
    },
    onHolder(holder, live) {
      other = holder;
      isLive = live !== null;
      const has = `${holder?.node} has it${isLive ? "" : ", and is not connected"}`;
      elsewhere(holder === null ? nobody : has, live);
    },
  });
  if (lease === null) elsewhere(nobody, null);
  const given = () => {
    if (lease === null) return;
    lease = null;
    elsewhere("this node has given it back", null);
  };
  return {
    held: () => (lease?.isValid() === true ? lease : null),
    holder: () => lease?.holder ?? other,
    isLiveElsewhere: () => lease === null && isLive,
    live: (author) => wanted.live(author),
    stop() {
      stopped = true;
    },
    giveBack() {
      given();
      return wanted.giveBack();
    },
  };
}
