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
const namesCountMax = 500;
const nameUnitsMax = 64;
/** Printable ASCII: shown as it is. */
const plain = /^[ -~]*$/;
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

interface FieldName {
  readonly shown: string;
  /** Its value is masked whatever it is. */
  readonly isSecret: boolean;
}

/** What is masked wherever it stands. */
class Secrets {
  readonly forms: readonly string[];
  /** A shorter text has none of them. */
  readonly #unitsMin: number;
  /** Names of fields as they may be shown; nearly all are the same few. */
  readonly #names = new Map<string, FieldName>();

  constructor(forms: readonly string[] = []) {
    this.forms = [...new Set(forms)].sort((a, b) => b.length - a.length);
    this.#unitsMin = this.forms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  }

  mask(text: string): string {
    return text.length < this.#unitsMin ? text : redactForms(text, this.forms);
  }

  nameOf(name: string): FieldName {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = { shown: cleanText(name, this), isSecret: secretName.test(name) };
    if (this.#names.size < namesCountMax && name.length <= nameUnitsMax)
      this.#names.set(name, made);
    return made;
  }
}

/** A field's value as it may be shown. */
export const cleanField = (value: unknown, secrets: readonly string[]): unknown =>
  cleaned(value, new Secrets(secrets), 0);

function cleaned(value: unknown, secrets: Secrets, depth: number): unknown {
  if (typeof value === "string") return cleanText(value, secrets);
  if (value === null || typeof value !== "object")
    return typeof value === "bigint" || typeof value === "symbol" ? String(value) : value;
  if (depth >= depthMax) return "[deep]";
  if (value instanceof Error) {
    const { name, message } = value;
    return cleaned({ name, message, ...codeOf(value) }, secrets, depth);
  }
  if (Array.isArray(value))
    return value.slice(0, itemsCountMax).map((item) => cleaned(item, secrets, depth + 1));
  const clean: Record<string, unknown> = {};
  const names = Object.keys(value);
  for (let n = 0; n < names.length && n < itemsCountMax; n += 1) {
    const name = names[n] as string;
    const item = (value as Readonly<Record<string, unknown>>)[name];
    const { shown: field, isSecret } = secrets.nameOf(name);
    const shown =
      isSecret && typeof item === "string" ? redacted : cleaned(item, secrets, depth + 1);
    // An assignment to this one name would set the prototype.
    if (field === "__proto__") Object.defineProperty(clean, field, { value: shown, ...ownField });
    else clean[field] = shown;
  }
  return clean;
}

const ownField = { enumerable: true, configurable: true, writable: true };

function cleanText(text: string, secrets: Secrets): string {
  const shown = secrets.mask(text);
  if (shown.length <= textUnitsMax && plain.test(shown)) return shown;
  const short = cut(shown, textUnitsMax);
  const safe = terminalSafe(short).replaceAll("\n", "␊");
  return short.length < shown.length ? `${safe}…` : safe;
}

const codeOf = (error: Error): { code?: string } =>
  "code" in error && typeof error.code === "string" ? { code: error.code } : {};

/** Creates the log. The pretty printer is loaded only if it is used. */
export async function createLog(options: LogOptions): Promise<DaemonLog> {
  let secrets = new Secrets();
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
      logger[level](fields === undefined ? {} : (cleaned(fields, secrets, 0) as object), event);
    },
    keepSecret(values) {
      secrets = new Secrets([...secrets.forms, ...formsOfSecrets(values)]);
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
