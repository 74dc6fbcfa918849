/**
 * What `npm pack` takes along: the manual in it leads nowhere that the package does not have, and two examples run
 * with it as a stranger has it. Of examples/property-test-your-rules the rules hold, and the planted mistake is found
 * and reported in a few lines; of examples/score-your-rooms the numbers hold, and a config with a mistake fails with
 * the rules that are wrong.
 */
import { dirname, join, normalize } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { besides, manual, type Page } from "../support/docs.ts";
import { type Installed, installExamples, patience } from "../support/example-package.ts";
import { rounds } from "../support/rounds.ts";

const rules = "property-test-your-rules";
const score = "score-your-rooms";
let packed: Installed;
let inside: readonly Page[] = [];
beforeAll(() => {
  packed = installExamples([rules, score]);
  inside = [...manual(), ...besides()].filter(({ path }) => packed.files.has(path));
}, patience);

const isPacked = (path: string) =>
  packed.files.has(path) ||
  [...packed.files].some((file) => file.startsWith(`${path.replace(/\/$/u, "")}/`));

const code = /^ *```[\s\S]*?^ *```$|`[^`\n]*`/gmu;

const linked = ({ path, text }: Page) =>
  [...text.replace(code, "").matchAll(/\]\(([^)\s#]+)[^)]*\)/gu)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/u.test(link))
    .map((link) => normalize(join(dirname(path), link)));

test("the manual is in it, with the pages beside the examples and the figures", () => {
  expect(inside.length).toBeGreaterThan(30);
  for (const path of ["README.md", "docs/README.md", "bench/README.md", "LICENSE"])
    expect([path, packed.files.has(path)]).toEqual([path, true]);
});

test("every link leads to a file that is in it, too", () => {
  const links = inside.flatMap((page) => linked(page).map((path) => ({ from: page.path, path })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ path }) => !isPacked(path))).toEqual([]);
});

test("every example that a page names is in it", () => {
  const named = inside.flatMap(
    ({ text }) => text.match(/(?<![\w./-])examples\/[\w./-]*\w/gu) ?? [],
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !isPacked(path))).toEqual([]);
});

test("nothing is in it that is made while working: sources, tests, installed packages, state", () => {
  const strange = [...packed.files].filter((path) =>
    /^(?:src|test|web|scripts|coverage|\.ci)\/|(?:^|\/)node_modules\/|\.(?:tgz|db)$/u.test(path),
  );
  expect(strange).toEqual([]);
});

/** Both projects of an example in one start: its rules, and the same with the mistake. */
const vitest = (example: string, env?: Readonly<Record<string, string>>) =>
  packed.run(example, ["vitest/vitest.mjs", "run"], env);

test("the types of the examples are clean against its declarations", { timeout: patience }, () => {
  const { status, said } = packed.types();
  expect(said).toBe("");
  expect(status).toBe(0);
});

describe("examples/property-test-your-rules", () => {
  let status: number | null = null;
  let said = "";
  beforeAll(() => {
    // The mistake shows in the second.
    const effort = { ROOMS: String(rounds(2, 10)), SEED: "3", EARSHOT_RUNS: "" };
    ({ status, said } = vitest(rules, effort));
  }, patience);

  test("the rules of the library hold, and one test fails", () => {
    expect(said).toMatch(/✓ +.?library.? library\.test\.ts \(6 tests\)/);
    expect(said).toMatch(/Tests +1 failed \| 10 passed \(11\)/);
    expect(status, said).toBe(1);
  });

  test("the planted mistake is found in a room of four lines", () => {
    expect(said).toMatch(/FAIL +.?mistake.? mistake\.test\.ts/);
    expect(said).toContain("bots get at most three answers in a row");
    const output = said.slice(said.indexOf("The rule is broken in this room"));
    const lines = output.match(/^ *[\d:]+\.\d{3} {2}m\d .*$/gmu);
    expect(lines?.map((line) => line.trim().split(": ")[0])).toEqual([
      expect.stringMatching(/m1 rex \(bot\)$/),
      expect.stringMatching(/m2 rex \(bot\)$/),
      expect.stringMatching(/m3 rex \(bot\)$/),
      expect.stringMatching(/m4 rex \(bot\)$/),
    ]);
    expect(output).toMatch(/The same room again: \{ seed: 3, path: "[\d:]+" \}/);
  });
});

describe("examples/score-your-rooms", () => {
  test("the numbers hold on the labelled rooms, and a mistake fails, with its rules", {
    timeout: patience,
  }, () => {
    const { status, said } = vitest(score);
    expect(said).toMatch(/✓ +.?cafe.? cafe\.test\.ts \(2 tests\)/);
    expect(said).toMatch(/FAIL +.?mistake.? mistake\.test\.ts/);
    expect(said).toMatch(/Tests +1 failed \| 3 passed \(4\)/);
    expect(status).toBe(1);
    expect(said).toMatch(/precision is 0\.4\d\d, wanted 0\.9/);
    expect(said).toMatch(/sticky: 5 right, \d\d wrong, 0 missed/);
  });

  test("tune finds settings that reach them", { timeout: patience }, () => {
    const tune = ["earshot/dist/daemon/cli/main.js", "tune", "rooms.jsonl"];
    const { status, said } = packed.run(score, [...tune, "--want", "precision=0.9"]);
    expect(status, said).toBe(0);
    expect(said).toContain('+ agents.list[0].aliases: ["workbench"]');
  });
});
