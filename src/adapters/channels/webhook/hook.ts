/**
 * Events posted by a program that holds the account's secret, signed over time and body
 * (docs/channels/webhook.md). The secret authenticates the program, not the authors it reports:
 * they count as strangers until the config lets them speak.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { ChannelContext, ChannelHook } from "../../../domain/ports/index.ts";
import { readHookBody } from "../../http/hook-body.ts";
import { readSignature, type SignedHeaders, signsBody, signsDigest } from "../../http/signature.ts";
import { postedEvents } from "./events.ts";

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
      .meta({ description: "Key of the HMAC-SHA256 signature of incoming requests." }),
    windowSeconds: z
      .number()
      .int()
      .min(10)
      .max(limits.hookWindowMsMax / 1_000)
      .default(300)
      .meta({ description: "How far a signature's time may differ from now, seconds." }),
  })
  .meta({
    description: "Accepts signed messages at /hooks/webhook/<account>. Left out: disabled.",
  });

const placeProblem = "channel and account are those of the hook; leave them out";
const only = (value: string) => z.literal(value, { error: placeProblem }).default(value);

export function createWebhookHook(
  { accountId, deliver }: Pick<ChannelContext<unknown>, "accountId" | "deliver">,
  { secret, windowSeconds }: WebhookHookConfig,
): ChannelHook {
  // The authors are not the operator, whatever the body says.
  const place = { channel: only("webhook"), account: only(accountId) };
  const { bodyFor } = postedEvents(place, true);
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
        : { kind: "refused", why: "the signature does not match the digest" };
    },
    verify({ headers, now }, body) {
      const signed = read(headers, now);
      if (typeof signed === "string") return { kind: "refused", why: signed };
      return signsBody(secret, signed, body)
        ? { kind: "verified", replayId: replayId(signed) }
        : { kind: "refused", why: "the signature does not match the body" };
    },
    async receive(body) {
      const events = readHookBody(body, bodyFor);
      await deliver(events);
      const taken = events.flatMap((event) =>
        event.type === "message" ? [{ id: event.message.id }] : [],
      );
      return { taken };
    },
  };
}
