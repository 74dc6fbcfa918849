/**
 * How time grows with input, on a machine that is busy with other things: the best of several runs of a
 * size and of sixteen times that size. Linear work comes out near 16, quadratic work near 256.
 */

/** Largest growth that still counts as linear; leaves room for a noisy neighbour. */
export const linearMax = 64;

/** Time of `run(size * 16)` over time of `run(size)`, best of five each. */
export function growthOver16(run: (size: number) => void, size: number): number {
  run(size);
  return (
    best(() => run(size * 16)) /
    Math.max(
      0.05,
      best(() => run(size)),
    )
  );
}

function best(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const from = performance.now();
    run();
    least = Math.min(least, performance.now() - from);
  }
  return least;
}
