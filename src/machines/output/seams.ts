/**
 * Where Markdown may be cut. The CommonMark parser (micromark, with tables and strikethrough) reads
 * the text, and says what must stay together: links, code spans, bold, rows of a table. A span that
 * does not fit into one block is closed before the cut and opened again behind it; a table that goes
 * on has its header again.
 */
import { parse, postprocess, preprocess } from "micromark";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import type { Hole } from "./breaks.ts";

/** Text that goes before and behind a part of a span or a table. */
export interface Wrap {
  readonly opens: string;
  readonly closes: string;
}

interface Span extends Wrap {
  readonly start: number;
  readonly end: number;
  /** What the marks surround; a cut elsewhere cannot be repaired. */
  readonly from: number;
  readonly to: number;
}

export interface Seams {
  /** Stretches that are not cut, in order, without overlap. */
  readonly holes: readonly Hole[];
  /** The same, where spans that can be closed and opened again may be cut. */
  readonly smallHoles: readonly Hole[];
  /** What a cut at `position` has to close and open again. */
  wrapAt(position: number): Wrap;
  /** Whether the text behind `position` would begin something that it does not begin here. */
  misreads(position: number): boolean;
}

const options = { extensions: [gfmTable(), gfmStrikethrough({ singleTilde: false })] };
/** The parser takes quadratic time in the number of marks. */
const marksMax = 800;
const marks = /[*_~[\]<>`&]/g;

const atomic: ReadonlySet<string> = new Set([
  "autolink",
  "characterEscape",
  "characterReference",
  "definition",
  "hardBreakEscape",
  "htmlText",
  "image",
  "setextHeading",
  "atxHeading",
  "codeFenced",
  "htmlFlow",
  "tableRow",
]);
const sequences: Readonly<Record<string, string>> = {
  strong: "strongSequence",
  emphasis: "emphasisSequence",
  strikethrough: "strikethroughSequence",
  codeText: "codeTextSequence",
};

interface Token {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function tokensOf(text: string): Token[] {
  const whole = text.replace(/^\ufeff/u, " ");
  const events = postprocess(
    parse(options)
      .document()
      .write(preprocess()(whole, undefined, true)),
  );
  return events.flatMap(([kind, { type, start, end }]) =>
    kind === "enter" ? [{ type, start: start.offset, end: end.offset }] : [],
  );
}

/** Intervals joined where they overlap, in order. */
export function joinHoles(all: readonly Hole[]): Hole[] {
  const holes: Hole[] = [];
  for (const [start, end] of [...all].sort((a, b) => a[0] - b[0])) {
    const last = holes.at(-1);
    if (last !== undefined && start < last[1])
      holes[holes.length - 1] = [last[0], Math.max(last[1], end)];
    else holes.push([start, end]);
  }
  return holes;
}

/** The span that a token is, with the marks that close and open it; null: none. */
function spanOf(tokens: readonly Token[], index: number, text: string): Span | null {
  const { type, start, end } = tokens[index] as Token;
  const part = (wanted: string) =>
    tokens.slice(index + 1).find((token) => token.type === wanted && token.end <= end);
  if (type === "link") {
    const label = part("label");
    if (label === undefined || label.end === end) return null;
    const from = start + 1;
    return {
      start,
      end,
      from,
      to: label.end - 1,
      opens: "[",
      closes: text.slice(label.end - 1, end),
    };
  }
  const opening = part(sequences[type] as string);
  if (opening === undefined) return null;
  const mark = text.slice(opening.start, opening.end);
  const from = start + mark.length;
  return { start, end, from, to: end - mark.length, opens: mark, closes: mark };
}

const references: ReadonlySet<string> = new Set(["link", "image"]);
const labels: ReadonlySet<string> = new Set(["referenceString", "labelText"]);

/** From each definition of a link to the links that need it, or back: they are not read apart. */
function referenced(tokens: readonly Token[], text: string): Hole[] {
  const nameOf = ({ start, end }: Token) =>
    text.slice(start, end).trim().replace(/\s+/gu, " ").toLowerCase().toUpperCase();
  const definitions = new Map<string, Token>();
  tokens.forEach((token, index) => {
    if (token.type !== "definition") return;
    const label = tokens.slice(index).find(({ type }) => type === "definitionLabelString");
    if (label !== undefined && !definitions.has(nameOf(label)))
      definitions.set(nameOf(label), token);
  });
  if (definitions.size === 0) return [];
  return tokens.flatMap((token, index): Hole[] => {
    if (!references.has(token.type)) return [];
    const inner = tokens.slice(index + 1).filter(({ end }) => end <= token.end);
    return inner
      .filter(({ type }) => labels.has(type))
      .flatMap((label): Hole[] => {
        const found = definitions.get(nameOf(label));
        if (found === undefined) return [];
        return [[Math.min(found.start, token.start), Math.max(found.end, token.end)]];
      });
  });
}

/** Begins a block where a line of a paragraph goes on. */
const blockStart =
  /^(?: {0,3}(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|`{3}|~{3}|<|\||\[[^\]\n]*\]:|[=-]+[ \t]*(?:\n|$)|(?:[-_*][ \t]*){3,}(?:\n|$)))/;

