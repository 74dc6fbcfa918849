/**
 * How work grows with input, on a machine that is busy with other things: processor time of this
 * process, the best of several runs of a size and of sixteen times that size. Linear work comes out
 * near 16, quadratic work near 256.
 */

/** Largest growth that still counts as linear; leaves room for collecting garbage. */
export const linearMax = 120;

/** Processor time of `run(size * 16)` over that of `run(size)`, best of five each. */
export function growthOver16(run: (size: number) => void, size: number): number {
  run(size);
  return (
    best(() => run(size * 16)) /
    Math.max(
      100,
      best(() => run(size)),
    )
  );
}

/** Microseconds. */
function best(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}
