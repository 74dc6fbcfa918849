/**
 * A recording contains what an operator did to a conversation. A simulation does it at the same
 * moment; if it does not apply, for example under another config, nothing happens.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Log } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { Runtime } from "../protocol/runtime.ts";

export type Operated = Extract<ScenarioLine, { operator: unknown }>["operator"];

/** Does it; its consequences may not be complete yet. */
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
