/**
 * The hook port
 * =============
 * For platforms that post to us instead of being asked. There is one door for all of them
 * (`/hooks/<channel>/<account>` of the daemon): it counts bytes, keeps time, limits the rate and
 * recognises repeats. A channel says two things only: whether a request is the platform's, and what
 * its body means. The second is not asked before the first is answered.
 */
import type { Millis } from "../message.ts";

/** A request before its body is read. Nothing in it is to be believed. */
export interface HookRequest {
  /** Names in lower case; a header that came twice is joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** When it came, by our clock. */
  readonly now: Millis;
}

/**
 * What the headers alone show.
 * - `proven`: who posts is certain (a shared secret in a header), so a body of 1 MiB is read.
 * - `unproven`: the proof is over the body, of which 64 KiB are read to look at it.
 * - `refused`: not a byte is read. `why` is for the log, never for whoever posted.
 */
export type HookPrecheck =
  | { readonly kind: "proven" }
  | { readonly kind: "unproven" }
  | { readonly kind: "refused"; readonly why: string };

/**
 * What the body's bytes show, as they came. `replayId`: the same for the same request sent again
 * (its signature, say), which is then answered as the first was; null: the platform numbers what it
 * tells, and repeats are recognised by that.
 */
export type HookVerdict =
  | { readonly kind: "verified"; readonly replayId: string | null }
  | { readonly kind: "refused"; readonly why: string };

/** An object is answered as JSON, a text as it is. */
export type HookAnswer = Readonly<Record<string, unknown>> | string;

export interface ChannelHook {
  inspectHeaders(request: HookRequest): HookPrecheck;
  /** Secrets are compared in constant time, as digests of one length. */
  verify(request: HookRequest, body: Uint8Array): HookVerdict;
  /**
   * Reads a verified body and hands it over; resolves when all of it is durable.
   * @throws EarshotError EAR_INBOUND_INVALID for a body that will never be right (answered 400), a
   * `retry` one when nothing was taken (503): the platform will send it again.
   */
  receive(body: Uint8Array, request: HookRequest): Promise<HookAnswer>;
}
