/**
 * Calls of the Web API with a time limit, and answers that have been checked. One per account; nothing
 * else but the socket knows a token. The library is loaded with the first call.
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { deadline } from "../../http/deadline.ts";
import { loadPackage } from "../shared/optional-package.ts";
import type { SlackApi } from "./api.ts";
import type { SlackAccountConfig } from "./config.ts";
import type { CallKind } from "./refusals.ts";

export interface CallOptions {
  readonly kind: CallKind;
  readonly signal: AbortSignal;
  /** @default 10 s */
  readonly msMax?: number;
}

export interface SlackClient {
  /**
   * One call of the Web API, its answer read by `schema`.
   * @throws EarshotError with the disposition that fits the call's kind
   */
  call<Answer>(
    method: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
    schema: z.ZodType<Answer>,
  ): Promise<Answer>;
}

const callMsMax = 10_000;

export function createSlackClient(config: SlackAccountConfig): SlackClient {
  const library = { platform: "Slack", name: "@slack/web-api", version: "^8.2.0" };
  let opening: Promise<SlackApi> | undefined;
  const open = () =>
    loadPackage(library, async () => (await import("./api.ts")).openSlackApi(config));
  return {
    async call(method, args, { kind, signal, msMax = callMsMax }, schema) {
      if (signal.aborted)
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${method} at Slack: the call was cancelled`,
        );
      opening ??= open();
      const api = await opening;
      const limit = deadline(signal, msMax);
      try {
        const answer = await api.call(method, args, { kind, signal: limit.signal });
        const read = schema.safeParse(answer);
        if (read.success) return read.data;
        throw new EarshotError(
          kind === "send" ? "EAR_SEND_IN_DOUBT" : "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${method} at Slack: the answer has an unexpected form ` +
            `(${read.error.issues[0]?.path.join(".") ?? ""})`,
        );
      } finally {
        limit.done();
      }
    },
  };
}