const indented = /^(?: {4}| {0,3}\t)/;

/** Whether the text from `position` on would begin a block if nothing came before it. */
export const beginsBlock = (text: string, position: number): boolean =>
  blockStart.test(text.slice(position, position + 64));

/** Reads a text with what goes before it; null: it has too many marks to be read. */
export function readSeams(before: string, rest: string): Seams | null {
  const text = before + rest;
  const count = text.match(marks)?.length ?? 0;
  if (count > marksMax) return null;
  const shift = before.length;
  const tokens = tokensOf(text);
  const hard: Hole[] = [];
  const spans: Span[] = [];
  const tables: { start: number; end: number; first: number; header: string }[] = [];
  const paragraphs: Token[] = [];
  const lists: Token[] = [];
  tokens.forEach((token, index) => {
    const { type, start, end } = token;
    if (type === "paragraph") paragraphs.push(token);
    if (type === "listOrdered" || type === "listUnordered") lists.push(token);
    if (atomic.has(type)) hard.push([start, end]);
    if (type === "link" || type in sequences) {
      const span = spanOf(tokens, index, text);
      if (span === null) hard.push([start, end]);
      else spans.push(span);
    }
    if (type === "table") {
      const [head, delimiter, row] = tokens
        .slice(index)
        .filter(
          (inner) =>
            (inner.type === "tableRow" || inner.type === "tableDelimiterRow") && inner.end <= end,
        );
      if (head === undefined || delimiter === undefined) return;
      const first = row?.end ?? delimiter.end;
      hard.push([start, first]);
      const header = `${text.slice(start, delimiter.end).trimEnd()}\n`;
      tables.push({ start, end, first, header });
    }
  });
  hard.push(...referenced(tokens, text));
  const moved = ([start, end]: Hole): Hole => [start - shift, end - shift];
  const edges = spans.flatMap(({ start, from, to, end }): Hole[] => [
    [start, from],
    [to, end],
  ]);
  return {
    holes: joinHoles([...hard, ...spans.map(({ start, end }): Hole => [start, end])]).map(moved),
    smallHoles: joinHoles([...hard, ...edges]).map(moved),
    wrapAt(position) {
      const at = position + shift;
      const table = tables.find(({ start, end }) => at > start && at < end);
      if (table !== undefined) return { opens: table.header, closes: "" };
      const open = spans.filter(({ from, to }) => at > from && at < to);
      return {
        opens: open.map(({ opens }) => opens).join(""),
        closes: open
          .map(({ closes }) => closes)
          .reverse()
          .join(""),
      };
    },
    misreads(position) {
      const at = position + shift;
      const isIn = ({ start, end }: Token) => at > start && at < end;
      if (paragraphs.some(isIn) && beginsBlock(text, at)) return true;
      // Indentation that belongs to an item makes code of what follows.
      return lists.some(isIn) && indented.test(text.slice(at, at + 4));
    },
  };
}
