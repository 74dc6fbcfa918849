/**
 * Text as it is
 * =============
 * SQLite keeps UTF-8 and its drivers read a text up to the first NUL, so ids and words that hold one,
 * or half of a surrogate pair, would come back as others: a person as somebody else. Such letters
 * are written as a mark and four digits, and read back as what they were. All other text is kept as
 * it is.
 */
import type { Statement, Value } from "./sqlite-driver.ts";

/** A code point that stands for nothing and is in no text (Unicode, noncharacters). */
const mark = "\ufffe";
const odd = /[\0\ufffe]|\p{Cs}/gu;
const marked = /\ufffe([0-9a-f]{4})/g;

/** ES2024; Node has it since 20. */
type WellFormed = string & { isWellFormed(): boolean };

const isOdd = (value: Value): value is string =>
  typeof value === "string" &&
  (value.includes("\0") || value.includes(mark) || !(value as WellFormed).isWellFormed());

function written(value: Value): Value {
  if (!isOdd(value)) return value;
  return value.replace(odd, (letter) => mark + letter.charCodeAt(0).toString(16).padStart(4, "0"));
}

function given(values: Value[]): Value[] {
  return values.some(isOdd) ? values.map(written) : values;
}

/** The row with its texts as they were given; changed in place. */
function read(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  const fields = row as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === "string" && value.includes(mark))
      fields[name] = value.replace(marked, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
  }
  return row;
}

/** A statement that takes and gives any text. */
export function exactly(statement: Statement): Statement {
  return {
    run: (...values) => statement.run(...given(values)),
    get: (...values) => read(statement.get(...given(values))),
    all(...values) {
      const rows = statement.all(...given(values));
      for (const row of rows) read(row);
      return rows;
    },
  };
}
