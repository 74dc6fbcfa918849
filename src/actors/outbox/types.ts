/**
 * The outbox's face
 * =================
 * What the outbox must be given, and what the rest of the runtime may ask of it.
 */

import type { Clock, Log, OutboxRow, OutboxState, Random } from "../../domain/ports/index.ts";
import type { Journal } from "../journal/journal.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { TurnDraft } from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { HookRunner } from "./plugin-hooks.ts";
import type { Delivery } from "./row-body.ts";

export interface OutboxPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  readonly journal: Journal;
  readonly directory: OutboundDirectory;
  readonly events: Pick<RuntimeEvents, "emit">;
  /** What to do with a doubt, and until what age. */
  readonly doubts: () => { readonly policy: "resend-if-fresh" | "hold"; readonly freshMs: number };
  /** Config version for the events that tell the conversation. */
  readonly cfg: () => number;
  /** Tests end the process here. */
  readonly onPoint: (point: "after-send" | "before-mark") => void;
  /** Asks plugins about texts. */
  readonly hooks: Pick<HookRunner, "hears" | "sending">;
  /** The agent that speaks in a conversation. */
  readonly agentOf: (key: string) => string;
  /** What others are told of a text that has ended, in the commit that says so. */
  readonly onSettled: (delivery: Delivery) => readonly NewEvent[];
  /** A row as the store has it. */
  readonly row: (id: string) => Promise<OutboxRow | null>;
}

/** The error of a row that the operator gave up begins with this. */
export const givenUp = "given up by the operator";

export interface Outbox {
  /** Takes rows that are durable, in order. */
  enqueue(rows: readonly OutboxRow[]): void;
  /**
   * Takes up what was found at start: the open rows, and how many rows are in each state. Resolves
   * when those found in `sending` are marked.
   */
  recover(
    rows: readonly OutboxRow[],
    counts: Readonly<Partial<Record<OutboxState, number>>>,
  ): Promise<void>;
  /** An account may send again. */
  wake(channel: string, account: string): void;
  /** Gives up what a turn has not sent yet. */
  discard(turnId: string, why: string): void;
  /** What the message of a draft should show by now. */
  draft(draft: TurnDraft): void;
  /** The turn is over. `broken`: drafts that were not sent yet are not sent any more. */
  endTurn(turnId: string, broken: boolean): void;
  /**
   * The operator sends a row again, or gives it up; one that is dead is marked as seen. False: its
   * state does not allow it.
   */
  resend(row: OutboxRow): Promise<boolean>;
  drop(row: OutboxRow): Promise<boolean>;
  counts(): Readonly<Record<string, number>>;
  /** Texts that could be sent now or are being sent. */
  active(): number;
  /** Starts nothing any more. */
  stop(): void;
}
