/** The table of `growth` in bench/README.md: one row for each part, a cell for each size. */
import { round } from "../support.ts";
import type { Plot } from "./growth-svg.ts";

const begin = "<!-- growth: begin -->";
const end = "<!-- growth: end -->";

/** The table, and below it where it was measured. */
export function growthTable(plots: readonly Plot[], about: string): string {
  const cells = plots.map(({ title, unit, points }) => [
    `${title}: CPU`,
    ...Object.entries(points).map(
      ([size, value]) => `${Number(size).toLocaleString("en")}: ${shown(value)} ${unit}`,
    ),
  ]);
  const columns = Math.max(...cells.map((row) => row.length));
  const line = (row: readonly string[]) =>
    `|${Array.from({ length: columns }, (_, n) => (row[n] === undefined ? " |" : ` ${row[n]} |`)).join("")}`;
  const rows = [line([]), `|${"---|".repeat(columns)}`, ...cells.map(line)];
  return `${rows.join("\n")}\n\n${about}.`;
}

/** The text of the page with this table in the place of its own. @throws when it has none. */
export function withTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`Cannot write the table: bench/README.md has no "${begin}" before "${end}"`);
  return `${page.slice(0, from)}${begin}\n${table}\n${page.slice(to)}`;
}

const shown = (value: number) => (value < 10 ? round(value, 1) : Math.round(value));
