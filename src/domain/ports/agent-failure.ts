/** An agent's failure with its kind, and how errors of Node, of the system and of HTTP map to kinds. */
import { EarshotError } from "../errors.ts";
import type { FailureKind } from "../stream.ts";

/** An agent's failure whose kind its driver knows. */
export class AgentFailure extends EarshotError {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super("EAR_AGENT_FAILED", message, cause === undefined ? {} : { cause });
    this.kind = kind;
  }
}

/** What an HTTP status of 300 or more says. */
export function kindOfStatus(status: number): FailureKind {
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 404 || status === 410) return "not-found";
  if (status === 429) return "rate-limit";
  if (status === 408 || status === 504) return "timeout";
  return status >= 500 ? "server" : "invalid";
}

const kindsOfCodes: Readonly<Record<string, FailureKind>> = {
  ENOENT: "not-found",
  MODULE_NOT_FOUND: "not-found",
  ERR_MODULE_NOT_FOUND: "not-found",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  EAR_HTTP_FAILED: "refused",
  EAR_HTTP_REFUSED: "refused",
  EAR_AGENT_TIMEOUT: "timeout",
  EAR_AGENT_CONFIG: "invalid",
  EAR_AGENT_FAILED: "invalid",
};
/** Of sockets, name servers, undici and TLS (Node's documentation, "Common system errors"). */
const connection =
  /^(ECONN|EAI_|ENOTFOUND|EHOST|ENET|EPIPE|UND_ERR_|CERT_|ERR_TLS|ERR_SSL|.*SELF_SIGNED)/u;

/** The kind of an error, by the codes of the error and of what caused it. Unknown: it crashed. */
export function kindOf(error: unknown): FailureKind {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause instanceof AgentFailure) return cause.kind;
    if (cause.name === "TimeoutError") return "timeout";
    const code = codeOf(cause);
    // The cause of one of our own errors says more.
    const isOurs = code.startsWith("EAR_") && codeOf(cause.cause) !== "";
    if (!isOurs && isKnown(code)) return kindOfCode(code);
    cause = cause.cause;
  }
  return "crashed";
}

const isKnown = (code: string): boolean => code in kindsOfCodes || connection.test(code);

/** The kind of an error code of Node, of the system or of earshot. Unknown: it crashed. */
export const kindOfCode = (code: string): FailureKind =>
  kindsOfCodes[code] ?? (connection.test(code) ? "refused" : "crashed");

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}
