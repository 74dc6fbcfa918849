/**
 * Changes of the config file that pages make, with the real watcher: when one is said to be applied.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { openConfig } from "../../../src/daemon/config/config-source.ts";
import { createConfigChanges, isApplied } from "../../../src/daemon/config-edit/changes.ts";
import { tokenOf } from "../../../src/daemon/config-edit/diff.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function watched(first: string) {
  const stateDir = await mkdtemp(join(tmpdir(), "earshot-changes-"));
  const path = join(stateDir, "earshot.json5");
  await writeFile(path, first);
  const clock = createSystemClock();
  const options = { file: path, env: {}, stateDir, parse: {}, log: () => undefined };
  const source = await openConfig({ ...options, now: () => clock.now() });
  closers.push(() => source.close());
  const seen: string[] = [];
  await source.watch(async (config) => void seen.push(config.log.level));
  const { applied } = source.state;
  return {
    clock,
    path,
    applied,
    seen,
    ports: { clock, env: {}, stateDir, path, applied, parse: {} },
  };
}

test("a change that only concerns a comment is applied, though nothing differs", async () => {
  const first = `{ log: { level: "warn" } }\n`;
  const { ports, seen } = await watched(first);
  const written = await createConfigChanges(ports).write(
    (text) => `// as we agreed\n${text}`,
    tokenOf(first),
    "a comment",
  );
  expect(written.applied).toBe(true);
  expect(seen).toEqual([]);
});

test("what somebody else changes meanwhile is not taken for the change", async () => {
  const { clock, path, applied, seen, ports } = await watched(`{ log: { level: "warn" } }\n`);
  const before = applied();
  const others = `{ log: { level: "error" } }\n`;
  await writeFile(path, others);
  await expect.poll(() => seen).toEqual(["error"]);
  expect(await isApplied(ports, others, before)).toBe(true);
  const fast = { ...clock, setLimit: (_ms: number, fire: () => void) => clock.setLimit(0, fire) };
  expect(await isApplied({ clock: fast, applied }, `{ log: { level: "info" } }\n`, before)).toBe(
    false,
  );
});
