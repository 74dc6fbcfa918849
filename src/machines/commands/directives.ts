/**
 * Commands among other words: found at the start of a message or behind a space, taken out before the
 * agent sees the text, in the documented order whatever the order in which they were written. The
 * spacing of the rest is kept. A word behind a level directive that is no level stays in the text.
 * Said twice, the later one counts. Nothing is read in what is only shown (shown-spans.ts).
 */

import { looksLikeModel } from "./argument-parsers.ts";
import type { ExtraName } from "./extension-commands.ts";
import { type Span, shownSpans } from "./quoted-spans.ts";
import { type CommandName, commandNamed, specOf } from "./table.ts";

/** A command with its words, in the form handlers expect. */
export interface CommandCall {
  readonly command: CommandName | ExtraName;
  readonly args: readonly string[];
}

/** One of the table's own. */
export interface BuiltInCall extends CommandCall {
  readonly command: CommandName;
}

export interface Directives {
  /** In the documented order, each command once. */
  readonly calls: readonly BuiltInCall[];
  /** What is left of the text. */
  readonly text: string;
}

/** The documented order. */
const order: readonly CommandName[] = [
  ...(["think", "verbose", "reasoning", "elevated", "exec"] as const),
  ...(["status", "model", "queue"] as const),
];
const found = /(?<=^|\s)\/([a-z]{1,16})(?=[\s:]|$)/giu;
const following = /[ \t]*(?::[ \t]*)?([^\s/]\S{0,127})(?=\s|$)/uy;
const elsewhere = /^[ \t]*host=/iu;
const colon = /[ \t]*:(?=\s|$)/uy;
const wordsMax: Partial<Record<CommandName, number>> = { queue: 4, exec: 3 };

/**
 * Takes the directives out of a text. `may` says whether the sender may give one; what he may not
 * stays where it is.
 */
export function takeDirectives(
  text: string,
  may: (call: BuiltInCall) => boolean,
  also: readonly Span[] = [],
): Directives {
  if (!text.includes("/")) return { calls: [], text };
  const shown = [...shownSpans(text), ...also].toSorted((a, b) => a.from - b.from);
  const calls = new Map<CommandName, BuiltInCall>();
  const taken: Span[] = [];
  let span = 0;
  for (const { 0: mark, 1: name = "", index } of text.matchAll(found)) {
    const command = commandNamed(name);
    if (command === undefined || specOf(command).form !== "inline") continue;
    while ((shown[span]?.to ?? Number.POSITIVE_INFINITY) <= index) span += 1;
    if ((shown[span]?.from ?? Number.POSITIVE_INFINITY) <= index) continue;
    const { args, to } = wordsBehind(text, command, index + mark.length);
    const call = { command, args };
    if (!may(call)) continue;
    if (args.length > 0 || !calls.has(command)) calls.set(command, call);
    taken.push({ from: index, to });
  }
  return {
    calls: order.flatMap((command) => calls.get(command) ?? []),
    text: without(text, taken),
  };
}

/** The words behind a directive that belong to it, and where they end. */
function wordsBehind(text: string, command: CommandName, from: number) {
  const args: string[] = [];
  const start = colonAt(text, from);
  let to = start;
  const most = wordsMax[command] ?? 1;
  while (args.length < most) {
    following.lastIndex = args.length === 0 ? from : to;
    const match = following.exec(text);
    if (match === null) break;
    const [whole, word = ""] = match;
    const value = wordOf(command, word);
    if (value === null) break;
    args.push(value);
    to = (args.length === 1 ? from : to) + whole.length;
  }
  // Freedom that was meant for another place is not given here.
  if (command === "exec" && elsewhere.test(text.slice(to, to + 64))) return { args: [], to: start };
  return { args, to };
}

/** A colon belongs to the directive before it, whatever follows. */
function colonAt(text: string, from: number): number {
  if (text[from] === ":") return from + 1;
  colon.lastIndex = from;
  return from + (colon.exec(text)?.[0].length ?? 0);
}

/** A word as the directive's own; null: it is none of its words. */
function wordOf(command: CommandName, word: string): string | null {
  if (command === "model" && !looksLikeModel(word)) return null;
  return specOf(command).args.safeParse([word]).data?.[0] ?? null;
}

const isSpace = (unit: string | undefined) => unit === " " || unit === "\t";

/**
 * The text without these parts, each with the spaces before it, or, at the start of a line, with
 * those behind it.
 */
function without(text: string, parts: readonly Span[]): string {
  const kept: string[] = [];
  let at = 0;
  let startsLine = true;
  for (const { from, to } of parts) {
    let end = from;
    while (isSpace(text[end - 1])) end -= 1;
    if (end > at) startsLine = text[end - 1] === "\n";
    kept.push(text.slice(at, end));
    at = to;
    while (startsLine && isSpace(text[at])) at += 1;
  }
  kept.push(text.slice(at));
  return kept.join("");
}
