/**
 * examples/property-test-your-rules as a stranger has it: a folder of its own, with the packed
 * earshot in its node_modules. The rules hold, and the planted mistake is found and reported
 * in a few lines.
 */
import { beforeAll, expect, test } from "vitest";
import { installExample, patience, type RunExample } from "../support/example-package.ts";
import { rounds } from "../support/rounds.ts";

let run: RunExample;
beforeAll(() => {
  run = installExample("property-test-your-rules");
}, patience);

const vitest = (project: string) =>
  run(["node_modules/vitest/vitest.mjs", "run", "--project", project], {
    // The mistake shows in the fifth.
    ROOMS: String(rounds(5, 10)),
    SEED: "4",
    EARSHOT_RUNS: "",
  });

test("its types are clean against the packed declarations", { timeout: patience }, () => {
  const { status, said } = run(["node_modules/typescript/bin/tsc"]);
  expect(said).toBe("");
  expect(status).toBe(0);
});

test("the rules of the library hold", { timeout: patience }, () => {
  const { status, said } = vitest("library");
  expect(said).toMatch(/Tests +6 passed \(6\)/);
  expect(status, said).toBe(0);
});

test("the planted mistake is found in a room of four lines", { timeout: patience }, () => {
  const { status, said } = vitest("mistake");
  expect(status).toBe(1);
  expect(said).toMatch(/Tests +1 failed \| 4 passed \(5\)/);
  expect(said).toContain("bots get at most three answers in a row");
  const output = said.slice(said.indexOf("The rule is broken in this room"));
  const lines = output.match(/^ +\d+:\d\d\.\d{3} {2}m\d .*$/gmu);
  expect(lines?.map((line) => line.trim().split(": ")[0])).toEqual([
    expect.stringMatching(/m1 rex \(bot\)$/),
    expect.stringMatching(/m2 rex \(bot\)$/),
    expect.stringMatching(/m3 rex \(bot\)$/),
    expect.stringMatching(/m4 rex \(bot\)$/),
  ]);
  expect(output).toMatch(/The same room again: \{ seed: 4, path: "[\d:]+" \}/);
});
