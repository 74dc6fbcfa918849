/** The lock of the state directory: one daemon each, and no lock that outlives its owner. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { lockStateDir } from "../../../src/adapters/stores/state-lock.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "earshot-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const owner = () => JSON.parse(readFileSync(join(folder, "lock"), "utf8")) as { pid: number };
const writeLock = (text: string) => writeFileSync(join(folder, "lock"), text);

test("a second daemon is refused with the first one's pid and what to do", async () => {
  const lock = await lockStateDir(folder);
  await expect(lockStateDir(folder)).rejects.toMatchObject({ code: "EAR_STATE_LOCKED" });
  await expect(lockStateDir(folder)).rejects.toThrow(`pid ${process.pid}`);
  await expect(lockStateDir(folder)).rejects.toThrow("--state-dir");
  expect(statSync(lock.path).mode & 0o777).toBe(0o600);
  await lock.release();
  await (await lockStateDir(folder)).release();
});

test("a folder that takes no file is named", async () => {
  const gone = join(folder, "gone");
  const refused = await lockStateDir(gone).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "EAR_STORE_FAILED" });
  expect(String(refused)).toContain(`Cannot write into ${gone}`);
});

test("a file for the lock that cannot be opened is named, with what to do", async () => {
  mkdirSync(join(folder, "lock.db"));
  const refused = await lockStateDir(folder).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "EAR_STORE_FAILED" });
  expect(String(refused)).toContain(join(folder, "lock.db"));
});

test("the lock of a process that was killed is taken over", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const lock = await lockStateDir(folder);
  const left = { ...owner(), pid: child.pid, started: null };
  writeLock(JSON.stringify(left));
  await expect(lockStateDir(folder)).rejects.toMatchObject({ code: "EAR_STATE_LOCKED" });
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const mine = await lockStateDir(folder);
  expect(owner().pid).toBe(process.pid);
  await lock.release();
  expect(owner().pid).toBe(process.pid);
  await mine.release();
});

test("a pid that was given to another program, or another boot, locks nothing", async () => {
  const lock = await lockStateDir(folder);
  const first = owner();
  writeLock(JSON.stringify({ ...first, started: "1" }));
  const second = await lockStateDir(folder);
  writeLock(JSON.stringify({ ...first, boot: "another boot" }));
  const third = await lockStateDir(folder);
  await Promise.all([lock.release(), second.release(), third.release()]);
});

test("a half-written lock is no lock, and of several takers one wins", async () => {
  writeLock('{"pid":');
  const tries = await Promise.allSettled([1, 2, 3].map(() => lockStateDir(folder)));
  const won = tries.filter((result) => result.status === "fulfilled");
  expect(won).toHaveLength(1);
});

test("a taker that is held up after it has read a stale lock removes no other's lock", async () => {
  writeLock(JSON.stringify({ pid: 1, started: "0", boot: "another boot", nonce: "n" }));
  const { unlink } = fs;
  onTestFinished(() => {
    fs.unlink = unlink;
    syncBuiltinESMExports();
  });
  const reached = new Promise<void>((resolve) => {
    fs.unlink = async (path) => {
      if (path !== join(folder, "lock")) return unlink(path);
      fs.unlink = unlink;
      syncBuiltinESMExports();
      resolve();
      await new Promise((go) => setTimeout(go, 500));
      return unlink(path);
    };
  });
  syncBuiltinESMExports();
  const takers = [lockStateDir(folder)];
  await reached;
  takers.push(lockStateDir(folder));
  const won = (await Promise.allSettled(takers)).filter(({ status }) => status === "fulfilled");
  expect(won).toHaveLength(1);
});
