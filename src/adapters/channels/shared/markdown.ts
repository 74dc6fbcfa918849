/**
 * Markdown of an answer
 * =====================
 * Block structure: fences, tables, headings, quotes, lists. The result is text with entities, as
 * Telegram has them (https://core.telegram.org/bots/api#messageentity); a channel with another
 * format converts them. Text can never be taken for markup. One pass over the lines, linear in the
 * input.
 */
import { inlineMarkdown } from "./inline.ts";
import { type Rendered, Rendering } from "./rendering.ts";

/** Largest padding of table cells, so a wide cell does not widen the others. */
const cellUnitsMax = 40;

const fencePattern = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)/;
const headingPattern = /^ {0,3}#{1,6}[ \t]+/;
const quotePattern = /^ {0,3}>[ \t]?/;
const bulletPattern = /^([ \t]*)[-*+][ \t]+(?=\S)/;
const rulePattern = /^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/;
const tableRulePattern = /^[ \t:|-]+$/;

/** Renders Markdown as text with entities. Unknown or broken markup stays as text. */
export function renderMarkdown(markdown: string): Rendered {
  const out = new Rendering();
  const lines = printable(markdown).split("\n");
  for (let at = 0; at < lines.length; ) {
    if (at > 0) out.add("\n");
    at =
      fence(out, lines, at) ??
      table(out, lines, at) ??
      quote(out, lines, at) ??
      line(out, lines, at);
  }
  return out.finish();
}

/** Well-formed Unicode without control characters, which Telegram refuses. */
function printable(text: string): string {
  return (
    Buffer.from(text, "utf8")
      .toString("utf8")
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  );
}

function fence(out: Rendering, lines: readonly string[], at: number): number | null {
  const open = fencePattern.exec(lines[at] as string);
  if (open === null) return null;
  const [, mark = "", language = ""] = open;
  // Further backticks make it a code span, as in ```x```.
  if (mark[0] === "`" && (lines[at] as string).includes("`", open[0].length)) return null;
  const closes = (candidate: string) => {
    const found = fencePattern.exec(candidate)?.[1] ?? "";
    return found[0] === mark[0] && found.length >= mark.length && candidate.trim() === found;
  };
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] as string)) end += 1;
  const from = out.length;
  out.add(lines.slice(at + 1, end).join("\n"));
  out.mark(language === "" ? { type: "pre" } : { type: "pre", language }, from);
  return Math.min(end + 1, lines.length);
}

const isTableRule = (candidate: string) =>
  tableRulePattern.test(candidate) && candidate.includes("-");
const isRow = (candidate: string | undefined) => candidate?.trimStart().startsWith("|") === true;

function table(out: Rendering, lines: readonly string[], at: number): number | null {
  if (!isRow(lines[at]) || !isTableRule(lines[at + 1] ?? "")) return null;
  let end = at;
  while (isRow(lines[end])) end += 1;
  const rows = lines.slice(at, end).map(cells);
  rows.splice(1, 1);
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.min(cellUnitsMax, Math.max(widths[column] ?? 0, cell.length));
    });
  const from = out.length;
  out.add(
    rows
      .map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd(),
      )
      .join("\n"),
  );
  out.mark({ type: "pre" }, from);
  return end;
}

const cells = (row: string): string[] => {
  const parts = row.trim().split("|");
  if (parts[0] === "") parts.shift();
  if (parts.at(-1) === "") parts.pop();
  return parts.map((cell) => cell.trim().replace(/\*\*|`/g, ""));
};

function quote(out: Rendering, lines: readonly string[], at: number): number | null {
  let end = at;
  const from = out.length;
  while (end < lines.length && quotePattern.test(lines[end] as string)) {
    if (end > at) out.add("\n");
    inlineMarkdown(out, (lines[end] as string).replace(quotePattern, ""));
    end += 1;
  }
  if (end === at) return null;
  out.mark({ type: "blockquote" }, from);
  return end;
}

function line(out: Rendering, lines: readonly string[], at: number): number {
  const text = lines[at] as string;
  if (rulePattern.test(text)) out.add("———");
  else if (headingPattern.test(text)) {
    const from = out.length;
    inlineMarkdown(out, text.replace(headingPattern, ""));
    out.mark({ type: "bold" }, from);
  } else inlineMarkdown(out, text.replace(bulletPattern, "$1• "));
  return at + 1;
}
