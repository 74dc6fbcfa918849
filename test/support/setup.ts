/**
 * Random runs of the suite: a fixed seed in CI, a new one elsewhere, printed by fast-check with
 * path and replayPath when a property fails. EARSHOT_SEED and EARSHOT_RUNS override.
 */
import fc from "fast-check";
import { inject } from "vitest";
import { endContexts } from "./contexts.ts";
import { rounds } from "./rounds.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** null: a new one for each property. */
    readonly propertySeed: number | null;
  }
}

const seed = inject("propertySeed");
/** Of a property that does not say itself how often it is played. */
const numRuns = rounds(25, 100);
fc.configureGlobal({
  ...(seed === null ? {} : { seed }),
  numRuns,
  verbose: 1,
});

// Where it is set, what goes to a pipe is coloured as if it went to a terminal.
delete process.env.CI;

// Those of the files before.
endContexts();
