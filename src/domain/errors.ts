/**
 * One class, one table. The disposition decides what the runtime does next, so no caller has to
 * parse a message. Message form: "Cannot <do what>: <why> (<what was received>). <What to do>",
 * with values sanitised.
 */

/**
 * - `retry`: the same call may work later.
 * - `in-doubt`: it is unknown whether the call took effect.
 * - `terminal`: the call can never work as it is; a person has to act.
 * - `bug`: an assertion of earshot failed.
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
  EAR_STORE_DAMAGED: "terminal",
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
  EAR_LEASE_LOST: "retry",
  EAR_SEND_IN_DOUBT: "in-doubt",
  EAR_PLUGIN: "terminal",
  EAR_HTTP_REFUSED: "terminal",
  EAR_HTTP_FAILED: "retry",
  EAR_PORT_TAKEN: "terminal",
  EAR_USAGE: "terminal",
  EAR_ASSERT: "bug",
} as const satisfies Record<string, Disposition>;

export type ErrorCode = keyof typeof table;

/** Whether this version knows the code. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(table, code);

export interface EarshotErrorOptions {
  readonly cause?: unknown;
  /** For `retry`: wait at least this many ms. */
  readonly retryAfterMs?: number;
}

/** UTF-16 units of a message; what it quotes may be of any length. */
const messageUnitsMax = 8_000;
/** Controls but newline and tab, direction marks, line separators and halves of pairs. */
const unprintable =
  /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;

/**
 * A message often quotes what was refused, and is shown by logs, terminals, pages and rooms: what
 * could act on them is written as an escape. Here and not in sanitize.ts, as a copy of this module
 * stands alone.
 */
function printable(message: string): string {
  const text =
    message.length > messageUnitsMax ? `${message.slice(0, messageUnitsMax - 1)}…` : message;
  return text
    .replaceAll("\r\n", "\n")
    .replace(unprintable, (mark) => `\\u{${(mark.codePointAt(0) as number).toString(16)}}`)
    .slice(0, messageUnitsMax);
}

/** Shared by every copy of this module in the process. */
const brand = Symbol.for("earshot.error");
const dispositions: ReadonlySet<unknown> = new Set<unknown>(Object.values(table));

/**
 * The only error class that crosses a module boundary on purpose. `instanceof EarshotError` also
 * recognises errors of another copy of this package, which a plugin may bring along: error handling
 * must not depend on which copy threw.
 */
export class EarshotError extends Error {
  public override readonly name = "EarshotError";
  public readonly code: ErrorCode;
  public readonly disposition: Disposition;
  public readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: EarshotErrorOptions = {}) {
    super(printable(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.disposition = table[code];
    this.retryAfterMs = options.retryAfterMs;
  }

  /** A subclass matches only its own instances, as usual. */
  static override [Symbol.hasInstance]<Made>(
    this: abstract new (
      ...given: never
    ) => Made,
    value: unknown,
  ): value is Made {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the subclass to test against.
    return isInstance(this, value);
  }
}

function isInstance(ctor: object, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(ctor, value)) return true;
  if (ctor !== EarshotError || !(value instanceof Error)) return false;
  const { disposition, [brand]: brandMark } = value as { disposition?: unknown; [brand]?: unknown };
  return brandMark === true && dispositions.has(disposition);
}

// Defined outside the class so that the types of two copies stay compatible for the compiler.
// Symbols survive neither JSON nor structured clone, so only code of this process can create such
// an error.
Object.defineProperty(EarshotError.prototype, brand, { value: true });

/**
 * Asserts an invariant of the program.
 * @throws EarshotError EAR_ASSERT when the condition is false.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new EarshotError("EAR_ASSERT", message);
}
