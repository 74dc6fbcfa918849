/** Says on a terminal what is still being checked, on one line that vanishes at the end. */

import { terminalSafe } from "../../../domain/sanitize.ts";
import type { CheckStep } from "../../checks/live/everything.ts";
import type { CheckResult } from "../../checks/live/live-checks.ts";

const clearLine = "\r\x1b[K";

/** Collects the results of checks. `end` clears the line. */
export function collectChecks(screen: NodeJS.WriteStream = process.stderr) {
  const results: CheckResult[] = [];
  const running = new Set<string>();
  const draw = () => {
    if (!screen.isTTY) return;
    const [first] = running;
    const more = running.size > 1 ? ` and ${running.size - 1} more` : "";
    const line = first === undefined ? "" : `trying ${terminalSafe(first)}${more} …`;
    screen.write(`${clearLine}${line.slice(0, (screen.columns ?? 80) - 1)}`);
  };
  return {
    results,
    onStep(step: CheckStep): void {
      if (step.state === "running") running.add(step.check);
      else {
        running.delete(step.check);
        results.push(step);
      }
      draw();
    },
  };
}
