/**
 * Links and quotes as plain text, for platforms that have no markup for them.
 */
import type { Rendered } from "./rendering.ts";

/** The same with the address behind the words of each link, and "> " before each line of a quote. */
export function writtenOut({ text, entities }: Rendered): Rendered {
  const added: { readonly at: number; readonly text: string }[] = [];
  for (const { type, offset, length, url } of entities) {
    const words = text.slice(offset, offset + length);
    if (type === "text_link" && url !== undefined && !url.startsWith(words))
      added.push({ at: offset + length, text: ` (${url})` });
    if (type !== "blockquote") continue;
    added.push({ at: offset, text: "> " });
    for (const { index } of words.matchAll(/\n/g))
      added.push({ at: offset + index + 1, text: "> " });
  }
  added.sort((a, b) => a.at - b.at);
  let out = "";
  let from = 0;
  for (const one of added) {
    out += text.slice(from, one.at) + one.text;
    from = one.at;
  }
  out += text.slice(from);
  /** What is added at a start lies before it; at an end, behind it. */
  const moved = (place: number, isEnd: boolean) =>
    added.reduce(
      (to, one) => (one.at < place || (one.at === place && !isEnd) ? to + one.text.length : to),
      place,
    );
  const shifted = entities.map((entity) => {
    const offset = moved(entity.offset, false);
    return { ...entity, offset, length: moved(entity.offset + entity.length, true) - offset };
  });
  return { text: out, entities: shifted };
}
