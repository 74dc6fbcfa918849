/**
 * Waiting, except for a failing store
 * ===================================
 * A store or a transcript that cannot be written is tried again after a while. A caller that waits
 * until everything is settled must not wait for that: it may take until somebody frees disk space.
 */

/** Something that may fail for a while. */
export interface Failing {
  failing(): unknown;
  /**
   * Calls back once, as soon as it fails (immediately if it does). Returns a function that cancels.
   */
  onceFailing(call: () => void): () => void;
}

/** Resolves with the work, or as soon as one of stores fails. */
export async function unlessStoreFails(
  stores: readonly Failing[],
  work: Promise<void>,
): Promise<void> {
  const cancels: (() => void)[] = [];
  const failing = new Promise<void>((resolve) => {
    for (const one of stores) cancels.push(one.onceFailing(resolve));
  });
  try {
    await Promise.race([work, failing]);
  } finally {
    for (const callOff of cancels) callOff();
  }
}

/** Whether one of stores fails now. */
export const isFailing = (stores: readonly Failing[]) =>
  stores.some((one) => one.failing() !== null);
