/**
 * Where some answers are cut, to the unit. Cuts depend on the text alone, so that a replay shows the messages
 * that were sent: a change that moves a cut of these has to be wanted. For each text and size
 * `cuts.golden.json` has the blocks, one a line: after how many units of the answer it is certain, from where
 * to where it goes, and what opens and closes it. `EARSHOT_GOLDEN=write` writes what the chunker does now.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ChunkerOptions, createChunker } from "../../../src/machines/output/chunker.ts";

const path = join(import.meta.dirname, "cuts.golden.json");
const words = (count: number) =>
  Array.from({ length: count }, (_, n) => "tea with milk and no sugar".split(" ")[n % 6]).join(" ");

/** By what is in it. */
const texts: Readonly<Record<string, string>> = {
  words: words(60),
  "a word without end": `${"tea".repeat(60)} ${words(9)}`,
  sentences: `${words(6)}. ${words(3)}! ${words(9)}? "${words(2)}." ${words(5)}... ${words(12)}`,
  "lines and paragraphs": `${words(5)}\n${words(4)}\n\n${words(8)}\n\n\n  ${words(3)}\n\t${words(9)}\r\n${words(6)}\r\n\r\n${words(7)}`,
  blanks: `  \n\n ${words(3)}${" ".repeat(70)}${words(4)}\n${"\n".repeat(50)}${words(2)}   \n\n  `,
  "scripts without spaces": `${"漢字".repeat(9)}。${"かな".repeat(12)}。」${"字".repeat(30)}！？${"語".repeat(9)}`,
  "characters of several units": `${"👨‍👩‍👧‍👦".repeat(4)} ${"é".repeat(20)}${"🇩🇪".repeat(9)} ${"😀".repeat(14)}`,
  "bold, longer than a block": `${words(4)} **${words(30)}** ${words(5)}`,
  "bold at the edge": `${words(3)} **${words(2)}** ${words(2)} *${words(3)}* ~~${words(2)}~~ __${words(4)}__ ${words(4)}`,
  "one in another": `**${words(3)} *${words(9)} \`${words(6)}\` ${words(3)}* ${words(5)}** ${words(3)}`,
  "code in a line": `${words(3)} \`${words(9)}\` ${words(2)} \`\`a \` b ${words(6)}\`\` ${words(5)}`,
  "code with blanks": `\`${words(3)}     ${words(3)}      ${words(3)}\`     ${words(4)}`,
  links: `${words(2)} [${words(3)}](https://x.io/a) ${words(3)} [${words(14)}](https://x.io/b "c") ${words(4)} <https://x.io/c_d> ![${words(3)}](y.png) ${words(3)}`,
  references: `${words(3)} [tea][1] ${words(8)} [two] ${words(6)}\n\n[1]: https://x.io\n[two]: <https://y.io>\n\n${words(9)}`,
  "stray marks": `${words(2)} ** ${words(3)} _a b_c [x ${words(4)} \`${words(3)} ]( ${words(5)} ~~ &amp; \\* ${words(4)} <b>${words(3)}</b>`,
  headings: `# ${words(4)}\n${words(3)}\n## ${words(12)}\n\n${words(3)}\n=====\n${words(9)}\n---\n${words(7)}`,
  "a line that begins with a mark": `${words(3)} - ${words(4)} 1. ${words(3)} # ${words(4)} > ${words(3)} + ${words(4)} | ${words(3)} === ${words(5)}`,
  quotes: `> ${words(6)}\n> ${words(9)}\n>> ${words(4)}\n\n${words(6)}`,
  "a list": `${words(2)}:\n\n- ${words(4)}\n- ${words(6)}\n  - ${words(3)}\n  - ${words(5)}\n\n    ${words(3)}\n- ${words(20)}\n\n${words(5)}`,
  "a numbered list": `1. ${words(6)}\n2. ${words(3)}\n   ${words(4)}\n10. ${words(9)}\n11) ${words(4)}\n\n${words(4)}`,
  "a table": `${words(2)}\n\n| a | b |\n|--|:-:|\n| tea | 1 |\n| milk | 2 \\| 3 |\n| sugar | 4 |\n| no | 5 |\n| and | 6 |\n\n${words(6)}`,
  "a wide table": `| ${words(5)} | ${words(3)} |\n|--|--|\n| ${words(3)} | ${words(4)} |\n| ${words(2)} | ${words(9)} |\n${words(3)}`,
  "code of lines": `${words(3)}:\n\`\`\`ts\nlet tea = 1;\nlet milk = 2;\n\nlet sugar = 3;\n\`\`\`\n${words(6)}\n~~~\n${words(12)}\n~~~\n${words(3)}`,
  "code that fits nowhere": `${words(2)}\n\`\`\`\n${"tea\n".repeat(30)}\`\`\`\n${words(4)}\n   ~~~~ md\n${"x".repeat(90)}\n${"y\n".repeat(6)}   ~~~~\nend`,
  "code that stays open": `${words(5)}\n\n\`\`\`sh\n${"echo tea\n".repeat(9)}`,
  "code that begins": `\`\`\`\n${"a b\n".repeat(8)}\`\`\`\n\n\`\`\`\n${"c\n".repeat(3)}\`\`\`\n${words(3)}`,
  "a fence with a long name": `\`\`\`${"name".repeat(9)}\n${"tea\n".repeat(9)}\`\`\`\`\`\`\`\`\`\`\`\n${words(4)}`,
  "blank lines in code": `\`\`\`\n\n\n${" ".repeat(40)}\n\n${"\n".repeat(30)}tea\n\`\`\`\n${words(3)}`,
  HTML: `<div>\n${words(5)}\n</div>\n\n${words(3)} <a href="x">${words(4)}</a> <!-- ${words(3)} --> ${words(6)}`,
};

