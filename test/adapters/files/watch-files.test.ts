/** Files under watch: no change is lost, whenever it comes; one call for what came together. */
import { pbkdf2 } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FileWatch, watchFiles } from "../../../src/adapters/files/watch-files.ts";

let folder: string;
let path: string;
let watching: FileWatch | null = null;
let taken: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "earshot-watch-"));
  path = join(folder, "file");
  taken = [];
});
afterEach(async () => {
  await watching?.close();
  watching = null;
  await rm(folder, { recursive: true });
});

const follow = (more: readonly string[] = []) =>
  watchFiles([path, ...more], {
    intervalMs: 20,
    settleMs: 10,
    changed: async () => void taken.push(readFileSync(path, "utf8")),
  });

/** Nothing is read or looked at until this work is done. */
const keepFilesBusy = () => {
  for (let n = 0; n < 4; n += 1) pbkdf2("a", "b", 40_000, 64, "sha512", () => undefined);
};

test("a file written while the first look is under way is taken", async () => {
  keepFilesBusy();
  watching = follow();
  await new Promise(setImmediate);
  keepFilesBusy();
  writeFileSync(path, "one");
  await expect.poll(() => taken).toEqual(["one"]);
});

test("what is there at the start is taken once, and each later text once", async () => {
  await writeFile(path, "one");
  watching = follow();
  await expect.poll(() => taken).toEqual(["one"]);
  await writeFile(path, "two");
  await expect.poll(() => taken).toEqual(["one", "two"]);
  await writeFile(join(folder, "next"), "six");
  await rename(join(folder, "next"), path);
  await expect.poll(() => taken).toEqual(["one", "two", "six"]);
});

test("a file that goes changes nothing until it is there again; its folder may go, too", async () => {
  const deep = join(folder, "deep");
  await mkdir(deep);
  const beside = join(deep, "beside");
  await writeFile(path, "one");
  await writeFile(beside, "a");
  watching = follow([beside]);
  await expect.poll(() => taken).toEqual(["one"]);
  await rm(deep, { recursive: true });
  await writeFile(path, "two");
  await expect.poll(() => taken).toEqual(["one", "two"]);
  await mkdir(deep);
  await writeFile(beside, "a");
  await expect.poll(() => taken).toEqual(["one", "two", "two"]);
});

test("nothing is called any more once it is closed, and a call under way is waited for", async () => {
  await writeFile(path, "one");
  let finish = () => {};
  let begun = 0;
  let done = false;
  const slow = watchFiles([path], {
    intervalMs: 5,
    settleMs: 5,
    async changed() {
      begun += 1;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      done = true;
    },
  });
  await expect.poll(() => begun).toBe(1);
  const closed = slow.close();
  await writeFile(path, "two");
  finish();
  await closed;
  expect([begun, done]).toEqual([1, true]);
});
