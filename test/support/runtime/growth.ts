/**
 * How work grows with input, on a machine that is busy with other things: processor time of this
 * process, the best of several runs of a size and of sixteen times that size. Linear work comes out
 * near 16, quadratic work near 256.
 */

/** Largest growth that still counts as linear; leaves room for collecting garbage. */
export const linearMax = 120;

/**
 * Processor time of `run(size * 16)` over that of `run(size)`, which is the best of five. The larger size runs up to
 * twenty times, until once it is short enough: what others do at the same time only makes it longer.
 */
export function growthOver16(run: (size: number) => void, size: number): number {
  run(size);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) least = Math.min(least, took(run, size));
  const once = Math.max(100, least);
  let most = took(run, size * 16);
  for (let round = 1; round < 20 && most / once >= linearMax; round += 1)
    most = Math.min(most, took(run, size * 16));
  return most / once;
}

/** Microseconds. */
function took(run: (size: number) => void, size: number): number {
  const before = process.cpuUsage();
  run(size);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