const sizes: readonly ChunkerOptions[] = [
  { minChars: 1, maxChars: 16 },
  { minChars: 12, maxChars: 24, prefer: "sentence" },
  { minChars: 30, maxChars: 40 },
  { minChars: 20, maxChars: 64, prefer: "newline" },
  { minChars: 60, maxChars: 100 },
];

/** Long enough for blocks to be certain before the end. */
const streams: Readonly<Record<string, string>> = {
  paragraphs: `${words(30)}\n\n${words(30)}\n \t\n${words(30)}\r\n\r\n${words(20)}\n\n\n  ${words(60)}`,
  "lines that begin blocks": `${words(40)}\n${words(9)}\n# ${words(5)}\n${words(20)}\n1. ${words(9)}\n- ${words(40)}\n\n  2) ${words(50)}`,
  "marks in paragraphs": `${words(9)} **${words(4)}** ${words(12)}\n\n${words(20)} _${words(2)}_ ${words(9)}\n${words(9)} \`${words(3)}\` ${words(30)}\n\n${words(60)}`,
  "bold without end": `${words(9)} **${words(160)}\n\n${words(9)}`,
  "a link without end": `${words(6)} [${words(70)}](https://x.io) ${words(60)}`,
  "a definition far behind": `[tea][1] ${words(12)}\n\n${words(12)}\n\n[1]: https://x.io\n\n${words(70)}`,
  "code behind few words": `Tea:\n\`\`\`\n${"milk and sugar\n".repeat(5)}\`\`\`\n${words(9)}:\n~~~ sh\n${"x = 1\n".repeat(60)}~~~\n${words(60)}`,
  "code behind blanks": `\n\n \n\`\`\`\n${"milk and sugar\n".repeat(20)}\`\`\`\n\n\n${" \n".repeat(30)}~~~\n${"x = 1\n".repeat(40)}`,
  "rows and items": `| a | b |\n|--|--|\n${"| tea | milk |\n".repeat(14)}\n${Array.from({ length: 14 }, (_, n) => `${n + 1}. ${words(4)}\n   - ${words(3)}\n`).join("")}\n${words(60)}`,
  "code that just fits": `Tea:\n\`\`\`\n${"x".repeat(23)}\n\`\`\`\nMilk:\n~~~\n${"y".repeat(81)}\n~~~\nTea:\n~~~\n${"z".repeat(24)}\n~~~\nno:\n~~~\n${"w".repeat(82)}\n~~~\n${words(90)}`,
  "bold over several blocks": `${words(9)} **${words(70)}** ${words(9)}\n\n${words(40)} _${words(55)}_\n1. ${words(70)}`,
};
const streamSizes: readonly ChunkerOptions[] = [
  { minChars: 20, maxChars: 32 },
  { minChars: 50, maxChars: 90, prefer: "sentence" },
];

