/** One parser under fuzzing: its good inputs, how it reads, and what it may answer to a bad one. */
import type { Frames } from "./mutate.ts";

export interface Seed {
  readonly name: string;
  readonly frames: Frames;
}

export type Log = (
  level: string,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export interface Target {
  /** The name on the command line and of its folder in test/fuzz/finds. */
  readonly name: string;
  /** What the test says: what is read, and how it is refused. */
  readonly claim: string;
  /** Good inputs: each is read without an error. */
  readonly seeds: readonly Seed[];
  /**
   * Reads one input and returns what came of it.
   * @throws only what `refuses` knows
   */
  read(frames: Frames, log: Log): unknown;
  /** Whether this is the error that the parser declares for what it cannot read. */
  refuses(error: unknown): boolean;
  /** Ends what reading has started. */
  close?(): Promise<void>;
  /** What no refusal may hold. @default `canary` */
  secretsOf?(frames: Frames): readonly string[];
  /** Units that may come of an input beyond 32 for each of its bytes. @default 65536 */
  readonly unitsMax?: number;
}

/** In the secrets of every seed: what a message, a log line or a refusal never holds. */
export const canary = "canary-7b1e9f";

export const frames = (...texts: readonly string[]): Frames =>
  texts.map((text) => Buffer.from(text));

/** A frame for each value, as JSON. */
export const jsonFrames = (...values: readonly unknown[]): Frames =>
  frames(...values.map((value) => JSON.stringify(value)));

/** A value of each frame that is JSON. */
export const jsonIn = (lines: Frames): readonly unknown[] =>
  lines.flatMap((line) => {
    try {
      return [JSON.parse(line.toString("utf8"))];
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      return [];
    }
  });

/** Of a parser that refuses nothing: what it cannot read is passed over. */
export const refusesNothing = (): boolean => false;
