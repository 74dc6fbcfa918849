/**
 * Text without loss
 * =================
 * SQLite stores UTF-8 and its drivers read a text up to the first NUL, so an id or text with a NUL
 * or half of a surrogate pair would come back changed: one person as another. Such characters are
 * written as a mark and four digits, and restored on reading. All other text is stored unchanged.
 */
import type { Statement, Value } from "./sqlite-driver.ts";

/** A code point without a meaning that occurs in no text (Unicode, noncharacters). */
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

function encodeAll(values: Value[]): Value[] {
  return values.some(isOdd) ? values.map(written) : values;
}

/** Restores the texts of a row, in place. */
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

/** A statement that accepts and returns any text. */
export function exactly(statement: Statement): Statement {
  return {
    run: (...values) => statement.run(...encodeAll(values)),
    get: (...values) => read(statement.get(...encodeAll(values))),
    all(...values) {
      const rows = statement.all(...encodeAll(values));
      for (const row of rows) read(row);
      return rows;
    },
  };
}
