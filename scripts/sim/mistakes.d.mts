/** A mistake for the campaign to find; `scripts/sim/mistakes.mjs` has them. */
export interface Mistake {
  readonly name: string;
  readonly what: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly line: string;
  readonly instead: string;
}
export const mistakes: readonly Mistake[];
