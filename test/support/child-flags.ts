/**
 * Flags of V8 for programs of tests that are started, worked hard for seconds and killed. A part of their processor
 * time is V8's own, for garbage and for compiling what is called a few hundred times: a ninth less with these, as in
 * the workers of vitest.config.ts. Daemons whose lives a test counts have them as well; as its users start it, one
 * starts in daemon/process.test.ts and wherever a test looks at a start, an end or memory.
 */
export const childFlags: readonly string[] = [
  "--min-semi-space-size=16",
  "--max-semi-space-size=32",
  // Later ones have Maglev.
  ...(process.versions.node.startsWith("20.") ? ["--interrupt-budget=500000"] : []),
];
