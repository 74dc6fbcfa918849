/** Calls of handlers through Restate's ingress. */

import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";

/**
 * Makes a call; `path`: object, key and handler, the key encoded.
 * @throws EarshotError EAR_STORE_FAILED: there is no answer, or none in time; the call may happen all the same.
 */
export type IngressCall = (path: string, input?: object) => Promise<unknown>;

/**
 * @param ingress base URL
 * @param msMax how long a call may take, ms
 */
export function ingressCaller(
  ingress: string,
  msMax: number = engineLimits.callMsMax,
): IngressCall {
  return async (path, input) => {
    const url = `${ingress}/${path}`;
    const failed = (why: string, cause?: unknown) =>
      new EarshotError("EAR_STORE_FAILED", `Cannot reach ${url}: ${why}.`, { cause });
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url, {
        method: "POST",
        ...(input === undefined
          ? {}
          : { headers: { "content-type": "application/json" }, body: JSON.stringify(input) }),
        signal: AbortSignal.timeout(msMax),
      });
      text = await answer.text();
    } catch (cause) {
      const isLate = (cause as Error).name === "TimeoutError";
      const why = isLate
        ? `no answer in ${msMax} ms`
        : "there is no connection (is Restate running?)";
      throw failed(why, cause);
    }
    if (!answer.ok) throw failed(`Restate answers ${answer.status} (${text.slice(0, 200)})`);
    return JSON.parse(text);
  };
}
