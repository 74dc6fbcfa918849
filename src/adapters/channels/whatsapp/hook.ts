/**
 * What Meta posts to an account's hook
 * ====================================
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 * Bodies have up to 3 MB and are signed as a whole with the app's secret. Meta repeats for days what is not
 * answered with 200: so a body that can never be understood is logged and answered 200, and one that
 * cannot be stored now is refused with 503.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelHook, HookRequest, Log } from "../../../domain/ports/index.ts";
import { hookJson } from "../../http/hook-body.ts";
import { sameSecret } from "../../http/signature.ts";
import type { WhatsAppAccountConfig } from "./config.ts";

export function createWhatsAppHook(
  { appSecret, verifyToken }: Pick<WhatsAppAccountConfig, "appSecret" | "verifyToken">,
  log: Log,
  take: (body: unknown) => Promise<void>,
): ChannelHook {
  return {
    challenge(query) {
      const challenge = query.get("hub.challenge");
      const isOurs = sameSecret(query.get("hub.verify_token") ?? "", verifyToken);
      return query.get("hub.mode") === "subscribe" && isOurs ? challenge : null;
    },
    inspectHeaders: (request) =>
      macIn(request) === null
        ? { kind: "refused", why: "x-hub-signature-256 is missing or malformed" }
        : { kind: "unproven", bytesMax: limits.hookLargeBytesMax },
    verify(request, body) {
      const mac = macIn(request);
      const expected = createHmac("sha256", appSecret).update(body).digest();
      if (mac === null || !timingSafeEqual(mac, expected))
        return { kind: "refused", why: "the signature does not match the body" };
      // Meta signs no time: the same body is the same delivery.
      return { kind: "verified", replayId: mac.toString("base64") };
    },
    async receive(body) {
      let posted: unknown;
      try {
        posted = hookJson(body);
      } catch (error) {
        const why = error instanceof EarshotError ? error.code : "unknown";
        log("warn", "whatsapp.body-unreadable", { error: why });
        return "";
      }
      await take(posted);
      return "";
    },
  };
}

function macIn({ headers }: HookRequest): Buffer | null {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(headers["x-hub-signature-256"] ?? "")?.[1];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}
