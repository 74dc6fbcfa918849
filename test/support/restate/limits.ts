/**
 * Limits of engines with other values, for a test that waits for them. Only for what a busy machine does not end sooner:
 * how long something has to fail until it is shown, but not how long an answer may take.
 */
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";

type Limits = Partial<Record<keyof typeof engineLimits, number>>;

/** Sets them. Returns what sets them back, to be called at the end of the test: other files run in the same process. */
export function setLimits(values: Limits): () => void {
  const before = { ...engineLimits };
  Object.assign(engineLimits, values);
  return () => void Object.assign(engineLimits, before);
}
