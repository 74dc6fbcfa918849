/** `npm run sim`: its arguments, its exit codes, and the shortening of what it finds. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mistakes } from "../../../scripts/sim/mistakes.mjs";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { checkOf, shrink } from "./shrink.ts";

const root = resolve(import.meta.dirname, "../../..");
const script = resolve(root, "scripts/sim/main.mjs");
const sim = (...args: readonly string[]) =>
  spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });

test("it explains itself", () => {
  const { status, stdout } = sim("--help");
  expect(status).toBe(0);
  for (const option of ["--seed", "--rounds", "--jobs", "--plant", "--json"])
    expect(stdout).toContain(option);
});

test.each([["--rounds", "0"], ["--seed", "x"], ["--plant", "no such mistake"], ["--nothing"]])(
  "it refuses %s %s",
  (...args) => {
    const { status, stdout, stderr } = sim(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: npm run sim");
  },
);

property([fc.uniqueArray(fc.nat(50), { minLength: 1 }), fc.nat(50), fc.nat(50)])(
  "a list is shortened to what its failure needs",
  async (items, one, other) => {
    const needed = items.filter((item) => item === one || item === other);
    const left = await shrink(items, async (rest) => needed.every((item) => rest.includes(item)));
    expect(left).toEqual(needed);
  },
);

test.skipIf(rounds(0, 1) === 0)(
  "a seed that breaks a promise is shortened to steps that break the same one",
  () => {
    const { status, stdout, stderr } = sim("--plant", "doubts-are-sent-again-and-again", "--json");
    expect([status, stderr]).toEqual([0, ""]);
    const { seed, violation, shrunk } = JSON.parse(stdout) as {
      readonly seed: number;
      readonly violation: string;
      readonly shrunk: {
        readonly shrunk: number;
        readonly of: number;
        readonly steps: readonly object[];
        readonly violations: readonly string[];
      };
    };
    expect(shrunk.shrunk).toBe(seed);
    expect(shrunk.steps.length).toBeLessThan(shrunk.of);
    expect(shrunk.violations.map(checkOf)).toContain(checkOf(violation));
  },
);

test.each(mistakes)("the mistake $name can be planted", ({ file, line, instead }) => {
  expect(readFileSync(resolve(root, file), "utf8").split(line)).toHaveLength(2);
  expect(instead).not.toBe(line);
});

test("there are at least ten mistakes, each with a name of its own", () => {
  expect(new Set(mistakes.map(({ name }) => name)).size).toBe(mistakes.length);
  expect(mistakes.length).toBeGreaterThanOrEqual(10);
});
