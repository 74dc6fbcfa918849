/**
 * A message's text as the agent reads it
 * ======================================
 * Signal writes U+FFFC where a person is mentioned, and names them beside the text with start and length
 * in UTF-16 units, as it does with styles. Names are put in, and what lies behind them moves. What Signal
 * shows and a prompt cannot is one line in brackets.
 */
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { SignalNames } from "./names.ts";
import type { WireData } from "./wire.ts";

type WireMention = NonNullable<WireData["mentions"]>[number];

export interface ReadText {
  readonly text: string;
  readonly mentions: Inbound["mentions"];
  readonly verbatim: readonly (readonly [number, number])[];
}

/** The text with names in the places of its mentions. Ranges that do not fit the text are ignored. */
export function readText(
  { message, mentions, textStyles }: Pick<WireData, "message" | "mentions" | "textStyles">,
  names: SignalNames,
): ReadText {
  const raw = message ?? "";
  const fits = ({ start, length }: { start: number; length: number }) =>
    start + length <= raw.length;
  const places = (mentions ?? [])
    .filter(fits)
    .sort((a: WireMention, b: WireMention) => a.start - b.start);
  const found: Inbound["mentions"] = [];
  const moves: { readonly at: number; readonly by: number }[] = [];
  let text = "";
  let from = 0;
  for (const mention of places) {
    const id = names.idOf(mention);
    if (mention.start < from || id === null) continue;
    const isSelf = id === names.self.id;
    const name = names.nameOf(id);
    const shown = `@${name ?? id}`;
    text += raw.slice(from, mention.start) + shown;
    from = mention.start + mention.length;
    moves.push({ at: from, by: shown.length - mention.length });
    found.push({ id, isSelf, ...(name !== null && { name }) });
  }
  text += raw.slice(from);
  const moved = (place: number) =>
    moves.reduce((to, { at, by }) => (at <= place ? to + by : to), place);
  const verbatim = (textStyles ?? [])
    .filter((style) => style.style === "MONOSPACE" && style.length > 0 && fits(style))
    .map(({ start, length }) => [moved(start), moved(start + length)] as const);
  const mentioned = found.filter(
    ({ id }, index) => found.findIndex((other) => other.id === id) === index,
  );
  return { text: text.slice(0, limits.textUnitsMax), mentions: mentioned, verbatim };
}

const oneOf = (...values: (string | null | undefined)[]) =>
  values.find((value) => value != null && value !== "") ?? null;

/** What else a message shows, a line each. */
export function linesOf(data: WireData): readonly string[] {
  const lines: string[] = [];
  if (data.sticker != null) lines.push("[sticker]");
  for (const { name } of data.contacts ?? []) {
    const parts = [name?.given, name?.family].filter(Boolean).join(" ");
    lines.push(`[contact: ${oneOf(name?.display, parts) ?? "without a name"}]`);
  }
  if (data.pollCreate != null) {
    const { question, options } = data.pollCreate;
    lines.push(`[poll: ${question} · ${options.slice(0, 30).join(" / ")}]`);
  }
  if (data.payment != null) lines.push("[payment]");
  for (const { id, filename } of data.attachments ?? [])
    if (id == null) lines.push(`[file that was not received${filename ? `: ${filename}` : ""}]`);
  return lines.map((line) => line.slice(0, limits.labelUnitsMax));
}
