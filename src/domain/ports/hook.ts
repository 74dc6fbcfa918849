/**
 * For platforms that post to earshot. All of them share one endpoint (`/hooks/<channel>/<account>`
 * of the daemon), which bounds bytes and time, limits the rate and recognises repeats. A channel
 * answers two questions: whether a request comes from the platform, and what its body means. The
 * second is asked only after the first is settled.
 */
import type { Millis } from "../message.ts";

/** A request before its body is read. Untrusted. */
export interface HookRequest {
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Time of receipt. */
  readonly now: Millis;
}

/**
 * What the headers alone prove.
 *
 * - `proven`: the sender is certain (a shared secret in a header), so a body of up to 1 MiB is
 *   read.
 * - `unproven`: the proof covers the body, of which at most 64 KiB are read to check it, or
 *   `bytesMax` (at most 3 MiB) for a platform whose requests are larger.
 * - `refused`: the body is not read. `why` is logged, never sent.
 */
export type HookPrecheck =
  | { readonly kind: "proven" }
  | { readonly kind: "unproven"; readonly bytesMax?: number }
  | { readonly kind: "refused"; readonly why: string };

/**
 * What the body's bytes prove. `replayId` identifies the request when it is sent again (its
 * signature, say); a repeat gets the first response. Null: the platform numbers its updates, and
 * repeats are recognised by those numbers.
 */
export type HookVerdict =
  | { readonly kind: "verified"; readonly replayId: string | null }
  | { readonly kind: "refused"; readonly why: string };

/** An object is sent as JSON, a string as plain text. */
export type HookAnswer = Readonly<Record<string, unknown>> | string;

export interface ChannelHook {
  /**
   * For a platform that checks the address with a GET before it posts there: the text to answer with
   * (at most 1,024 units), or null, which refuses it. Absent: only POST is accepted.
   */
  challenge?(query: URLSearchParams): string | null;
  inspectHeaders(request: HookRequest): HookPrecheck;
  /** Checks the body. Secrets are compared in constant time, as digests of equal length. */
  verify(request: HookRequest, body: Uint8Array): HookVerdict;
  /**
   * Parses a verified body and delivers it; resolves when all of it is durable.
   * @throws EarshotError EAR_INBOUND_INVALID for a body that can never be accepted (400); a `retry`
   * error when nothing was accepted (503), so that the platform sends it again.
   */
  receive(body: Uint8Array, request: HookRequest): Promise<HookAnswer>;
}
