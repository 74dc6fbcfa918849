/**
 * Runs seeds in a process of `npm run sim`: it is asked for one, and answers with what was wrong.
 */
import { violations } from "./checks.ts";
import { hashOf } from "./history.ts";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { checkOf, shrink, violationsOf } from "./shrink.ts";

/** Each of these seeds is run twice, and has to give the same history. */
const twiceEvery = 20;

type Order = { readonly seed: number } | { readonly shrink: number };

async function run(seed: number) {
  const startedAt = performance.now();
  const plan = planOf(seed);
  const found: string[] = [];
  let hash = "";
  let entries = 0;
  try {
    const history = await runPlan(plan);
    hash = hashOf(history);
    entries = history.entries.length;
    found.push(...violations(history));
    const again = seed % twiceEvery === 0 ? hashOf(await runPlan(plan)) : hash;
    if (again !== hash) found.push(`same seed: the history is ${hash}, and then ${again}`);
  } catch (error) {
    found.push(`crash: ${error instanceof Error ? error.message : String(error)}`);
  }
  const ms = Math.round(performance.now() - startedAt);
  return { seed, hash, entries, ms, violations: found };
}

/** The shortest plan that breaks what the seed breaks first. */
async function shorten(seed: number) {
  const plan = planOf(seed);
  const [first = ""] = await violationsOf(plan);
  let runs = 0;
  const steps = await shrink(plan.steps, async (rest) => {
    runs += 1;
    const found = await violationsOf({ ...plan, steps: rest });
    return found.some((one) => checkOf(one) === checkOf(first));
  });
  const found = await violationsOf({ ...plan, steps });
  return { shrunk: seed, runs, of: plan.steps.length, steps, violations: found };
}

async function answer(order: Order): Promise<void> {
  process.send?.(await ("shrink" in order ? shorten(order.shrink) : run(order.seed)));
}

process.on("message", (order: Order) => void answer(order));
