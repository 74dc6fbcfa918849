/** The daemon's own port, fuzzed: test/fuzz/harness/check.ts says what holds for what comes to it. */
import { afterAll, expect, test } from "vitest";
import { goodProblem } from "./harness/check.ts";
import { fuzzed } from "./harness/suite.ts";
import { httpTargets } from "./targets/http.ts";

fuzzed(httpTargets, 20, 1_000);

test("after all of it every good request is answered as before", async () => {
  for (const target of httpTargets)
    for (const seed of target.seeds) expect(await goodProblem(target, seed)).toBeNull();
});

afterAll(async () => {
  for (const { close } of httpTargets) await close?.();
});
