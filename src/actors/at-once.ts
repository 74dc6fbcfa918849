/**
 * At once
 * =======
 * After whoever runs now, and before anything else. As `queueMicrotask`, but by way of a promise,
 * which costs a third of it in Node.
 */
const now = Promise.resolve();

/** Calls it as soon as the stack is empty. It must not throw. */
export function atOnce(work: () => void): void {
  void now.then(work);
}
