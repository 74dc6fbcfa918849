/** Times in options: a span back from now, or a date. */
import { EarshotError } from "../../../domain/errors.ts";

const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses a time: a span before `now`, or a date, in local time unless it names a zone. */
export function momentOf(text: string, now: number): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhdw])$/u.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, now - Number(count) * (units[unit] ?? 0));
  const isDate = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/u.test(text);
  // A date alone would be read as UTC.
  const at = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  if (!Number.isNaN(at)) return Math.max(0, at);
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot read the time: expected 30m, 12h, 7d or 2026-11-21T18:00, received ${JSON.stringify(text.slice(0, 64))}`,
  );
}
