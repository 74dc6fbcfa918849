/**
 * Markdown on a terminal
 * ======================
 * Shows what an agent writes with bold, code, lists, quotes and links, wrapped at words. It parses
 * Markdown with the same code as for the platforms, so all show the same.
 *
 * Text is sanitised before parsing, and marks become styles from a closed list: no answer can move
 * the cursor or hide the target of a link.
 */
import pc from "picocolors";
import { renderMarkdown } from "../../../adapters/channels/shared/markdown.ts";
import type { Entity, Rendered } from "../../../adapters/channels/shared/rendering.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { boundedIndent, hangingIndentOf, wrapLine, wrapText } from "./wrap.ts";

type Paint = (text: string) => string;

const ink = pc.createColors(true);
const styles: Readonly<Record<Entity["type"], Paint>> = {
  bold: ink.bold,
  italic: ink.italic,
  strikethrough: ink.strikethrough,
  spoiler: ink.inverse,
  code: ink.cyan,
  pre: ink.cyan,
  blockquote: ink.dim,
  text_link: ink.underline,
};

const preLead = "  ";
const quoteLead = "│ ";

interface TextShape {
  /** Of the screen. */
  readonly columns: number;
  /** Columns of the first row that are taken already. @default 0 */
  readonly taken?: number;
  /** Whether to use escape sequences; otherwise the text stays as written. */
  readonly colour: boolean;
}

/** An agent's text as lines for a terminal, without a newline at the end. */
export function terminalText(text: string, shape: TextShape): string {
  const { columns, colour, taken = 0 } = shape;
  const safe = terminalSafe(text.replaceAll("\t", "    "));
  if (!colour) return wrapText(safe, { columns, taken });
  const whole = withAddresses(renderMarkdown(safe));
  const rows: string[] = [];
  let from = 0;
  for (const line of whole.text.split("\n")) {
    const lineShape = { columns, taken: from === 0 ? taken : 0 };
    rows.push(...styledRows(whole, from, line, lineShape));
    from += line.length + 1;
  }
  return rows.join("\n");
}

/** The rows of the line that starts at `start`. */
function styledRows(
  whole: Rendered,
  start: number,
  line: string,
  { columns, taken }: { readonly columns: number; readonly taken: number },
): string[] {
  const inside = (type: Entity["type"]) =>
    whole.entities.some(
      (entity) =>
        entity.type === type && entity.offset <= start && start < entity.offset + entity.length,
    );
  const pre = inside("pre");
  const lead = pre ? preLead : inside("blockquote") ? ink.dim(quoteLead) : "";
  const width = Math.max(1, columns - (lead === "" ? 0 : preLead.length));
  const hang = pre ? 0 : boundedIndent(hangingIndentOf(line), width);
  const shape = { columns: width, taken, hang, at: pre ? "any" : "words" } as const;
  return wrapLine(line, shape).map(({ from, to }, row) => {
    const setIn = row === 0 ? "" : " ".repeat(hang);
    return `${lead}${setIn}${painted(whole, start + from, start + to)}`;
  });
}

/** A range of the text with its styles. */
function painted({ text, entities }: Rendered, from: number, to: number): string {
  const here = entities.filter(({ offset, length }) => offset < to && offset + length > from);
  const edges = here.flatMap(({ offset, length }) => [offset, offset + length]);
  const cuts = [...new Set([from, ...edges.filter((edge) => edge > from && edge < to), to])];
  cuts.sort((a, b) => a - b);
  return cuts
    .slice(1)
    .map((end, index) => {
      const start = cuts[index] ?? from;
      const over = here.filter(({ offset, length }) => offset <= start && offset + length >= end);
      return over.reduce((piece, { type }) => styles[type](piece), text.slice(start, end));
    })
    .join("");
}

/** Adds a link's address after its label, because a terminal does not show it on hover. */
function withAddresses({ text, entities }: Rendered): Rendered {
  const notes = entities.flatMap(({ type, offset, length, url }) => {
    const label = text.slice(offset, offset + length);
    const isShown = url === undefined || label === url || `${label}/` === url;
    return type !== "text_link" || isShown ? [] : [{ at: offset + length, note: ` (${url})` }];
  });
  if (notes.length === 0) return { text, entities };
  notes.sort((a, b) => a.at - b.at);
  /** The position after insertion; notes at the position itself follow it. */
  const moved = (place: number, edge: "start" | "end") =>
    notes.reduce(
      (sum, { at, note }) =>
        at < place || (at === place && edge === "start") ? sum + note.length : sum,
      place,
    );
  let done = 0;
  const parts = notes.map(({ at, note }) => {
    const part = text.slice(done, at) + note;
    done = at;
    return part;
  });
  return {
    text: parts.join("") + text.slice(done),
    entities: entities.map((entity) => {
      const offset = moved(entity.offset, "start");
      return { ...entity, offset, length: moved(entity.offset + entity.length, "end") - offset };
    }),
  };
}
