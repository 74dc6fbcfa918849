/**
 * Inline Markdown
 * ===============
 * One line: code spans, bold, italic, strikethrough, spoiler, links. Marks are paired with a stack
 * that holds each kind at most once, so entities nest as Telegram requires and the work is linear
 * in the line; an unpaired mark stays as text.
 *
 * Only http, https and mailto links are kept: `tg://user?id=` would notify a person, and
 * `javascript:` is never legitimate. A link with an invisible label shows its address instead.
 */
import type { Entity, Rendering } from "./rendering.ts";

type Kind = "bold" | "italic" | "strikethrough" | "spoiler" | "link";
type Piece =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "code"; readonly text: string }
  /** A mark: plain text until it is paired, then the begin or end of an entity. */
  | {
      readonly is: "mark";
      readonly text: string;
      end?: "open" | "close";
      url?: string;
      kind: Kind;
    };

interface Open {
  readonly kind: Kind;
  readonly char: string;
  readonly width: number;
  readonly piece: Piece & { readonly is: "mark" };
}

const urlUnitsMax = 2_048;
const special = /[\\`*_~|[\]!<h]/g;
const urlStart = /https?:\/\/[^\s<>[\]()*`|"]+/y;
const autolink = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2048})>/y;
const linkTarget = /\]\(\s*<?([^\s<>()[\]]*(?:\([^\s<>()[\]]*\)[^\s<>()[\]]*)*)>?\s*\)/y;
const punctuation = /[!-/:-@[-`{-~]/;

export function inlineMarkdown(out: Rendering, line: string): void {
  emit(out, pair(line));
}

function pair(line: string): Piece[] {
  const pieces: Piece[] = [];
  const stack: Open[] = [];
  const codeEnds = codeSpanEnds(line);
  let at = 0;
  const literal = (to: number) => {
    if (to > at) pieces.push({ is: "text", text: line.slice(at, to) });
    at = to;
  };
  while (at < line.length) {
    special.lastIndex = at;
    const found = special.exec(line);
    literal(found?.index ?? line.length);
    if (found === null) break;
    at += consume(line, at, pieces, stack, codeEnds);
  }
  return pieces;
}

/** Handles the special character at `at`; returns the units consumed. */
function consume(
  line: string,
  at: number,
  pieces: Piece[],
  stack: Open[],
  codeEnds: ReadonlyMap<number, number>,
): number {
  const text = (taken: string) => {
    pieces.push({ is: "text", text: taken });
    return taken.length;
  };
  const char = line[at] as string;
  const next = line[at + 1] ?? "";
  switch (char) {
    case "\\":
      if (!punctuation.test(next)) return text(char);
      text(next);
      return 2;
    case "`": {
      const run = runLength(line, at);
      const end = codeEnds.get(at);
      if (end === undefined) return text(char.repeat(run));
      pieces.push({ is: "code", text: line.slice(at + run, end) });
      return end + run - at;
    }
    case "h":
      return text(match(urlStart, line, at)?.[0] ?? char);
    case "<": {
      const found = match(autolink, line, at);
      if (found === null) return text(char);
      text(found[1] as string);
      return found[0].length;
    }
    case "!":
    case "[":
      return openLink(char, next, pieces, stack);
    case "]":
      return closeLink(line, at, pieces, stack);
    default:
      return emphasis(line, at, pieces, stack);
  }
}

function openLink(char: string, next: string, pieces: Piece[], stack: Open[]): number {
  if (char === "!" && next !== "[") {
    pieces.push({ is: "text", text: char });
    return 1;
  }
  // An earlier unclosed bracket stays text.
  const earlier = stack.findIndex(({ kind }) => kind === "link");
  if (earlier >= 0) stack.splice(earlier, 1);
  const piece: Open["piece"] = { is: "mark", text: char === "!" ? "![" : "[", kind: "link" };
  pieces.push(piece);
  stack.push({ kind: "link", char: "[", width: 1, piece });
  return piece.text.length;
}

