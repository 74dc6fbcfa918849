/**
 * Who runs a connection that may exist once only
 * ==============================================
 * Where several nodes run the same accounts, a connection that a platform allows once (a long poll, a socket,
 * a linked device) is run by the node that holds its lease. A node that cannot renew its lease stops in time:
 * before another node may begin.
 */
import type { Millis } from "../../message.ts";

export interface Lease {
  /** This node. */
  readonly holder: LeaseHolder;
  /**
   * Whether this node is still the only one, now: by its own clocks, counted from before the lease was last
   * renewed. Asked right before anything leaves through the connection.
   */
  isValid(): boolean;
}

export interface LeaseHolder {
  /** Name of the node. */
  readonly node: string;
  /** Grows with each change of the holder. */
  readonly epoch: number;
  /** When it got the lease, by its own clock. */
  readonly since: Millis;
}

/** What becomes of a lease that is wanted. Held and lost take turns; neither may throw. */
export interface LeaseListener {
  onHeld(lease: Lease): void;
  /** The lease is not valid any more: the connection ends within 2 s. `reason`: for a person. */
  onLost(reason: string): void;
  /**
   * Another node holds it, or nobody (null). `live`: what that node says of its connection, as `WantedLease.live`.
   * Not called while this node does.
   */
  onHolder(holder: LeaseHolder | null, live: string | null): void;
}

export interface WantedLease {
  /**
   * For the others to know: the connection is live, and who the account is on its platform (the author id of what
   * it says; empty: it is unknown). Null: it is not live, as at first.
   */
  live(author: string | null): void;
  /**
   * Called once the connection has ended, so that others may begin; `onHolder` says who does. Resolves when they
   * know, or cannot be reached; never rejects.
   */
  giveBack(): Promise<void>;
}

export interface ConnectionLeases {
  /** Wants an account's lease until it is given back. */
  want(channel: string, account: string, listener: LeaseListener): WantedLease;
}
