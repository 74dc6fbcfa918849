/**
 * The shortest list of steps that still breaks the same promise: parts of it are left out, large ones
 * first, as long as the rest breaks it (Zeller's delta debugging).
 */
import { violations } from "./checks.ts";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";

/** What a violation is about: the name of its check. */
export const checkOf = (violation: string): string => violation.split(":")[0] ?? "";

/** Leaves out what is not needed; no single item of what is left can be left out as well. */
export async function shrink<Item>(
  items: readonly Item[],
  isBroken: (rest: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let left = items;
  for (let size = Math.ceil(left.length / 2); size >= 1; ) {
    const before = left.length;
    for (let from = 0; from < left.length; ) {
      const rest = [...left.slice(0, from), ...left.slice(from + size)];
      if (await isBroken(rest)) left = rest;
      else from += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (left.length === before) break;
  }
  return left;
}

/** What is wrong with a plan's history; a run that throws is wrong, too. */
export async function violationsOf(plan: Plan): Promise<readonly string[]> {
  try {
    return violations(await runPlan(plan));
  } catch (error) {
    return [`crash: ${error instanceof Error ? error.message : String(error)}`];
  }
}
