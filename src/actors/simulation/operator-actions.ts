/**
 * What an operator did, again
 * ===========================
 * A recording tells of what was done to a conversation by hand, not by a message. In a simulation it
 * is done at the same moment; where there is nothing to do it to, as under another config, nothing
 * happens.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Log } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { Runtime } from "../protocol/runtime.ts";

export type Operated = Extract<ScenarioLine, { operator: unknown }>["operator"];

/** Does it; what follows from it may still be under way. */
export async function operate(
  runtime: Pick<Runtime, "abortTurn" | "disengage" | "resetSession" | "updateSession">,
  { key, ...what }: Operated,
  log: Log,
): Promise<void> {
  try {
    if ("override" in what) await runtime.updateSession(key, { override: what.override });
    else if (what.does === "reset") await runtime.resetSession(key, { wait: false });
    else if (what.does === "disengage") await runtime.disengage(key);
    else await runtime.abortTurn(key, "operator");
  } catch (error) {
    if (!(error instanceof EarshotError) || error.code !== "EAR_USAGE") throw error;
    log("warn", "operator.nothing", { key, error: error.message });
  }
}
