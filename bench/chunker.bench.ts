/**
 * What it costs to cut an answer while it streams: deltas a second through the chunker, and through
 * the watch for the silent token before it, against the plainest thing that could be done with the
 * same deltas, which is to collect them and cut every 1,200 units.
 */
import { createChunker } from "../src/machines/output/chunker.ts";
import { createSilence } from "../src/machines/output/silence.ts";
import { assertRatio, perSecond, randomFrom, report, round, short } from "./support.ts";

const random = randomFrom(7);
const words = "the answer is not as long as it looks, but it has some code in it.".split(" ");
const sentence = () =>
  Array.from({ length: 12 }, () => words[Math.floor(random() * words.length)]).join(" ");
const paragraph = (n: number) =>
  n % 7 === 6 ? `\`\`\`ts\n${`${sentence()};\n`.repeat(8)}\`\`\`` : `${sentence()}. `.repeat(5);
const text = Array.from({ length: 120 }, (_, n) => paragraph(n)).join("\n\n");

/** The same with a span in every sentence, and long paragraphs, so that each cut needs the parser. */
const formatted = Array.from({ length: 12 }, () =>
  Array.from({ length: 40 }, () => `${sentence()} **as it is** with \`code\`. `).join(""),
).join("\n\n");

/** Pieces of one to eight units, as models send them. */
function piecesOf(whole: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < whole.length; ) {
    const size = 1 + Math.floor(random() * 8);
    pieces.push(whole.slice(at, at + size));
    at += size;
  }
  return pieces;
}
const deltas = piecesOf(text);
const formattedDeltas = piecesOf(formatted);

let kept = 0;
const plain = () => {
  let rest = "";
  for (const delta of deltas) {
    rest += delta;
    while (rest.length >= 1_200) {
      kept += rest.slice(0, 1_200).length;
      rest = rest.slice(1_200);
    }
  }
};
const chunked = (pieces = deltas) => {
  const chunker = createChunker();
  for (const delta of pieces) kept += chunker.push(delta).length;
  kept += chunker.flush().length;
};
const watched = () => {
  const silence = createSilence({ token: "NO_REPLY", mixed: "strip" });
  for (const delta of deltas) kept += silence.push(delta).length;
  kept += silence.end().rest.length;
};
const answers = short ? 20 : 150;
const deltasPerSecond = (run: () => void) => perSecond(run, answers) * deltas.length;
const parsed = perSecond(() => chunked(formattedDeltas), short ? 2 : 10) * formattedDeltas.length;

const figures = {
  "chunker, deltas/s": deltasPerSecond(() => chunked()),
  "chunker on formatted text, deltas/s": parsed,
  "silence, deltas/s": deltasPerSecond(watched),
  "plain cut, deltas/s": deltasPerSecond(plain),
};
const over = figures["chunker, deltas/s"] / figures["plain cut, deltas/s"];
// Far below a tenth of the plainest cut there is, something has become quadratic.
assertRatio("chunker over a plain cut", over, 0.03);
report({
  bench: "chunker",
  unit: `deltas of ${round(text.length / deltas.length, 1)} units, one core`,
  figures: { ...figures, "units of the answer": text.length },
  ratios: {
    "chunker over a plain cut": round(over, 3),
    "silence over a plain cut": round(
      figures["silence, deltas/s"] / figures["plain cut, deltas/s"],
      3,
    ),
  },
});
void kept;
