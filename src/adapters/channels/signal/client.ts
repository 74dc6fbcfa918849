/**
 * JSON-RPC over HTTP: `POST /api/v1/rpc` of signal-cli-jsonrpc(5), with a time limit, a bounded answer
 * and an answer that was checked. One client per account.
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { deadline } from "../../http/deadline.ts";
import type { SignalAccountConfig } from "./config.ts";
import { brokenCall, type CallKind, rpcError, statusError } from "./errors.ts";
import { bodyOf, exchange } from "./http.ts";
import { answerSchema } from "./wire.ts";

export interface CallOptions {
  readonly kind: CallKind;
  readonly signal: AbortSignal;
  /** ms. @default 10 s */
  readonly msMax?: number;
  /** @default limits.platformAnswerBytesMax */
  readonly bytesMax?: number;
}

export interface SignalClient {
  /**
   * Calls a method of signal-cli for the account.
   * @throws EarshotError with the disposition that fits the call's kind
   */
  call<Answer>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: CallOptions,
    schema: z.ZodType<Answer>,
  ): Promise<Answer>;
}

const callMsMax = 10_000;

export function createSignalClient(config: SignalAccountConfig): SignalClient {
  let count = 0;
  return {
    async call(method, params, { kind, signal, msMax = callMsMax, bytesMax }, schema) {
      if (signal.aborted)
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${method} at signal-cli: the call was cancelled`,
        );
      count += 1;
      // A daemon for one account ignores which one is named; one for several needs it.
      const request = {
        jsonrpc: "2.0",
        method,
        params: { account: config.account, ...params },
        id: String(count),
      };
      const limit = deadline(signal, msMax);
      try {
        const answer = await exchange(config, {
          path: "api/v1/rpc",
          body: JSON.stringify(request),
          signal: limit.signal,
        });
        const { statusCode: status = 0, headers } = answer;
        if (status !== 200) {
          answer.destroy();
          throw statusError(status, headers["retry-after"], method, kind);
        }
        const body = await bodyOf(answer, bytesMax ?? limits.platformAnswerBytesMax);
        const { result, error } = answerSchema.parse(JSON.parse(body));
        if (error != null)
          throw rpcError(error.code, error.data?.response?.results ?? [], method, kind);
        return schema.parse(result);
      } catch (error) {
        throw brokenCall(error, method, kind);
      } finally {
        limit.done();
      }
    },
  };
}
