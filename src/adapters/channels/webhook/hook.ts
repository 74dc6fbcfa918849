/**
 * The webhook channel's hook
 * ==========================
 * Messages posted by a program that holds the account's secret: signed over time and bytes
 * (docs/channels/webhook.md). The secret proves the program, not the people it tells of: their
 * messages are those of strangers until the config lets them speak.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Inbound, inboundSchema } from "../../../domain/message.ts";
import type { ChannelContext, ChannelHook } from "../../../domain/ports/index.ts";
import { readHookBody } from "../../http/hook-body.ts";
import { readSignature, type SignedHeaders, signsBody, signsDigest } from "../../http/signature.ts";

export interface WebhookHookConfig {
  readonly secret: string;
  readonly windowSeconds: number;
}

export const webhookHookSchema = z
  .strictObject({
    secret: z
      .string()
      .min(16)
      .max(1_024)
      .meta({ description: "Key of the HMAC-SHA256 signature on what comes in." }),
    windowSeconds: z
      .number()
      .int()
      .min(10)
      .max(limits.hookWindowMsMax / 1_000)
      .default(300)
      .meta({ description: "How old, or early, a signature may be, seconds." }),
  })
  .meta({
    description: "Takes signed messages at /hooks/webhook/<account>. Left out: it does not.",
  });

const where = "channel and account are those of the hook; leave them out";

/** One message or an array of them, of this account and of nobody we vouch for. */
function messagesSchema(account: string): (value: unknown) => z.ZodType<Inbound[]> {
  const one = z.preprocess(
    (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? { channel: "webhook", account, ...value, outside: true }
        : value,
    inboundSchema.refine(
      (message) => message.channel === "webhook" && message.account === account,
      {
        message: where,
      },
    ),
  );
  const many = z.array(one).min(1).max(limits.inboundArrayCountMax);
  const alone = one.transform((message) => [message]);
  return (value) => (Array.isArray(value) ? many : alone);
}

export function createWebhookHook(
  { accountId, deliver }: Pick<ChannelContext<unknown>, "accountId" | "deliver">,
  { secret, windowSeconds }: WebhookHookConfig,
): ChannelHook {
  const schema = messagesSchema(accountId);
  const read = (headers: Parameters<typeof readSignature>[0], now: number) =>
    readSignature(headers, now, windowSeconds * 1_000);
  const replayId = ({ mac }: SignedHeaders) => Buffer.from(mac).toString("base64");
  return {
    inspectHeaders({ headers, now }) {
      const signed = read(headers, now);
      if (typeof signed === "string") return { kind: "refused", why: signed };
      if (signed.digest === null) return { kind: "unproven" };
      return signsDigest(secret, signed)
        ? { kind: "proven" }
        : { kind: "refused", why: "the signature does not fit the digest" };
    },
    verify({ headers, now }, body) {
      const signed = read(headers, now);
      if (typeof signed === "string") return { kind: "refused", why: signed };
      return signsBody(secret, signed, body)
        ? { kind: "verified", replayId: replayId(signed) }
        : { kind: "refused", why: "the signature does not fit the body" };
    },
    async receive(body) {
      const messages = readHookBody(body, schema);
      await deliver(messages.map((message) => ({ type: "message", message })));
      return { taken: messages.map(({ id }) => ({ id })) };
    },
  };
}
