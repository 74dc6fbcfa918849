/**
 * Scenarios are read line by line, so that a file of millions of lines need not fit in memory. A
 * bad line is refused with its number, the path inside it and what was expected. Nothing runs
 * before every line has been read once.
 */
import type { z } from "zod";
import { EarshotError } from "../errors.ts";
import { plainInbound } from "./plain-text.ts";
import {
  headerSchema,
  kindOf,
  type LineKind,
  lineSchemas,
  type ScenarioHeader,
  type ScenarioLine,
  type WholeScenario,
} from "./scenario.ts";

const noHeader: ScenarioHeader = { earshot: 1, config: {} };

/** Reads the lines of one source, in order. */
export class ScenarioReader {
  readonly #source: string;
  #header: ScenarioHeader | null = null;
  #headerAt: string | null = null;
  #last: ScenarioLine | null = null;
  /** Lines read so far, blank ones and the header included. */
  #number = 0;
  #count = 0;
  readonly #kinds = new Set<LineKind>();
  readonly #configsAt: string[] = [];

  /** `source` names the file in errors. */
  constructor(source: string) {
    this.#source = source;
  }

  /** A summary of the lines read so far. */
  get outline(): Omit<WholeScenario, "lines"> {
    const at = this.#headerAt === null ? {} : { headerAt: this.#headerAt };
    const { header } = this;
    const [kinds, configsAt] = [this.#kinds, this.#configsAt];
    return { header, count: this.#count, last: this.#last, kinds, configsAt, ...at };
  }

  get header(): ScenarioHeader {
    return this.#header ?? noHeader;
  }

  /**
   * Reads one line of text; null for a blank line or the header.
   * @throws EarshotError EAR_SCENARIO_INVALID with file, line, path and what was expected.
   */
  read(line: string): ScenarioLine | null {
    this.#number += 1;
    const number = this.#number;
    if (line.trim() === "") return null;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause);
      throw wrong(this.#source, number, "", `expected one JSON object: ${what}`);
    }
    return this.#take(value, number);
  }

  /** As `read`, for a line that is already an object. */
  take(value: unknown): ScenarioLine | null {
    this.#number += 1;
    return this.#take(value, this.#number);
  }

  #take(value: unknown, number: number): ScenarioLine | null {
    if (this.#header === null) {
      const hasHeader = isObject(value) && "earshot" in value;
      this.#header = hasHeader ? check(headerSchema, value, number, this.#source) : noHeader;
      if (hasHeader) {
        this.#headerAt = `${this.#source}:${number}`;
        return null;
      }
    }
    const [kind, line] = parseLine(value, number, this.#source);
    this.#kinds.add(kind);
    if (kind === "config") this.#configsAt.push(`${this.#source}:${number}`);
    const last = this.#last?.t ?? 0;
    if (line.t < last)
      throw wrong(
        this.#source,
        number,
        "t",
        `expected at least ${last}, the time of the line before: received ${line.t}`,
      );
    this.#last = line;
    this.#count += 1;
    return line;
  }
}

/**
 * Parses JSON Lines and skips blank lines. `source` names the file in errors.
 * @throws EarshotError EAR_SCENARIO_INVALID with file, line, path and what was expected.
 */
export function parseScenario(text: string, source: string): WholeScenario {
  const reader = new ScenarioReader(source);
  const lines = text.split("\n").flatMap((line) => reader.read(line) ?? []);
  return { ...reader.outline, lines };
}

/** As `parseScenario`, for lines that are already objects, as in `POST /api/simulate`. */
export function scenarioOf(values: readonly unknown[], source: string): WholeScenario {
  const reader = new ScenarioReader(source);
  const lines = values.flatMap((value) => reader.take(value) ?? []);
  return { ...reader.outline, lines };
}

function parseLine(value: unknown, number: number, source: string): [LineKind, ScenarioLine] {
  if (!isObject(value)) throw wrong(source, number, "", 'expected an object with "t" and an event');
  const plain = plainLine(value);
  if (plain !== null) return ["in", plain];
  if ("earshot" in value)
    throw wrong(source, number, "earshot", "expected the header on the first line only");
  const kind = kindOf(value);
  if (kind === undefined)
    throw wrong(
      source,
      number,
      "",
      `expected one of ${Object.keys(lineSchemas).join(", ")}: received ${Object.keys(value).slice(0, 8).join(", ")}`,
    );
  const schema = lineSchemas[kind] as z.ZodType<ScenarioLine>;
  return [kind, check(schema, value, number, source)];
}

/** A line with nothing but a plain message; null: use its schema. */
function plainLine(value: Readonly<Record<string, unknown>>): ScenarioLine | null {
  for (const field in value) if (field !== "t" && field !== "in") return null;
  const { t, in: inbound } = value;
  if (!Number.isSafeInteger(t) || (t as number) < 0) return null;
  const message = plainInbound(inbound);
  return message === null ? null : { t: t as number, in: message };
}

function check<Parsed>(
  schema: z.ZodType<Parsed>,
  value: unknown,
  number: number,
  source: string,
): Parsed {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { path, message } =
    issue === undefined ? { path: [], message: "not a scenario line" } : nearest(issue);
  throw wrong(source, number, path.join("."), message);
}

interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The union branch that fits except for one issue; otherwise the union's issue itself. */
function nearest(issue: z.core.$ZodIssue): SchemaProblem {
  if (issue.code !== "invalid_union") return issue;
  const nearMisses = issue.errors.filter(({ length }) => length === 1).map(([inner]) => inner);
  const [inner] = nearMisses;
  if (nearMisses.length !== 1 || inner === undefined) return issue;
  return { path: [...issue.path, ...inner.path], message: inner.message };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function wrong(source: string, line: number, path: string, expected: string): EarshotError {
  const at = path === "" ? "" : ` at ${path}`;
  return new EarshotError("EAR_SCENARIO_INVALID", `${source}:${line}${at}: ${expected}`);
}
