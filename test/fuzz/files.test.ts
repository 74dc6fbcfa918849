/** Files, fuzzed: test/fuzz/harness/check.ts says what holds for each of them. */
import { expect, test } from "vitest";
import { parseConfig } from "../../src/domain/config/index.ts";
import { fuzzed } from "./harness/suite.ts";
import { canary } from "./harness/target.ts";
import { fileTargets } from "./targets/files.ts";

fuzzed(fileTargets);

test.each([
  canary,
  { channels: canary },
  { channels: { telegram: canary } },
  { channels: { telegram: { accounts: canary } } },
  { channels: { telegram: { accounts: { botToken: canary } } } },
  { agents: { defaults: { driver: [{ apiKey: canary }] } } },
  { server: { token: [canary] } },
])("a secret at a wrong place is not repeated: %j", (raw) => {
  const read = () => parseConfig(raw);
  expect(read).toThrow(/Cannot read/);
  expect(read).not.toThrow(canary);
});
