/**
 * Scenarios
 * =========
 * JSON Lines, one event a line, `t` in ms from the start and never decreasing. One format for
 * recordings, simulations, fixtures and the room simulator. A bad line is refused with its number,
 * the path inside it and what was expected; nothing of the file is run then.
 */
import { z } from "zod";
import { EarshotError } from "./errors.ts";
import { limits } from "./limits.ts";
import {
  deletionSchema,
  editSchema,
  historySchema,
  inboundSchema,
  membershipSchema,
} from "./message.ts";
import { scriptedRunSchema } from "./script.ts";

const t = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const name = z.string().min(1).max(limits.idUnitsMax);

/** The first line, optional: format version, config overlay, the epoch ms that `t` 0 stands for. */
const headerSchema = z.strictObject({
  earshot: z.literal(1),
  config: z.record(z.string(), z.unknown()).default({}),
  start: z.number().int().min(0).optional(),
});
export type ScenarioHeader = z.infer<typeof headerSchema>;

const lineSchemas = {
  in: z.strictObject({ t, in: inboundSchema }),
  edit: z.strictObject({ t, edit: editSchema }),
  delete: z.strictObject({ t, delete: deletionSchema }),
  membership: z.strictObject({ t, membership: membershipSchema }),
  history: z.strictObject({ t, history: historySchema }),
  agent: z.strictObject({
    t,
    agent: z.strictObject({
      agentId: name.default("main"),
      runs: z.array(scriptedRunSchema).min(1).max(10_000),
    }),
  }),
  platform: z.strictObject({
    t,
    platform: z.strictObject({
      channel: name,
      send: z.enum(["ok", "fail", "hang", "429"]),
      retryAfterMs: z.number().int().min(0).max(86_400_000).default(1_000),
      count: z.number().int().min(1).max(1_000_000).default(1),
    }),
  }),
  approve: z.strictObject({ t, approve: z.strictObject({ code: name }) }),
  crash: z.strictObject({ t, crash: z.enum(["host", "process"]) }),
  passivate: z.strictObject({ t, passivate: z.literal(true) }),
  end: z.strictObject({ t, end: z.literal(true) }),
} as const;
type LineSchemas = typeof lineSchemas;
type LineKind = keyof LineSchemas;
const lineKinds = Object.keys(lineSchemas) as LineKind[];

/** One parsed line, told apart by the key beside `t`. */
export type ScenarioLine = { [Kind in LineKind]: z.infer<LineSchemas[Kind]> }[LineKind];

/** For the published JSON Schema. */
export const scenarioLineSchema = z.union([
  headerSchema,
  ...(Object.values(lineSchemas) as [LineSchemas["in"], ...LineSchemas[LineKind][]]),
]);

/** A whole scenario, ready to run. */
export interface Scenario {
  readonly header: ScenarioHeader;
  readonly lines: readonly ScenarioLine[];
  /** Where the header stands, as errors about it name it: `file:line`. Absent without a header. */
  readonly headerAt?: string;
}

const noHeader: ScenarioHeader = { earshot: 1, config: {} };

/** One text line or one object of a scenario, with the number people see. */
interface Numbered {
  readonly number: number;
  readonly value: unknown;
}

/**
 * Parses JSON Lines. Blank lines are passed over. `source` names the file in errors.
 * @throws EarshotError EAR_SCENARIO_INVALID naming file, line, path and what was expected.
 */
export function parseScenario(text: string, source: string): Scenario {
  const values: Numbered[] = [];
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    try {
      values.push({ number: index + 1, value: JSON.parse(line) as unknown });
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause);
      throw wrong(source, index + 1, "", `expected one JSON object: ${what}`);
    }
  });
  return assemble(values, source);
}

/** The same for lines that are objects already, as `POST /api/simulate` has them. */
export function scenarioOf(values: readonly unknown[], source: string): Scenario {
  return assemble(
    values.map((value, index) => ({ number: index + 1, value })),
    source,
  );
}

function assemble(values: readonly Numbered[], source: string): Scenario {
  const first = values[0];
  const hasHeader = first !== undefined && isObject(first.value) && "earshot" in first.value;
  const header = hasHeader ? check(headerSchema, first, source) : noHeader;
  const lines: ScenarioLine[] = [];
  let last = 0;
  for (const numbered of hasHeader ? values.slice(1) : values) {
    const line = parseLine(numbered, source);
    if (line.t < last)
      throw wrong(
        source,
        numbered.number,
        "t",
        `expected at least ${last}, the time of the line before: received ${line.t}`,
      );
    last = line.t;
    lines.push(line);
  }
  return hasHeader ? { header, lines, headerAt: `${source}:${first.number}` } : { header, lines };
}

function parseLine(numbered: Numbered, source: string): ScenarioLine {
  const { value, number } = numbered;
  if (!isObject(value)) throw wrong(source, number, "", 'expected an object with "t" and an event');
  if ("earshot" in value)
    throw wrong(source, number, "earshot", "expected the header on the first line only");
  const kind = lineKinds.find((candidate) => Object.hasOwn(value, candidate));
  if (kind === undefined)
    throw wrong(
      source,
      number,
      "",
      `expected one of ${lineKinds.join(", ")}: received ${Object.keys(value).slice(0, 8).join(", ")}`,
    );
  return check(lineSchemas[kind] as z.ZodType<ScenarioLine>, numbered, source);
}

function check<Parsed>(
  schema: z.ZodType<Parsed>,
  { value, number }: Numbered,
  source: string,
): Parsed {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { path, message } =
    issue === undefined ? { path: [], message: "not a scenario line" } : nearest(issue);
  throw wrong(source, number, path.join("."), message);
}

interface Told {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Of a choice that failed, the one branch that was nearly right; else the choice itself. */
function nearest(issue: z.core.$ZodIssue): Told {
  if (issue.code !== "invalid_union") return issue;
  const only = issue.errors.filter(({ length }) => length === 1).map(([inner]) => inner);
  const [inner] = only;
  if (only.length !== 1 || inner === undefined) return issue;
  return { path: [...issue.path, ...inner.path], message: inner.message };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function wrong(source: string, line: number, path: string, expected: string): EarshotError {
  const at = path === "" ? "" : ` at ${path}`;
  return new EarshotError("EAR_SCENARIO_INVALID", `${source}:${line}${at}: ${expected}`);
}
