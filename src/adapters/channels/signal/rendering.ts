/**
 * Markdown as Signal shows it
 * ===========================
 * Signal has a text and styles with start and length in UTF-16 units (signal-cli(1), --text-style): bold,
 * italic, strikethrough, spoiler, monospace. A link is its words with the address behind them, a quote has
 * "> " before each line.
 */
import { limits } from "../../../domain/limits.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { type Entity, splitRendered } from "../shared/rendering.ts";
import { writtenOut } from "../shared/written-out.ts";
import { signalTextLimit } from "./config.ts";

export interface SignalText {
  readonly message: string;
  /** `start:length:STYLE` */
  readonly styles: readonly string[];
}

const styleOf: Readonly<Partial<Record<Entity["type"], string>>> = {
  bold: "BOLD",
  italic: "ITALIC",
  strikethrough: "STRIKETHROUGH",
  spoiler: "SPOILER",
  code: "MONOSPACE",
  pre: "MONOSPACE",
};

/** The messages that a Markdown text becomes. */
export function signalTexts(markdown: string, most: number = limits.sendPartsMax): SignalText[] {
  // The letter stands for a mention, which an answer has none of.
  const whole = writtenOut(renderMarkdown(markdown.replaceAll("\ufffc", "")));
  return splitRendered(whole, signalTextLimit, most).map(({ text, entities }) => ({
    message: text,
    styles: entities.flatMap(({ type, offset, length }) => {
      const style = styleOf[type];
      return style === undefined ? [] : [`${offset}:${length}:${style}`];
    }),
  }));
}
