/**
 * Looking into conversations
 * ==========================
 * What a host tells of the conversations somebody looks into: which there are, which events reach
 * them, and how they stand afterwards. A host makes text of it where it happens, once, and only for
 * what was asked for; what a reader gets on the wire is an inspector's business (adapters/inspectors).
 */

/** What one reader asked for. */
export interface InspectRequest {
  /** Names the reader. */
  readonly id: number;
  /** One conversation; null: all that are live, up to `limits.inspectActorsMax` a host. */
  readonly conv: number | null;
  /** With the words of people and agents. */
  readonly withText: boolean;
}

/** Something that happened to one actor, for these readers. Fields named `…Json` are JSON. */
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

/** Frames with the incarnation of the host that they come from. */
export interface InspectReport {
  readonly host: number;
  readonly epoch: number;
  readonly frames: readonly InspectFrame[];
}
