/** What comes over Restate, fuzzed: test/fuzz/harness/check.ts says what holds for each of them. */
import { afterAll, expect, test } from "vitest";
import { fuzzed } from "./harness/suite.ts";
import { jsonIn } from "./harness/target.ts";
import { engineTargets, handlerNames } from "./targets/engine.ts";
import { nodeTargets } from "./targets/node.ts";

fuzzed([...engineTargets, ...nodeTargets], 20, 1_000);

test("every handler that takes something is fuzzed", () => {
  const called = engineTargets
    .filter(({ name }) => name === "restate-calls")
    .flatMap(({ seeds }) => seeds.flatMap(({ frames }) => jsonIn(frames) as string[][]))
    .map(([service, handler]) => `${service}/${handler}`);
  // A long poll reads the same as `enlist`; a run and a place take nothing.
  const polls = ["leases/wait", "feed/wait"];
  const known = new Set([...called, ...polls, "conversation/run", "numbers/place"]);
  expect(handlerNames.filter((name) => !known.has(name))).toEqual([]);
});

afterAll(async () => {
  for (const { close } of [...engineTargets, ...nodeTargets]) await close?.();
});
