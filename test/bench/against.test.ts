/**
 * Our benches and a script of the user's in turns: what the script gets, what is made of what both
 * print, and what is said about a script that prints something else.
 */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inTurns } from "../../bench/against.ts";

const folder = mkdtempSync(join(tmpdir(), "against-"));
const order = join(folder, "order");
let scripts = 0;

function script(text: string, name = `script-${scripts++}.mjs`): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const notes = (who: string) =>
  `import { appendFileSync, readFileSync } from "node:fs";
   appendFileSync(${JSON.stringify(order)}, ${JSON.stringify(who)});`;
const ours = script(`${notes("o")}
  const turn = readFileSync(${JSON.stringify(order)}, "utf8").length;
  console.log(JSON.stringify({ figures: { "lines/s": 100 * turn, "only ours": 1 }, given: { lines: 7 } }));`);

const turnsWith = (against: string, rounds = 3) => ({
  bench: "tiny",
  ours: [process.execPath, ours],
  against,
  rounds,
  short: false,
});

test("ours and theirs take turns; the medians of both and their ratio are printed", () => {
  writeFileSync(order, "");
  const theirs = script(`${notes("t")}
    const { bench, turn, short, given } = JSON.parse(readFileSync(0, "utf8"));
    console.log("whatever it says before its last line");
    console.log(JSON.stringify({ figures: { "lines/s": 100 * turn, lines: given.lines, [bench]: Number(short) } }));`);
  expect(inTurns(turnsWith(theirs))).toEqual({
    bench: "tiny",
    unit: "medians of 3 in turns",
    figures: {
      "ours: lines/s": 300,
      "ours: only ours": 1,
      "theirs: lines/s": 200,
      "theirs: lines": 7,
      "theirs: tiny": 0,
    },
    ratios: { "lines/s, ours over theirs": 1.5 },
  });
  expect(readFileSync(order, "utf8")).toBe("ototot");
});

test("a script in any language runs as a program", () => {
  const theirs = script(`#!/bin/sh\necho '{"figures":{"lines/s":1}}'\n`, "theirs.sh");
  chmodSync(theirs, 0o700);
  expect(inTurns(turnsWith(theirs, 1)).figures["theirs: lines/s"]).toBe(1);
});

test("a script that fails or prints no figures is named with what it should have printed", () => {
  for (const [text, why] of [
    ["process.exit(3)", /script-\d+\.mjs ended with 3/],
    ["console.log('4000 lines a second')", /printed no figures \(4000 lines a second\).*"figures"/],
    ['console.log(\'{"figures":{"lines/s":"many"}}\')', /printed no figures/],
  ] as const)
    expect(() => inTurns(turnsWith(script(text), 1))).toThrow(why);
});
