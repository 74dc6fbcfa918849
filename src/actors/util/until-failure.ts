/**
 * Waiting, but not for a disk
 * ===========================
 * A store or a transcript that cannot be written is tried again after a while. Whoever waits for
 * everything to settle must not wait for that: it may take until somebody has made room.
 */

/** Something that may fail for a while. */
export interface Failing {
  failing(): unknown;
  /** Calls back once, as soon as it fails (at once if it does). The answer calls that off. */
  onceFailing(call: () => void): () => void;
}

/** Resolves with the work, or as soon as one of these fails. */
export async function unlessStoreFails(
  these: readonly Failing[],
  work: Promise<void>,
): Promise<void> {
  const callsOff: (() => void)[] = [];
  const failing = new Promise<void>((resolve) => {
    for (const one of these) callsOff.push(one.onceFailing(resolve));
  });
  try {
    await Promise.race([work, failing]);
  } finally {
    for (const callOff of callsOff) callOff();
  }
}

/** Whether one of these fails now. */
export const isFailing = (these: readonly Failing[]) => these.some((one) => one.failing() !== null);