interface Range {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}
/** Cut at each size of a range, as it is at the edges that cuts differ. */
const ranges: readonly Range[] = [
  {
    text: `${words(4)}:\n\`\`\`ts\n${"let tea;\n".repeat(4)}\`\`\`\n\n${words(3)} **${words(9)}** ${words(2)} [${words(3)}](x.io) ${words(3)}`,
    from: 16,
    to: 90,
  },
  {
    text: `\`\`\`\n${"x\n".repeat(20)}\`\`\`\`\`\`\`\`\ntea\n~~~\n\n~~~\n${"y".repeat(40)} *${words(4)} **${words(5)}** ${words(4)}*`,
    from: 16,
    to: 80,
  },
  {
    text: `- ${words(5)}\n- ${words(4)}\n  - ${words(2)}\n\n| a | b |\n|--|--|\n| tea | 1 |\n| no | 2 |\n\n[a][b] \`${words(5)}\`${" ".repeat(20)}${words(3)}\n\n[b]: x`,
    from: 16,
    to: 80,
  },
  { text: `[${words(18)}](https://x.io) ${words(4)}`, from: 70, to: 112 },
  { text: `**${`[${words(2)}](x.io) `.repeat(6)}and ${words(4)}**`, from: 16, to: 60 },
  {
    text: `${"\n".repeat(13)}\`\`\`\n${"tea with milk\n".repeat(3)}\`\`\`\n${" \n".repeat(8)}   ~~~\n${"no".repeat(30)}\n   ~~~`,
    from: 16,
    to: 44,
  },
];

/** What comes of a text that arrives one unit at a time. */
function cuts(text: string, options: ChunkerOptions): string[] {
  const chunker = createChunker(options);
  const lines: string[] = [];
  const note = (at: number | "end", blocks: ReturnType<typeof chunker.push>) => {
    for (const { from, to, opens, closes, final, text: block } of blocks) {
      expect(block).toBe(opens + text.slice(from, to) + closes);
      const wraps = opens + closes === "" ? "" : ` ${JSON.stringify([opens, closes])}`;
      lines.push(`${at}: ${from}-${to}${final ? " final" : ""}${wraps}`);
    }
  };
  for (let at = 0; at < text.length; at += 1) note(at + 1, chunker.push(text.charAt(at)));
  note("end", chunker.flush());
  return lines;
}

/** One line for each size: where the blocks end, and a mark for what is closed or opened there. */
const bySize = ({ text, from, to }: Range): string[] =>
  Array.from({ length: to - from + 1 }, (_, more) => {
    const maxChars = from + more;
    const chunker = createChunker({ minChars: more % 3 === 0 ? 1 : maxChars, maxChars });
    const blocks = [...chunker.push(text), ...chunker.flush()];
    const ends = blocks.map((one) => `${one.opens && "<"}${one.to}${one.closes && ">"}`);
    return `${maxChars}: ${ends.join(" ")}`;
  });

const nameOf = (name: string, { minChars, maxChars, prefer = "paragraph" }: ChunkerOptions) =>
  `${name}, ${minChars} to ${maxChars}, ${prefer}`;
type Case = readonly [name: string, cut: () => readonly string[]];
const casesOf = (from: typeof texts, all: typeof sizes): Case[] =>
  Object.entries(from).flatMap(([name, text]) =>
    all.map((size): Case => [nameOf(name, size), () => cuts(text, size)]),
  );
const cases: readonly Case[] = [
  ...casesOf(texts, sizes),
  ...casesOf(streams, streamSizes),
  ...ranges.map((one, place): Case => [`size by size, text ${place + 1}`, () => bySize(one)]),
];
if (process.env.EARSHOT_GOLDEN === "write") {
  const all = Object.fromEntries(cases.map(([name, cut]) => [name, cut()]));
  writeFileSync(path, `${JSON.stringify(all, null, 1)}\n`);
}
const golden = JSON.parse(readFileSync(path, "utf8")) as Record<string, readonly string[]>;

test("each text and size has its cuts, and no other", () => {
  expect(Object.keys(golden)).toEqual(cases.map(([name]) => name));
});

for (const [name, cut] of cases)
  test(`cuts stay where they are: ${name}`, () => {
    expect(cut()).toEqual(golden[name]);
  });
