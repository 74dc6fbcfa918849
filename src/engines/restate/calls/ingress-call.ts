/** Calls of handlers through Restate's ingress. */

import type { ZodType } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { oneLine } from "../../../domain/sanitize.ts";

/** Of what is quoted of an answer. */
const shownUnitsMax = 200;

export interface CallOptions {
  /** Ends the wait for the answer. @default it ends after the caller's own time */
  readonly signal?: AbortSignal;
  /** A call with the id of an earlier one is not made: it has the answer of that. */
  readonly onceId?: string;
}

/**
 * Makes a call and resolves to what the handler answers; null: nothing. `path`: object, key and handler, the key
 * encoded.
 * @throws RefusedCall: the handler, or Restate, answers that it does not do it.
 * @throws EarshotError EAR_STORE_FAILED: there is no answer, or none in time; the call may happen all the same.
 */
export type IngressCall = (path: string, input?: object, options?: CallOptions) => Promise<unknown>;

/** A call that was answered with an error: EAR_STORE_FAILED. */
export class RefusedCall extends EarshotError {
  readonly status: number;

  constructor(url: string, status: number, text: string) {
    super(
      "EAR_STORE_FAILED",
      `Cannot call ${url}: Restate answers ${status} (${oneLine(text, shownUnitsMax)}).`,
    );
    this.status = status;
  }
}

/** Of an answer that no handler of ours gives: something else listens there, or a part of it is missing. */
const unusable = (url: string, why: string, cause?: unknown) =>
  new EarshotError("EAR_STORE_FAILED", `Cannot use what ${url} answers: ${why}. Is it Restate?`, {
    cause,
  });

function valueIn(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable(url, `it is not JSON (${oneLine(text, shownUnitsMax)})`, cause);
  }
}

/** Reads what a handler answers. @throws EarshotError EAR_STORE_FAILED: it has another form. */
export function answerOf<Output>(schema: ZodType<Output>, answer: unknown, path: string): Output {
  const { data, success, error } = schema.safeParse(answer);
  if (success) return data;
  const at = error.issues[0]?.path.map(String).join(".") ?? "";
  throw unusable(path, `it has another form${at === "" ? "" : ` (${oneLine(at, shownUnitsMax)})`}`);
}

/**
 * @param ingress base URL
 * @param msMax how long a call without a signal may take, ms
 */
export function ingressCaller(
  ingress: string,
  msMax: number = engineLimits.callMsMax,
): IngressCall {
  return async (path, input, { signal, onceId } = {}) => {
    const url = `${ingress}/${path}`;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url, {
        method: "POST",
        headers: {
          ...(input !== undefined && { "content-type": "application/json" }),
          ...(onceId !== undefined && { "idempotency-key": onceId }),
        },
        ...(input !== undefined && { body: JSON.stringify(input) }),
        signal: signal ?? AbortSignal.timeout(msMax),
      });
      text = await answer.text();
    } catch (cause) {
      throw new EarshotError("EAR_STORE_FAILED", `Cannot reach ${url}: ${why(cause)}.`, { cause });
    }
    if (!answer.ok) throw new RefusedCall(url, answer.status, text);
    return text === "" ? null : valueIn(text, url);
  };

  function why(cause: unknown): string {
    const { name } = cause as Error;
    if (name === "TimeoutError") return `no answer in ${msMax} ms`;
    return name === "AbortError"
      ? "its answer was not waited for"
      : "there is no connection (is Restate running?)";
  }
}
