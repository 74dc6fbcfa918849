/**
 * Requests that were never sent
 * =============================
 * A failure before the request was written: it cannot have had an effect, whatever the request was.
 */
import { EarshotError } from "../../../domain/errors.ts";

/** Codes of the system and of TLS for a connection that never was. */
export const notSentCodes: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ...["ERR_TLS_CERT_ALTNAME_INVALID"],
]);

/** The same for clients that are made of `fetch`, which has a limit of its own for connecting. */
export const fetchNotSentCodes: ReadonlySet<string> = new Set([
  ...notSentCodes,
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Of a request that was never sent. */
export class UnsentError extends EarshotError {}
