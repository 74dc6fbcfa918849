/**
 * How work grows with input, on a machine that is busy with other things: processor time of this
 * process, the best of several runs of a size and of sixteen times that size. Linear work comes out
 * near 16, quadratic work near 256.
 */

/** Largest growth that still counts as linear; leaves room for collecting garbage. */
export const linearMax = 120;

/** Shorter work is not measured: a kernel may count processor time in ticks. */
const leastMicros = 10_000;

/**
 * Processor time of `run(size * 16)` over that of `run(size)`: sixteen runs of the one size beside one of the other,
 * each as often as it takes to be measured. Both run up to twenty times, until the best of them are near enough: what
 * others do at the same time only makes them longer.
 */
export function growthOver16(run: (size: number) => void, size: number): number {
  // The first runs are slower than all others.
  took(run, size, 16);
  let times = 1;
  let small = took(run, size, 16);
  while (small < leastMicros) {
    times *= 2;
    small = took(run, size, 16 * times);
  }
  let large = took(run, size * 16, times);
  const growth = () => (16 * large) / small;
  for (let round = 1; round < 20 && (round < 3 || growth() >= linearMax); round += 1) {
    small = Math.min(small, Math.max(leastMicros, took(run, size, 16 * times)));
    large = Math.min(large, took(run, size * 16, times));
  }
  return growth();
}

/** Microseconds for so many runs. */
function took(run: (size: number) => void, size: number, times: number): number {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) run(size);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
