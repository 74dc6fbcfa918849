/**
 * A loop that never comes back to the event loop, as a real one does not, but sleeps on the way: what is claimed
 * of it is that it is found and ended, and a second of a whole core each time says no more about that.
 */
export function neverReturn(): never {
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(still, 0, 0, 5);
}
