/** Agents and host threads, fuzzed: test/fuzz/harness/check.ts says what holds for each of them. */
import { afterAll, expect, test } from "vitest";
import { inputOf } from "../../src/actors/agent-run/agent-events.ts";
import { readEvent } from "../../src/adapters/agents/shared/wire.ts";
import { fuzzed } from "./harness/suite.ts";
import { agentTargets } from "./targets/agents.ts";
import { answeringTargets } from "./targets/answering.ts";

fuzzed(agentTargets, 12);
fuzzed(answeringTargets, 10, 500);

afterAll(async () => {
  for (const { close } of answeringTargets) await close?.();
});

test("a tool's input that is nested without end is refused, and never written again", () => {
  const input = { a: JSON.parse(`${"[".repeat(9_000)}${"]".repeat(9_000)}`) as unknown };
  expect(() => readEvent({ type: "tool-call", name: "x", input })).toThrow("nested too deep");
  expect(inputOf(input)).toEqual({});
  expect(inputOf({ a: [[1]] })).toEqual({ a: [[1]] });
});
