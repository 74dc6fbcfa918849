/**
 * Turn slots: what those who ask for one see of them.
 */

export interface SlotRequest {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
}

/** Turns of one agent. */
export interface SlotsOfAgent {
  readonly agentId: string;
  readonly running: number;
  readonly waiting: number;
}

export interface TurnSlots {
  /** Asks for a slot. A conversation that waits or runs already changes nothing. */
  request(request: SlotRequest): void;
  /** Takes a slot at once, if the request would be served now. False: it was not, and waits nowhere. */
  takeFree(request: SlotRequest): boolean;
  /** Takes a slot that was granted before a restart, whether one is free or not. */
  occupy(request: SlotRequest): void;
  /** Gives the slot (or the place in the queue) back. */
  release(conv: number): void;
  /** Serves the queue again, after the bounds changed. */
  pump(): void;
  waiting(): number;
  running(): number;
  /** Agents that have turns or wait for some. */
  agents(): readonly SlotsOfAgent[];
}
