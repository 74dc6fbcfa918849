/**
 * Flags of V8 for programs of tests that are started, worked hard for seconds and killed. A part of their processor
 * time is V8's own, for garbage and for compiling what is called a few hundred times: a ninth less with these, as in
 * the workers of vitest.config.ts. A daemon that a test starts has none of them: it starts as its users start it.
 */
export const childFlags: readonly string[] = [
  "--min-semi-space-size=16",
  "--max-semi-space-size=32",
  // Later ones have Maglev.
  ...(process.versions.node.startsWith("20.") ? ["--interrupt-budget=500000"] : []),
];
