/**
 * One scheme for requests that earshot posts to the operator's services and for requests they post
 * to it: the time, and a MAC of time and body, so the receiver can authenticate the sender and
 * refuse old requests. A large body carries its digest in a header, and the MAC covers the digest:
 * then the sender is known before the body is read.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Millis } from "../../domain/message.ts";

/**
 * The headers of a signed body: `earshot-timestamp` in seconds, and `earshot-signature` as
 * `sha256=` and the hex HMAC-SHA256 of `<timestamp>.<body>`.
 */
export function signatureHeaders(secret: string, at: Millis, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const mac = macOf(secret, timestamp, Buffer.from(body)).toString("hex");
  return { "earshot-timestamp": timestamp, "earshot-signature": `sha256=${mac}` };
}

/** No JSON begins with `digest:`, so a signature of one form is never valid for the other. */
function macOf(secret: string, timestamp: string, bytes: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${timestamp}.`).update(bytes).digest();
}

export interface SignedHeaders {
  readonly timestamp: string;
  /** 32 bytes. */
  readonly mac: Uint8Array;
  /** 32 bytes: the expected SHA-256 of the body. Null: the MAC covers the body. */
  readonly digest: Uint8Array | null;
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Parses a request's signature and checks its age, not its MAC. A string is the reason for a
 * refusal.
 */
export function readSignature(
  headers: Headers,
  now: Millis,
  windowMs: Millis,
): SignedHeaders | string {
  const timestamp = headers["earshot-timestamp"] ?? "";
  const mac = sha256In(headers["earshot-signature"]);
  if (mac === null) return "earshot-signature is missing or malformed";
  if (!/^[1-9]\d{0,11}$/.test(timestamp))
    return "earshot-timestamp is missing or not a number of seconds";
  const ageMs = now - Number(timestamp) * 1_000;
  // Seconds are truncated, so a fresh request may look a second old.
  if (ageMs > windowMs + 1_000) return `it was signed ${Math.round(ageMs / 1_000)} s ago`;
  if (ageMs < -windowMs) return `it was signed ${Math.round(-ageMs / 1_000)} s in the future`;
  const digestHeader = headers["earshot-digest"];
  const digest = sha256In(digestHeader);
  if (digestHeader !== undefined && digest === null) return "earshot-digest is malformed";
  return { timestamp, mac, digest };
}

function sha256In(header: string | undefined): Buffer | null {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(header ?? "")?.[1];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

/** Whether the MAC matches the digest header. */
export function signsDigest(secret: string, { timestamp, mac, digest }: SignedHeaders): boolean {
  if (digest === null) return false;
  const bytes = Buffer.from(`digest:${Buffer.from(digest).toString("hex")}`);
  return timingSafeEqual(mac, macOf(secret, timestamp, bytes));
}

/** Whether the body is the signed one; a digest has been authenticated before. */
export function signsBody(
  secret: string,
  { timestamp, mac, digest }: SignedHeaders,
  body: Uint8Array,
): boolean {
  if (digest === null) return timingSafeEqual(mac, macOf(secret, timestamp, body));
  return timingSafeEqual(digest, createHash("sha256").update(body).digest());
}

/** Compares two secrets in constant time. */
export function sameSecret(left: string, right: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
