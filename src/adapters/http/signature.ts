/**
 * Signatures
 * ==========
 * One form for everything that earshot posts to a service of the operator's, and for what such a
 * service posts to it: the time and the MAC of time and bytes, so the receiver can tell who posts
 * and refuse what is old. A body that is large carries its digest in a header, and the MAC is over
 * that: then who posts is known before a byte of it is read.
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

/** The same with `earshot-digest`, the hex SHA-256 of the body, in its place. */
export function digestHeaders(secret: string, at: Millis, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const digest = createHash("sha256").update(body).digest("hex");
  const mac = macOf(secret, timestamp, Buffer.from(`digest:${digest}`)).toString("hex");
  return {
    "earshot-timestamp": timestamp,
    "earshot-digest": `sha256=${digest}`,
    "earshot-signature": `sha256=${mac}`,
  };
}

/** No JSON begins with `digest:`, so a signature of one form is never one of the other. */
function macOf(secret: string, timestamp: string, bytes: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${timestamp}.`).update(bytes).digest();
}

export interface SignedHeaders {
  readonly timestamp: string;
  /** 32 bytes. */
  readonly mac: Uint8Array;
  /** 32 bytes: what the body's SHA-256 must be. Null: the MAC is over the body. */
  readonly digest: Uint8Array | null;
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * The signature of a request, in form and in time; what it is worth is not looked at. A text says
 * why there is none.
 */
export function readSignature(
  headers: Headers,
  now: Millis,
  windowMs: Millis,
): SignedHeaders | string {
  const timestamp = headers["earshot-timestamp"] ?? "";
  const mac = sha256In(headers["earshot-signature"]);
  if (mac === null) return "earshot-signature is missing or has another form";
  if (!/^[1-9]\d{0,11}$/.test(timestamp))
    return "earshot-timestamp is missing or no number of seconds";
  const ageMs = now - Number(timestamp) * 1_000;
  // The seconds are cut off, so what is just posted may look a second old.
  if (ageMs > windowMs + 1_000) return `it was signed ${Math.round(ageMs / 1_000)} s ago`;
  if (ageMs < -windowMs) return `it was signed ${Math.round(-ageMs / 1_000)} s in the future`;
  const told = headers["earshot-digest"];
  const digest = sha256In(told);
  if (told !== undefined && digest === null) return "earshot-digest has another form";
  return { timestamp, mac, digest };
}

function sha256In(header: string | undefined): Buffer | null {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(header ?? "")?.[1];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

/** Whether the MAC is over the digest that is told. */
export function signsDigest(secret: string, { timestamp, mac, digest }: SignedHeaders): boolean {
  if (digest === null) return false;
  const bytes = Buffer.from(`digest:${Buffer.from(digest).toString("hex")}`);
  return timingSafeEqual(mac, macOf(secret, timestamp, bytes));
}

/** Whether these bytes are what was signed; where a digest was told it has been looked at. */
export function signsBody(
  secret: string,
  { timestamp, mac, digest }: SignedHeaders,
  body: Uint8Array,
): boolean {
  if (digest === null) return timingSafeEqual(mac, macOf(secret, timestamp, body));
  return timingSafeEqual(digest, createHash("sha256").update(body).digest());
}

/** Whether two secrets are equal, in a time that tells nothing about either. */
export function sameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
