// Mistakes that the campaign has to find: each replaces one line of the sources while they are bundled,
// and breaks a promise that the line keeps. A line that the sources do not have any more is an error, so
// this list follows them.

/** `line` is in `file` exactly once. */
export const mistakes = [
  {
    name: "drop-a-commit",
    what: "consequences of applied events are not stored, and are said to be",
    file: "src/actors/journal/journal.ts",
    line: "if (writes.length > 0) await submit([], writes, true);",
    instead: "if (writes.length > 3) await submit([], writes, true);",
  },
];
