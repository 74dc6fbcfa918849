/**
 * One JSON object a line (pino), with a stable event name in `msg`; on a terminal the same lines in
 * a readable form. Every line is cleaned: fields named like secrets and values that are known
 * secrets are masked, control and direction characters of room text are made visible, long texts
 * are cut. So no name in a room can forge a line, change the screen or hide the rest.
 */
import { pino } from "pino";
import type { Log, LogLevel } from "../../domain/ports/index.ts";
import { formsOfSecrets, redacted, redactForms } from "../../domain/redact-secrets.ts";
import { cut, terminalSafe } from "../../domain/sanitize.ts";

const textUnitsMax = 2_000;
const itemsCountMax = 50;
const depthMax = 5;
const secretName =
  /(token|secret|password|passphrase|api[_-]?key|private[_-]?key|access[_-]?key|authorization)$/i;

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for people, in colour; else NDJSON. */
  readonly pretty: boolean;
  /** Takes whole lines. */
  readonly write: (line: string) => void;
}

export interface DaemonLog {
  readonly log: Log;
  /** Values that must never appear. Added to those already known, so an old token stays secret. */
  keepSecret(values: readonly string[]): void;
  setLevel(level: LogLevel): void;
}

/** A field's value as it may be shown. */
export function cleanField(value: unknown, secrets: readonly string[], depth = 0): unknown {
  if (typeof value === "string") return cleanText(value, secrets);
  if (value === null || typeof value !== "object")
    return typeof value === "bigint" || typeof value === "symbol" ? String(value) : value;
  if (depth >= depthMax) return "[deep]";
  if (value instanceof Error) {
    const { name, message } = value;
    return cleanField({ name, message, ...codeOf(value) }, secrets, depth);
  }
  if (Array.isArray(value))
    return value.slice(0, itemsCountMax).map((item) => cleanField(item, secrets, depth + 1));
  const clean: Record<string, unknown> = {};
  const names = Object.keys(value);
  for (let n = 0; n < names.length && n < itemsCountMax; n += 1) {
    const name = names[n] as string;
    const item = (value as Readonly<Record<string, unknown>>)[name];
    const shown = isSecret(name, item) ? redacted : cleanField(item, secrets, depth + 1);
    const field = cleanText(name, secrets);
    // An assignment to this one name would set the prototype.
    if (field === "__proto__") Object.defineProperty(clean, field, { value: shown, ...ownField });
    else clean[field] = shown;
  }
  return clean;
}

const ownField = { enumerable: true, configurable: true, writable: true };

const isSecret = (name: string, item: unknown) => typeof item === "string" && secretName.test(name);

function cleanText(text: string, secrets: readonly string[]): string {
  const shown = redactForms(text, secrets);
  const short = cut(shown, textUnitsMax);
  const safe = terminalSafe(short).replaceAll("\n", "␊");
  return short.length < shown.length ? `${safe}…` : safe;
}

const codeOf = (error: Error): { code?: string } =>
  "code" in error && typeof error.code === "string" ? { code: error.code } : {};

/** Creates the log. The pretty printer is loaded only if it is used. */
export async function createLog(options: LogOptions): Promise<DaemonLog> {
  let secrets: readonly string[] = [];
  const shown = options.pretty ? await prettyLines() : (line: string) => line;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: createTimes(),
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => options.write(shown(line)) },
  );
  return {
    log: (level, event, fields) => {
      if (!logger.isLevelEnabled(level)) return;
      logger[level](fields === undefined ? {} : (cleanField(fields, secrets) as object), event);
    },
    keepSecret(values) {
      secrets = [...new Set([...secrets, ...formsOfSecrets(values)])].sort(
        (a, b) => b.length - a.length,
      );
    },
    setLevel(level) {
      logger.level = level;
    },
  };
}

/** The time as a field; made once for all lines of a millisecond. */
function createTimes(): () => string {
  let at = Number.NaN;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

async function prettyLines(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const colorize = process.env.NO_COLOR === undefined || process.env.NO_COLOR === "";
  // An error is a field like any other: it has no stack, and its line stays one.
  const asFields = { singleLine: true, errorLikeObjectKeys: [] };
  return prettyFactory({ colorize, ...asFields, translateTime: "SYS:HH:MM:ss.l" });
}
