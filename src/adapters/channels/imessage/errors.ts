/**
 * What the programs on the Mac refuse, with the disposition that the outbox and the gateway act on. What
 * they say names people and words of a room, so none of it is repeated.
 */
import { EarshotError } from "../../../domain/errors.ts";

/**
 * `send`: a repeat is visible, so an unknown outcome is in doubt. `ask`: may be repeated.
 * `connect`: as `ask`, and a refusal concerns the account.
 */
export type CallKind = "send" | "ask" | "connect";

/** It was refused for good. */
export const refused = (what: string, kind: CallKind, why: string): EarshotError =>
  new EarshotError(
    kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
    `Cannot ${what}: ${why}`,
  );

/** Nothing was done. */
export const unavailable = (what: string, why: string): EarshotError =>
  new EarshotError("EAR_CHANNEL_UNAVAILABLE", `Cannot ${what}: ${why}`);

/** It was asked, and no clear answer came. */
export const unanswered = (what: string, kind: CallKind, why: string): EarshotError =>
  kind === "send"
    ? new EarshotError("EAR_SEND_IN_DOUBT", `Cannot ${what}: it may have been sent (${why})`)
    : unavailable(what, why);
