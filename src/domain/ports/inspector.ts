/**
 * What a host reports of inspected conversations: which exist, which events reach them, and their
 * state afterwards. The host serialises it once, and only what was requested; the format on the
 * wire is the inspector's concern (adapters/inspectors).
 */

/** What one reader wants to see. */
export interface InspectRequest {
  /** Identifies the reader. */
  readonly id: number;
  /** One conversation; null: all live ones, up to `limits.inspectActorsMax` a host. */
  readonly conv: number | null;
  /** Include the text of people and agents. */
  readonly withText: boolean;
}

/** One change of one actor. Fields named `…Json` are JSON. */
export type InspectFrame =
  | {
      readonly kind: "actor";
      readonly readers: readonly number[];
      /** The actor's id within its thread. */
      readonly actor: string;
      /** Session key. */
      readonly key: string;
      readonly snapshotJson: string;
    }
  | {
      readonly kind: "event";
      readonly readers: readonly number[];
      readonly actor: string;
      readonly eventJson: string;
    }
  | {
      readonly kind: "snapshot";
      readonly readers: readonly number[];
      readonly actor: string;
      readonly eventJson: string;
      readonly snapshotJson: string;
    };

/** Frames of conversations, and the host instance they come from. */
export interface InspectReport {
  readonly host: number;
  readonly epoch: number;
  readonly frames: readonly InspectFrame[];
}

/** Machines beside the conversations; they live on the main thread. */
export type SideMachine = "delivery" | "host" | "connection";

/** Frames of other machines. */
export interface SideReport {
  readonly machine: SideMachine;
  readonly frames: readonly InspectFrame[];
}

/** A machine beside the conversations has made a step. */
export interface SideStep {
  readonly machine: SideMachine;
  /** Distinguishes it from others of its kind: an outbox id, a host's number, channel and account. */
  readonly id: string;
  /** The conversation it works for; null: none. */
  readonly conv: number | null;
  readonly event: string;
  readonly value: string;
  readonly context: Readonly<Record<string, number>>;
  /** Why, in words. */
  readonly detail: string | null;
  /** Nothing more will happen to it. */
  readonly ended: boolean;
}
