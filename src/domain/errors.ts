/**
 * Errors
 * ======
 * One class, one table. The disposition tells the runtime what to do next, so nobody guesses from a
 * message. Message form: "Cannot <verb> as <reason>: received <value>", with values made harmless.
 */

/**
 * - `retry`: the same call may work later.
 * - `in-doubt`: it is unknown whether the call took effect.
 * - `terminal`: it will never work as it is; tell a person.
 * - `bug`: an assertion of ours failed.
 */
export type Disposition = "retry" | "in-doubt" | "terminal" | "bug";

const table = {
  EAR_CONFIG_SYNTAX: "terminal",
  EAR_CONFIG_INVALID: "terminal",
  EAR_CONFIG_UNKNOWN_KEY: "terminal",
  EAR_CONFIG_SECRET_MISSING: "terminal",
  EAR_CONFIG_UNSAFE: "terminal",
  EAR_KEY_INVALID: "terminal",
  EAR_SCENARIO_INVALID: "terminal",
  EAR_INBOUND_INVALID: "terminal",
  EAR_STATE_LOCKED: "terminal",
  EAR_STATE_UNSAFE: "terminal",
  EAR_STORE_FAILED: "retry",
  EAR_STORE_FULL: "retry",
  EAR_STORE_VERSION: "terminal",
  EAR_INGRESS_FULL: "retry",
  EAR_RECORD_INVALID: "terminal",
  EAR_HOST_START: "terminal",
  EAR_HOST_LOST: "retry",
  EAR_PROTOCOL: "bug",
  EAR_AGENT_FAILED: "terminal",
  EAR_AGENT_TIMEOUT: "terminal",
  EAR_AGENT_CONFIG: "terminal",
  EAR_CHANNEL_CONFIG: "terminal",
  EAR_CHANNEL_AUTH: "terminal",
  EAR_CHANNEL_RATE: "retry",
  EAR_CHANNEL_UNAVAILABLE: "retry",
  EAR_CHANNEL_REJECTED: "terminal",
  EAR_SEND_IN_DOUBT: "in-doubt",
  EAR_PLUGIN: "terminal",
  EAR_HTTP_REFUSED: "terminal",
  EAR_HTTP_FAILED: "retry",
  EAR_PORT_TAKEN: "terminal",
  EAR_USAGE: "terminal",
  EAR_ASSERT: "bug",
} as const satisfies Record<string, Disposition>;

export type ErrorCode = keyof typeof table;

export interface EarshotErrorOptions {
  readonly cause?: unknown;
  /** For `retry`: not before this many ms from now. */
  readonly retryAfterMs?: number;
}

/** Shared by every copy of this module in a process. */
const brand = Symbol.for("earshot.error");
const dispositions: ReadonlySet<unknown> = new Set<unknown>(Object.values(table));

/**
 * The only error class that crosses a module boundary on purpose. `instanceof EarshotError` also
 * knows the errors of another copy of this package, which a plugin may have brought along: what to
 * do next must not hang on which copy was asked.
 */
export class EarshotError extends Error {
  public override readonly name = "EarshotError";
  public readonly code: ErrorCode;
  public readonly disposition: Disposition;
  public readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: EarshotErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.disposition = table[code];
    this.retryAfterMs = options.retryAfterMs;
  }

  /** A subclass knows its own instances only, as everywhere. */
  static override [Symbol.hasInstance]<Made>(
    this: abstract new (
      ...given: never
    ) => Made,
    value: unknown,
  ): value is Made {
    // biome-ignore lint/complexity/noThisInStatic: it is the subclass that is asked about.
    return isInstance(this, value);
  }
}

function isInstance(asked: object, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(asked, value)) return true;
  if (asked !== EarshotError || !(value instanceof Error)) return false;
  const { disposition, [brand]: mark } = value as { disposition?: unknown; [brand]?: unknown };
  return mark === true && dispositions.has(disposition);
}

// Not in the class, so that the types of two copies stay the same to the compiler. A symbol comes
// with no JSON and no message of a thread: only code of this process can be such an error.
Object.defineProperty(EarshotError.prototype, brand, { value: true });

/**
 * States something the program relies on.
 * @throws EarshotError EAR_ASSERT when it does not hold.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new EarshotError("EAR_ASSERT", message);
}
