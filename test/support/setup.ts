/**
 * Random runs of the suite: a fixed seed in CI, a new one elsewhere, printed by fast-check with
 * path and replayPath when a property fails. EARSHOT_SEED and EARSHOT_RUNS override.
 */
import fc from "fast-check";

const seed = process.env.EARSHOT_SEED ?? (process.env.CI === undefined ? undefined : "20261121");
fc.configureGlobal({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(process.env.EARSHOT_RUNS === undefined ? {} : { numRuns: Number(process.env.EARSHOT_RUNS) }),
  verbose: 1,
});

// Where it is set, what goes to a pipe is coloured as if it went to a terminal.
delete process.env.CI;
