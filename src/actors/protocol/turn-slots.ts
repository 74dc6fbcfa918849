/**
 * Turn slots, as the parts that request them see them.
 */

export interface SlotRequest {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
}

export interface SlotsOfAgent {
  readonly agentId: string;
  readonly running: number;
  readonly waiting: number;
}

export interface TurnSlots {
  /** Requests a slot. Ignored for a conversation that waits or runs already. */
  request(request: SlotRequest): void;
  /**
   * Takes a slot immediately, if the request would be granted now. False: it was not, and is not
   * queued.
   */
  takeFree(request: SlotRequest): boolean;
  /** Takes a slot that was granted before a restart, even above the limit. */
  occupy(request: SlotRequest): void;
  /** Returns the slot (or leaves the queue). */
  release(conv: number): void;
  /** Grants slots again, after the limits changed. */
  pump(): void;
  waiting(): number;
  running(): number;
  /** Agents that have turns or wait for some. */
  agents(): readonly SlotsOfAgent[];
}
