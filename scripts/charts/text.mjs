// How wide words are. There is no browser here to ask, so widths are those of common fonts, a little
// generous: a reader whose font differs sees more air, never words over the edge.

export const sizes = {
  pad: 10,
  labelPad: 5,
  lineHeight: 14,
  dot: 10,
  rowHeight: { name: 18, about: 15, event: 14, gap: 5 },
};

/** Mean advance of a letter, px, at the size that svg.mjs sets for the kind. */
const advance = { name: 8.2, about: 6.3, event: 6.65, guard: 5.6, gap: 0 };

/** Estimated width of one line, px. */
export const widthOf = (kind, text) => Math.ceil(text.length * advance[kind]);

/** The words in lines of at most `width` px. */
export function linesOf(kind, text, width) {
  if (text === "") return [];
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(kind, longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
