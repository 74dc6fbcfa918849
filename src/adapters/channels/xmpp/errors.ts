/**
 * What a server says when it refuses, with the disposition that the outbox and the gateway act on
 * (RFC 6120, sections 4.9 stream errors, 6.5 SASL errors, 8.3 stanza errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { StanzaFault, XmppPresence } from "./wire.ts";

/** A stanza was written, and the connection broke before an answer came. */
export class XmppLostError extends Error {
  public override readonly name = "XmppLostError";
}

/** An answer of type error. */
export class XmppRefusedError extends Error {
  public override readonly name = "XmppRefusedError";
  readonly fault: StanzaFault;

  constructor(fault: StanzaFault) {
    super(describe(fault));
    this.fault = fault;
  }
}

/** Without a time in the answer. */
const waitMs = 10_000;

const describe = ({ condition, text }: StanzaFault): string =>
  text === "" ? condition : `${condition}: ${oneLine(text, 200)}`;

/** A send that was refused. Type `wait` asks to try later (RFC 6120, section 8.3.2). */
export function refusalOf(fault: StanzaFault): EarshotError {
  if (fault.type === "wait")
    return new EarshotError(
      "EAR_CHANNEL_RATE",
      `Cannot send on XMPP: it asks to wait (${describe(fault)})`,
      { retryAfterMs: waitMs },
    );
  return refused(`it was refused (${describe(fault)})`);
}

export const refused = (why: string): EarshotError =>
  new EarshotError("EAR_CHANNEL_REJECTED", `Cannot send on XMPP: ${why}`);

/** SASL errors that stay until a person changes something (RFC 6120, section 6.5). */
const finalLogins: ReadonlySet<string> = new Set([
  "account-disabled",
  "credentials-expired",
  "encryption-required",
  "invalid-authzid",
  "invalid-mechanism",
  "mechanism-too-weak",
  "not-authorized",
]);

/** Why a connection cannot be or ended. `secrets` are redacted in case the server repeats one. */
export function connectionError(
  code: "EAR_CHANNEL_UNAVAILABLE" | "EAR_CHANNEL_AUTH",
  server: string,
  why: string,
  secrets: readonly string[],
): EarshotError {
  const shown = redactSecrets(oneLine(why, 300), secrets);
  return new EarshotError(code, `Cannot stay connected to the XMPP server ${server}: ${shown}`);
}

/** What an error of the library means: its code, and the reason in plain words. */
export function explain(error: Error): {
  readonly code: "EAR_CHANNEL_UNAVAILABLE" | "EAR_CHANNEL_AUTH";
  readonly why: string;
} {
  const { condition, code } = error as { condition?: unknown; code?: unknown };
  if (error.name === "SASLError" && typeof condition === "string") {
    const why = `the login was refused (${condition})`;
    if (!finalLogins.has(condition)) return { code: "EAR_CHANNEL_UNAVAILABLE", why };
    return { code: "EAR_CHANNEL_AUTH", why: `${why}. Correct jid and password` };
  }
  if (/^SASL: /.test(error.message))
    return {
      code: "EAR_CHANNEL_AUTH",
      why: "it offers no way to log in that is safe on this connection (SCRAM, or PLAIN with TLS)",
    };
  if (typeof condition === "string")
    return { code: "EAR_CHANNEL_UNAVAILABLE", why: `it closed the stream (${condition})` };
  if (typeof code === "string")
    return { code: "EAR_CHANNEL_UNAVAILABLE", why: socketFailure(code) };
  return { code: "EAR_CHANNEL_UNAVAILABLE", why: `the connection failed (${error.name})` };
}

/** A socket's error in plain words; its code is kept for who looks it up. */
function socketFailure(code: string): string {
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);
  if (!certificate) return `the connection failed (${code})`;
  return `its certificate is not valid (${code}). With a self-signed one, set verifyCertificate: false`;
}

/** By status code (XEP-0045, section 15.6.2). */
const removals: Readonly<Record<string, string>> = {
  301: "banned",
  307: "kicked",
  321: "removed, because our affiliation has changed",
  322: "removed, because the room is for members only now",
  332: "removed, because the service stops",
  333: "removed, because of an error",
};

/** Why we are no longer in a room, as the room says. */
export function removalOf({ codes, reason, isDestroyed, venue }: XmppPresence): string {
  const named = Object.entries(removals).find(([code]) => codes.includes(code))?.[1];
  const where = venue === null ? "" : `, and goes on at ${oneLine(venue, 200)}`;
  const what = isDestroyed ? `the room was destroyed${where}` : (named ?? "removed");
  return reason === "" ? what : `${what}: ${oneLine(reason, 200)}`;
}