function closeLink(line: string, at: number, pieces: Piece[], stack: Open[]): number {
  const open = stack.findIndex(({ kind }) => kind === "link");
  const target = open < 0 ? null : match(linkTarget, line, at);
  if (target === null || target[0].length > urlUnitsMax) {
    pieces.push({ is: "text", text: "]" });
    return 1;
  }
  const { piece } = stack[open] as Open;
  stack.length = open;
  piece.end = "open";
  const url = safeUrl(target[1] as string);
  if (url !== null) piece.url = url;
  pieces.push({ is: "mark", text: target[0], end: "close", kind: "link" });
  return target[0].length;
}

function emphasis(line: string, at: number, pieces: Piece[], stack: Open[]): number {
  const char = line[at] as string;
  const run = runLength(line, at);
  const before = line[at - 1] ?? " ";
  const after = line[at + run] ?? " ";
  const inWord = char === "_" && isWord(before) && isWord(after);
  let left = run;
  const mark = (width: number, kind: Kind): Open["piece"] => {
    const piece: Open["piece"] = { is: "mark", text: char.repeat(width), kind };
    pieces.push(piece);
    left -= width;
    return piece;
  };
  while (left > 0 && !/\s/.test(before) && !inWord) {
    const open = stack.findLastIndex((candidate) => candidate.char === char);
    const opened = stack[open];
    if (opened === undefined || opened.width > left) break;
    stack.length = open;
    opened.piece.end = "open";
    mark(opened.width, opened.kind).end = "close";
  }
  while (left > 0 && !/\s/.test(after) && !inWord) {
    const [width, kind] = opening(char, left);
    if (kind === null || stack.some((other) => other.char === char && other.width === width)) break;
    const piece = mark(width, kind);
    stack.push({ kind, char, width, piece });
  }
  if (left > 0) pieces.push({ is: "text", text: char.repeat(left) });
  return run;
}

function opening(char: string, left: number): [number, Kind | null] {
  if (char === "~") return [2, left >= 2 ? "strikethrough" : null];
  if (char === "|") return [2, left >= 2 ? "spoiler" : null];
  return left >= 2 ? [2, "bold"] : [1, "italic"];
}

function emit(out: Rendering, pieces: readonly Piece[]): void {
  const open: { readonly from: number; readonly url: string | undefined }[] = [];
  for (const piece of pieces) {
    if (piece.is === "text") out.add(piece.text);
    else if (piece.is === "code") {
      const from = out.length;
      out.add(piece.text);
      out.mark({ type: "code" }, from);
    } else if (piece.end === undefined) out.add(piece.text);
    else if (piece.end === "open") open.push({ from: out.length, url: piece.url });
    else {
      const { from, url } = open.pop() as { from: number; url: string | undefined };
      if (piece.kind !== "link") out.mark({ type: piece.kind satisfies Entity["type"] }, from);
      else if (url !== undefined) {
        if (!out.showsSince(from)) out.add(url);
        out.mark({ type: "text_link", url }, from);
      }
    }
  }
}

/** For each run of backticks that starts a code span, where the span's closing run starts. */
function codeSpanEnds(line: string): Map<number, number> {
  const runs: { at: number; length: number }[] = [];
  for (let at = line.indexOf("`"); at >= 0; ) {
    const length = runLength(line, at);
    runs.push({ at, length });
    at = line.indexOf("`", at + length);
  }
  const ends = new Map<number, number>();
  const nextOfLength = new Map<number, number>();
  for (const { at, length } of runs.reverse()) {
    const end = nextOfLength.get(length);
    if (end !== undefined) ends.set(at, end);
    nextOfLength.set(length, at);
  }
  return ends;
}

function runLength(line: string, at: number): number {
  let end = at + 1;
  while (line[end] === line[at]) end += 1;
  return end - at;
}

const isWord = (char: string) => /[\p{L}\p{N}]/u.test(char);

function match(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}

function safeUrl(raw: string): string | null {
  if (!URL.canParse(raw)) return null;
  const url = new URL(raw);
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}
