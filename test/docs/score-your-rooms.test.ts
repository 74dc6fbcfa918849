/**
 * examples/score-your-rooms as a stranger has it: the numbers hold, and a config with a mistake
 * fails with the rules that are wrong.
 */
import { beforeAll, expect, test } from "vitest";
import { installExample, patience, type RunExample } from "../support/example-package.ts";

let run: RunExample;
beforeAll(() => {
  run = installExample("score-your-rooms");
}, patience);

const vitest = (project: string) =>
  run(["node_modules/vitest/vitest.mjs", "run", "--project", project]);

test("its types are clean against the packed declarations", { timeout: patience }, () => {
  const { status, said } = run(["node_modules/typescript/bin/tsc"]);
  expect(said).toBe("");
  expect(status).toBe(0);
});

test("the numbers hold on the labelled rooms", { timeout: patience }, () => {
  const { status, said } = vitest("cafe");
  expect(said).toMatch(/Tests +2 passed \(2\)/);
  expect(status, said).toBe(0);
});

test("a config with a mistake fails, with its rules", { timeout: patience }, () => {
  const { status, said } = vitest("mistake");
  expect(status).toBe(1);
  expect(said).toMatch(/Tests +1 failed \| 1 passed \(2\)/);
  expect(said).toMatch(/precision is 0\.4\d\d, wanted 0\.9/);
  expect(said).toMatch(/sticky: 5 right, \d\d wrong, 0 missed/);
});

test("tune finds settings that reach them", { timeout: patience }, () => {
  const { status, said } = run([
    ...["node_modules/earshot/dist/daemon/cli/main.js", "tune", "rooms.jsonl"],
    ...["--want", "precision=0.9"],
  ]);
  expect(status, said).toBe(0);
  expect(said).toContain('+ agents.list[0].aliases: ["workbench"]');
});
