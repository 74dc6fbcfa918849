/**
 * The waits of tests end by what they wait for. What never comes ends them after so many looks, not after
 * so much time: a process that gets no processor looks as seldom as it works, so the same work has
 * as many looks on a busy machine as on an idle one.
 */

const lookMs = 20;
/** A minute on an idle machine. */
const looksMax = 3_000;

/**
 * Resolves to what `find` finds, now or later; undefined: not there yet. It looks every 20 ms, and when
 * `watch`, which returns how to end that, calls.
 * @throws "not in time" with what `what` says then.
 */
export function lookUntil<Found>(
  find: () => Found | undefined,
  what: () => string,
  watch: (look: () => void) => () => unknown = () => () => undefined,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    let left = looksMax;
    const look = () => {
      let found: Found | undefined;
      try {
        found = find();
      } catch (error) {
        end(() => reject(error));
        return;
      }
      if (found !== undefined) end(() => resolve(found as Found));
    };
    const looking = setInterval(() => {
      left -= 1;
      look();
      if (left === 0) end(() => reject(new Error(`not in time: ${what()}`)));
    }, lookMs);
    const unwatch = watch(look);
    const end = (settle: () => void) => {
      clearInterval(looking);
      unwatch();
      settle();
    };
    look();
  });
}

/** The same for what is so, or not yet. */
export const lookUntilTrue = async (
  isSo: () => boolean,
  what: () => string,
  watch?: (look: () => void) => () => unknown,
): Promise<void> => {
  await lookUntil(() => isSo() || undefined, what, watch);
};
