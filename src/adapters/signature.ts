/**
 * Signatures on what we post
 * ==========================
 * One form for everything earshot sends to a service of the operator's: the time and the MAC of
 * time and bytes, so the receiver can tell who posts and refuse what is old.
 */
import { createHmac } from "node:crypto";
import type { Millis } from "../domain/message.ts";

/**
 * The headers of a signed body: `earshot-timestamp` in seconds, and `earshot-signature` as
 * `sha256=` and the hex HMAC-SHA256 of `<timestamp>.<body>`.
 */
export function signatureHeaders(secret: string, at: Millis, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "earshot-timestamp": timestamp, "earshot-signature": `sha256=${mac}` };
}
