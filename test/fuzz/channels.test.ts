/** Inbound payloads of every channel, fuzzed: test/fuzz/harness/check.ts says what holds for each. */
import { expect, test } from "vitest";
import { channelRegistry } from "../../src/adapters/channels/index.ts";
import { fuzzed } from "./harness/suite.ts";
import { decryptedTargets } from "./targets/decrypted.ts";
import { postedTargets } from "./targets/posted.ts";
import { signedTargets } from "./targets/signed.ts";
import { streamedTargets } from "./targets/streamed.ts";

const targets = [...postedTargets, ...signedTargets, ...streamedTargets, ...decryptedTargets];
fuzzed(targets, 12);

test("every channel that reads what others wrote is fuzzed", () => {
  const { size } = channelRegistry([]);
  expect(size).toBeGreaterThan(8);
  for (const id of channelRegistry([]).keys()) {
    const isOf = (name: string) => name === id || name.startsWith(`${id}-`);
    expect([id, targets.some(({ name }) => isOf(name))]).toEqual([id, true]);
  }
});
