// Mistakes that the campaign has to find: each replaces a piece of the sources while they are bundled, and
// breaks the promise that this piece keeps. A piece that the sources do not have any more is an error, so
// this list follows them.

/** `line` is in `file` exactly once. */
export const mistakes = [
  {
    name: "drop-a-commit",
    what: "small commits of consequences are not made, and said to be",
    file: "src/actors/journal/journal.ts",
    line: "if (writes.length > 0) await submit([], writes, true, until);",
    instead: "if (writes.length > 3) await submit([], writes, true, until);",
  },
  {
    name: "acknowledge-before-the-commit",
    what: "a platform is acknowledged before its messages are durable",
    file: "src/actors/ingress/ingress.ts",
    line: "await journal.offer(events, writes);",
    instead: "(journal.offer(events, writes).catch(() => undefined), events.map(() => 1));",
  },
  {
    name: "a-lost-answer-is-a-lost-commit",
    what: "a commit that was made and then failed is taken for not made",
    file: "src/actors/journal/journal.ts",
    line: "if (answers === null) throw error;",
    instead: "throw error;",
  },
  {
    name: "nothing-waits-for-the-disk",
    what: "what leaves the process does not wait until the store has synced",
    file: "src/actors/journal/journal.ts",
    line: 'const isPending = ({ until }: Job) => until === "durable" && !store.syncsItself;',
    instead: "const isPending = (_: Job) => false;",
  },
  {
    name: "send-before-the-mark",
    what: "a message is sent before its row is marked as being sent",
    file: "src/actors/outbox/outbox.ts",
    line: 'if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row: sending }]);',
    instead: "",
  },
  {
    name: "forget-deadlines-at-a-start",
    what: "deadlines that are stored are not armed by the next process",
    file: "src/actors/runtime/runtime.ts",
    line: "for (const deadline of deadlines) timers.set(deadline);",
    instead: "",
  },
  {
    name: "deadlines-are-early",
    what: "a deadline falls due a quarter of a second before its time",
    file: "src/actors/journal/deadlines.ts",
    line: "const timer = clock.setTimer(at, () => {\n        forget(conv, id);\n        fire(deadline, Math.max(clock.now(), at));",
    instead:
      "const timer = clock.setTimer(at - 250, () => {\n        forget(conv, id);\n        fire(deadline, clock.now());",
  },
  {
    name: "turns-of-a-dead-process-are-forgotten",
    what: "a turn that ran when the process died is not tried again",
    file: "src/actors/journal/recovery.ts",
    line: "if (events.length > 0) await journal.append(events);",
    instead: "",
  },
  {
    name: "unapplied-events-are-forgotten",
    what: "events that were stored and not applied are not found by the next process",
    file: "src/actors/runtime/runtime.ts",
    line: "startGate.open(unapplied);",
    instead: "startGate.open([]);",
  },
  {
    name: "a-lost-host-takes-its-events-along",
    what: "events on their way to a host that dies are not given to the next one",
    file: "src/actors/supervisor/host-dispatcher.ts",
    line: "this.#mailbox.putBack(this.#ports.poison.allowed(lost));",
    instead: "",
  },
  {
    name: "copies-are-not-recognised",
    what: "the journal stores a message again that it has",
    file: "src/adapters/stores/sqlite-writer.ts",
    line: "if (stored.identity === identity) return 0;",
    instead: "",
  },
  {
    name: "two-writers",
    what: "the store accepts a record of an older epoch",
    file: "src/adapters/stores/sqlite-schema.ts",
    line: '"WHERE conv = ?4 AND epoch <= ?3 AND record_seq <= ?2"',
    instead: '"WHERE conv = ?4 AND record_seq <= ?2"',
  },
  {
    name: "doubts-are-sent-again-and-again",
    what: "a send without an answer is repeated more than once",
    file: "src/actors/outbox/doubts.ts",
    line: "row.doubts > 1",
    instead: "row.doubts > 9",
  },
  {
    name: "typing-goes-on",
    what: "typing is shown until its time limit, also after the answer",
    file: "src/actors/effects/effect-executor.ts",
    line: "else ports.typing.off(conv, effect.route);",
    instead: "",
  },
  {
    name: "marks-stay",
    what: "the mark of a message that is being answered is not taken off when it was",
    file: "src/machines/conversation/queue-actions.ts",
    line: "if (ack !== null) effects.push(",
    instead: "if (ack !== null && messages.length > 1) effects.push(",
  },
  {
    name: "slots-are-kept",
    what: "the slot of a turn is not given back when its host was lost",
    file: "src/actors/effects/effect-executor.ts",
    line: "ports.slots.release(conv);",
    instead: "if (step.effects.length > 2) ports.slots.release(conv);",
  },
];
