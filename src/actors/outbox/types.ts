/**
 * Interface of the outbox
 * =======================
 * The ports of the outbox, and its methods for the rest of the runtime.
 */

import type { Clock, Log, OutboxRow, OutboxState, Random } from "../../domain/ports/index.ts";
import type { Journal } from "../journal/journal.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { TurnDraft } from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { HookRunner } from "./plugin-hooks.ts";
import type { Delivery } from "./row-body.ts";
import type { ReadFile } from "./send-attempt.ts";
import type { SentMessage } from "./sent-texts.ts";

export interface OutboxPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  readonly journal: Journal;
  readonly directory: OutboundDirectory;
  readonly events: Pick<RuntimeEvents, "emit">;
  /** What to do with rows in doubt, and up to what age. */
  readonly doubts: () => { readonly policy: "resend-if-fresh" | "hold"; readonly freshMs: number };
  /** Config version for the events that go to conversations. */
  readonly cfg: () => number;
  /** Tests end the process here. */
  readonly onPoint: (point: "after-send" | "before-mark") => void;
  /** Asks plugins about texts. */
  readonly hooks: Pick<HookRunner, "hears" | "sending">;
  readonly agentOf: (key: string) => string;
  /** Events for other conversations after a text has ended, stored in the same commit. */
  readonly onSettled: (delivery: Delivery) => readonly NewEvent[];
  /** A row from the store. */
  readonly row: (id: string) => Promise<OutboxRow | null>;
  readonly readFile: ReadFile;
}

/** The error of a row that the operator gave up begins with this. */
export const givenUp = "given up by the operator";

export interface Outbox {
  /** Accepts durable rows, in order. */
  enqueue(rows: readonly OutboxRow[]): void;
  /**
   * Resumes what was found at start: the open rows, and the number of rows in each state. They are
   * queued at once, before any row of this process; nothing is sent before `repaired`. Resolves when
   * those found in `sending` are marked.
   */
  recover(
    rows: readonly OutboxRow[],
    counts: Readonly<Partial<Record<OutboxState, number>>>,
    repaired: Promise<void>,
  ): Promise<void>;
  /** The text of a message that was sent lately; null: not known. */
  textOf(message: SentMessage): string | null;
  /** An account may send again. */
  wake(channel: string, account: string): void;
  /**
   * A turn is stopped: no attempt of what it has said begins any more. Returns the rows as they are to be
   * stored with the stop. `planned`: what is stored with it and not accepted yet.
   */
  stopping(turnId: string, why: string, planned: readonly OutboxRow[]): readonly OutboxRow[];
  /** The stop is stored: gives up what the turn has not sent yet. */
  discard(turnId: string, why: string): void;
  /** Sets the text that the message of a draft should show now. */
  draft(draft: TurnDraft): void;
  /** The turn is over. `broken`: its unsent drafts are not sent. */
  endTurn(turnId: string, broken: boolean): void;
  /**
   * For the operator: sends a row again, or gives it up; a dead row is marked as seen. False: its
   * state does not allow it.
   */
  resend(row: OutboxRow): Promise<boolean>;
  drop(row: OutboxRow): Promise<boolean>;
  counts(): Readonly<Record<string, number>>;
  /** Texts that are being sent or could be sent now. */
  active(): number;
  /** Begins to send nothing more; what is being sent comes to its end. */
  hold(): void;
  /** Holds, and ends the calls that are under way. */
  stop(): void;
}
