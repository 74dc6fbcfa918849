/** What the virtual objects of conversations have in common: the check of their calls, and calls between them. */
import type { ObjectContext, Serde } from "@restatedev/restate-sdk";
import type { ZodType } from "zod";
import { parseSessionKey } from "../../domain/key.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import { parsed, refusal, type Sdk } from "./calls/handlers.ts";
import { conversationService } from "./wire.ts";

/** Reads a call for a conversation. @throws TerminalError: its form or its key is wrong. */
export function readCall<Output>(
  sdk: Sdk,
  key: string,
  schema: ZodType<Output>,
  input: unknown,
): Output {
  try {
    parseSessionKey(key);
  } catch (error) {
    throw refusal(sdk, (error as Error).message);
  }
  return parsed(sdk, schema, input);
}

/**
 * Finished calls are of no use to anyone: what they did is in the conversation. A call that no node answers is made
 * until one does: after 70 attempts, 6 minutes, Restate would leave the conversation until somebody resumes it.
 */
export const options = {
  retryPolicy: {
    initialInterval: 50,
    exponentiationFactor: 2,
    maxInterval: 5_000,
    maxAttempts: engineLimits.attemptsMax,
  },
  journalRetention: 0,
  // Restate gives a key to each call from outside, and would keep its answer for a day.
  idempotencyRetention: 0,
} as const;

export const jsonOf = (sdk: Sdk) => sdk.serde.json as Serde<unknown>;

export const callConversation = (sdk: Sdk, ctx: ObjectContext, key: string, delay = 0) =>
  ctx.genericSend({
    service: conversationService,
    method: "run",
    key,
    parameter: null,
    inputSerde: jsonOf(sdk),
    ...(delay > 0 ? { delay } : {}),
  });
