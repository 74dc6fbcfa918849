/** Asks Restate with SQL, at its admin port, for what it knows of calls and state. */
import { EarshotError } from "../../../domain/errors.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";

/**
 * @param admin base URL of Restate's admin API
 * @param what is asked for, for the error
 * @throws EarshotError EAR_STORE_FAILED: the server cannot be reached, or refuses.
 */
export async function askAdmin(
  admin: string,
  query: string,
  what: string,
  signal?: AbortSignal,
): Promise<unknown> {
  const failed = (why: string, cause?: unknown) =>
    new EarshotError("EAR_STORE_FAILED", `Cannot ask ${admin}/query for ${what}: ${why}.`, {
      cause,
    });
  const own = AbortSignal.timeout(engineLimits.queryMsMax);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
      signal: signal === undefined ? own : AbortSignal.any([own, signal]),
    });
    text = await answer.text();
  } catch (cause) {
    throw failed("there is no answer (is Restate running?)", cause);
  }
  if (!answer.ok) throw failed(`Restate answers ${answer.status} (${text.slice(0, 200)})`);
  return JSON.parse(text);
}
