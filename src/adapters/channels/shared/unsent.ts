/**
 * Requests that were never sent
 * =============================
 * A failure before the request was written: it cannot have had an effect, whatever the request was.
 */
import { EarshotError } from "../../../domain/errors.ts";

/**
 * Codes of the system and of TLS (https://nodejs.org/api/tls.html#x509-certificate-error-codes) for a connection
 * that never was.
 */
export const notSentCodes: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "CERT_UNTRUSTED"],
  ...["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CERT_REJECTED"],
]);

/** The same for clients that are made of `fetch`, which has a limit of its own for connecting. */
export const fetchNotSentCodes: ReadonlySet<string> = new Set([
  ...notSentCodes,
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Of a request that was never sent. */
export class UnsentError extends EarshotError {}
