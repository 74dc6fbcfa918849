/**
 * Nesting of values from outside
 * ==============================
 * JSON may nest as deep as a text is long, and what reads or writes such a value again by recursion
 * runs out of stack. So a value that is handed on with parts of any form is measured first.
 */

/** Nothing that earshot passes on needs more. */
const depthMax = 100;

/** Whether lists and objects are nested deeper than anything sensible is. Without recursion. */
export function isNestedTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true;
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? Object.values(one).filter(isContainer) : [],
    );
  }
  return false;
}

const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;
