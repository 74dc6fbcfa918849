/** A found message for a terminal: its facts, and below them its text with the found words marked. */
import pico from "picocolors";
import { oneLine, terminalSafe } from "../../../domain/sanitize.ts";
import type { FoundView } from "../../api-types/search.ts";
import { decisionInks, type Paint, stateInk } from "./colors.ts";
import { wrapText } from "./wrap.ts";

interface Screen {
  readonly columns: number;
  readonly colour: boolean;
}

const minuteOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace("T", " ");

/** The lines, without a newline at the end. */
export function foundLines(message: FoundView, { columns, colour }: Screen): string {
  const paint = pico.createColors(colour);
  const { at, author, room, key, id } = message;
  const facts = [
    paint.dim(minuteOf(at)),
    paint.bold(oneLine(author.name)),
    `in ${oneLine(room)}`,
    ...verdictOf(message, paint),
  ];
  const where = [key, `#${id}`].filter((part) => part !== "").map((part) => oneLine(part, 240));
  return [
    wrapText(facts.join("  "), { columns, hang: 2 }),
    wrapText(`  ${markedText(message, paint)}`, { columns, hang: 2 }),
    paint.dim(`  ${where.join("  ")}`),
  ].join("\n");
}

function verdictOf({ decision, rule, outcome, kind }: FoundView, paint: Paint): string[] {
  const decided =
    decision === null ? [] : [`${decisionInks(paint)[decision](decision)} by ${rule}`];
  const ended = outcome === null ? [] : [stateInk(paint, outcome)(outcome)];
  return [...decided, ...ended, ...(kind === "history" ? ["from history"] : [])];
}

/** Cut at the marks first: what makes text safe may change its length. */
function markedText({ text, marks }: FoundView, paint: Paint): string {
  const parts: string[] = [];
  let at = 0;
  const flat = (part: string) => terminalSafe(part).replaceAll("\n", " ");
  for (const [from, to] of marks) {
    parts.push(flat(text.slice(at, from)));
    parts.push(paint.bold(paint.yellow(flat(text.slice(from, to)))));
    at = to;
  }
  return [...parts, flat(text.slice(at))].join("");
}
