/**
 * The daemon's health, as its page sees it
 * ========================================
 * Whole each time it is told: what needs a person first, then how everything is.
 */
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import type { HostStatus } from "../../actors/protocol/runtime.ts";
import type { Millis } from "../../domain/message.ts";

/** Something that waits for a person. */
export type Need =
  /** A part of an answer that may not have arrived, or will not be sent. */
  | {
      readonly kind: "delivery";
      readonly id: string;
      readonly state: "in-doubt" | "dead";
      readonly key: string;
      /** The room, for people. */
      readonly room: string;
      readonly at: Millis;
      readonly text: string;
      readonly error: string | null;
    }
  /** An account that does not connect any more. */
  | {
      readonly kind: "connection";
      readonly channel: string;
      readonly name: string;
      readonly account: string;
      readonly since: Millis;
      readonly detail: string | null;
    }
  /** An event that was set aside because it killed its host or broke its conversation. */
  | {
      readonly kind: "quarantine";
      readonly key: string;
      readonly room: string;
      readonly seq: number;
      readonly at: Millis;
      readonly error: string;
      /** How often it had been tried again. */
      readonly tries: number;
    }
  /** Messages cannot be taken, or not as they should. */
  | { readonly kind: "daemon"; readonly problem: string };

export interface HealthConnection extends ConnectionStatus {
  /** What people call the channel. */
  readonly name: string;
  /** When it last brought a message; 0: not since the start. */
  readonly heardAt: Millis;
}

export interface HealthLane {
  readonly agent: string;
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly slots: number;
}

export interface Health {
  /** The daemon's clock. */
  readonly now: Millis;
  readonly version: string;
  readonly startedAt: Millis;
  readonly needs: readonly Need[];
  /** Needs beyond those that are listed. */
  readonly more: number;
  readonly connections: readonly HealthConnection[];
  /** Empty: conversations live on the main thread. */
  readonly hosts: readonly HostStatus[];
  readonly lanes: readonly HealthLane[];
  readonly store: {
    readonly failing: boolean;
    /** Null: nothing is kept on disk. */
    readonly bytes: number | null;
    readonly logBytes: number | null;
    readonly commitMsP99: Millis | null;
    readonly rowsPerCommit: number | null;
    readonly events: number;
  };
  readonly outbox: Readonly<Record<string, number>>;
  /** Messages that came again since the start. */
  readonly doubles: number;
}
