/**
 * What the callers of the Slack client need to know of its errors, without the client library.
 */
import { EarshotError } from "../../../domain/errors.ts";

/**
 * `send`: a repeat is visible, so an unknown outcome is in doubt. `ask`: may be repeated.
 * `connect`: as `ask`, and a refusal concerns the login.
 */
export type CallKind = "send" | "ask" | "connect";

/** A refusal with Slack's own name for it, such as `already_reacted`. */
export class SlackRefusal extends EarshotError {
  readonly reason: string;

  constructor(code: "EAR_CHANNEL_REJECTED" | "EAR_CHANNEL_AUTH", message: string, reason: string) {
    super(code, message);
    this.reason = reason;
  }
}

/** Whether it is a refusal of one of these names. */
export const isRefusal = (error: unknown, ...reasons: readonly string[]): boolean =>
  error instanceof SlackRefusal && reasons.includes(error.reason);
