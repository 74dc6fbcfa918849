/** Calls the virtual object `leases` through Restate's ingress. */
import { EarshotError } from "../../../domain/errors.ts";
import { leaseKey, leaseService } from "./wire.ts";

/**
 * Resolves to what the handler answers.
 * @throws EarshotError EAR_STORE_FAILED: no answer, or none in time; the call may happen all the same.
 */
export type LeaseCall = (
  handler: "beat" | "wait",
  input: object,
  signal: AbortSignal,
) => Promise<unknown>;

/** @param ingress base URL of Restate's ingress */
export function leaseCaller(ingress: string): LeaseCall {
  return async (handler, input, signal) => {
    const url = `${ingress}/${leaseService}/${leaseKey}/${handler}`;
    const failed = (why: string, cause?: unknown) =>
      new EarshotError("EAR_STORE_FAILED", `Cannot renew leases at ${url}: ${why}.`, { cause });
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(input),
        signal,
      });
      text = await answer.text();
    } catch (cause) {
      throw failed(signal.aborted ? "no answer in time" : "there is no connection", cause);
    }
    if (!answer.ok) throw failed(`Restate answers ${answer.status} (${text.slice(0, 200)})`);
    return JSON.parse(text);
  };
}
