/** Random inputs for one target, and the least of each kind that breaks it. */
import fc from "fast-check";
import { drawProblem, goodProblem, inputOf, type Problem } from "./check.ts";
import { anyDraw, type Draw, type Frames } from "./mutate.ts";
import type { Target } from "./target.ts";

interface Found extends Problem {
  readonly frames: Frames;
  /** How many other inputs broke it so. */
  readonly alike: number;
}

/**
 * Reads `runs` random inputs. What is found is minimised; inputs that then break in a way already
 * found are only counted.
 */
export async function hunt(target: Target, runs: number, seed: number): Promise<readonly Found[]> {
  for (const one of target.seeds) {
    const problem = await goodProblem(target, one);
    if (problem !== null) throw new Error(`${target.name}: ${problem.why}: ${problem.detail}`);
  }
  const found = new Map<string, Found>();
  let left = runs;
  for (let round = 0; left > 0; round += 1) {
    let [why, read]: [string | null, number] = [null, 0];
    const breaks = async (draw: Draw) => {
      read += 1;
      const problem = await drawProblem(target, draw);
      if (problem === null) return true;
      // While it is made smaller only the same cause counts.
      if (why !== null) return problem.why !== why;
      const known = found.get(problem.why);
      if (known === undefined) why = problem.why;
      else found.set(problem.why, { ...known, alike: known.alike + 1 });
      return known !== undefined;
    };
    const { counterexample } = await fc.check(fc.asyncProperty(anyDraw, breaks), {
      numRuns: left,
      seed: seed + round,
    });
    left -= read;
    const [draw] = counterexample ?? [];
    if (draw === undefined) break;
    const problem = await drawProblem(target, draw);
    if (problem !== null)
      found.set(problem.why, { ...problem, frames: inputOf(target, draw), alike: 0 });
  }
  return [...found.values()];
}
