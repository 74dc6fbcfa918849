/**
 * The token between two requests: the file is read again whenever it has changed, and only then. It is there
 * whole or not at all.
 */
import fs, { chmod, lstat, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { foreignMachine, rememberMachine } from "../../../src/daemon/state/machine-id.ts";
import { createTokenReader, ensureToken, tokenFileOf } from "../../../src/daemon/state/token.ts";

const other = "another-token-of-as-many-letters-as-that";

/** Makes a change when the file system has a later time stamp than the last one. */
async function later(path: string, change: () => Promise<unknown>): Promise<void> {
  const { ctimeNs } = await lstat(path, { bigint: true });
  const probe = `${path}.probe`;
  for (let moved = false; !moved; moved = (await lstat(probe, { bigint: true })).ctimeNs > ctimeNs)
    await writeFile(probe, "");
  await change();
}

test("whatever changes about the file of the token is noticed by the next reader", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  const path = tokenFileOf(folder);
  const first = await ensureToken(folder);
  // Long after its last change, a file counts as known.
  const read = createTokenReader(folder, () => Date.now() + 3_600_000);
  expect(await read()).toBe(first);
  expect(await read()).toBe(first);
  await later(path, () => writeFile(path, other));
  expect(await read()).toBe(other);
  await later(path, () => chmod(path, 0o644));
  await expect(read()).rejects.toThrow("its mode is 644");
  await later(path, () => chmod(path, 0o600));
  expect(await read()).toBe(other);
  await writeFile(join(folder, "beside"), first, { mode: 0o600 });
  await later(path, () => rename(join(folder, "beside"), path));
  expect(await read()).toBe(first);
  await rename(path, join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), path);
  await expect(read()).rejects.toThrow("symbolic link");
  await rm(path);
  await expect(read()).rejects.toThrow("it is missing");
});

test("a file that changed a moment ago is read each time: its time stamp may not show the next change", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  const first = await ensureToken(folder);
  const { ctimeMs } = await lstat(tokenFileOf(folder));
  const read = createTokenReader(folder, () => Math.ceil(ctimeMs));
  expect(await read()).toBe(first);
  await writeFile(tokenFileOf(folder), other);
  expect(await read()).toBe(other);
});

test("a process that is killed while it makes its files leaves none that stop the next start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  const { open, writeFile: write } = fs;
  const restore = () => {
    Object.assign(fs, { open, writeFile: write });
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  let made = 0;
  const killed = async (path: string, flags: string) => {
    await (await open(path, flags, 0o600)).close();
    made += 1;
    return new Promise<never>(() => undefined);
  };
  Object.assign(fs, { open: killed, writeFile: (path: string) => killed(path, "wx") });
  syncBuiltinESMExports();
  void ensureToken(folder);
  void rememberMachine(folder, "a machine");
  await expect.poll(() => made).toBe(2);
  restore();
  expect(await ensureToken(folder)).toMatch(/^[\w-]{32}$/);
  await rememberMachine(folder, "a machine");
  expect(await foreignMachine(folder, "another")).toBe(join(folder, "machine"));
  // The first of two is kept.
  await rememberMachine(folder, "another");
  expect(await foreignMachine(folder, "a machine")).toBeNull();
});
