/**
 * What accounts could not recover, known to all nodes
 * ===================================================
 * The node that was connected finds out what was lost, and may die before anybody has read it. So it is kept where
 * all nodes read it, until a person has seen it on any of them.
 */
import type { Millis } from "../../message.ts";
import type { Gap } from "../channel.ts";

export interface KeptGap extends Gap {
  /** The same for the same span of the same account, whichever node reports it. */
  readonly id: string;
  /** When it was reported, ms since the epoch. */
  readonly at: Millis;
}

export interface SharedGap extends KeptGap {
  readonly channel: string;
  readonly account: string;
}

export interface SharedGaps {
  /** Gives it to all nodes, instead of the one with its id; tried again until it is stored. */
  keep(gap: SharedGap): void;
  /** Removes it from all nodes, in the same way. */
  forget(id: string): void;
  /** `listener` gets what other nodes have given and removed (null). One listener. */
  follow(listener: (id: string, gap: SharedGap | null) => void): void;
}
