/** `/attach` in `earshot chat`: files of this machine, for the person at the keyboard only. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAttacher } from "../../../../src/daemon/cli/chat/attach.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { openPage } from "../../../support/daemon/page.ts";
import { openUploadDaemon } from "../../../support/daemon/uploads.ts";

/** An attacher of this house, and what it told. */
async function openRig() {
  const house = await openUploadDaemon({ maxBytes: 1_000 });
  const told: string[] = [];
  const { base, token } = house.daemon;
  const attacher = createAttacher({
    find: async () => ({ base, token }),
    print: (line) => void told.push(line),
  });
  return { house, told, attacher, folder: newFolder() };
}

test("a file goes with the next line, and with that one only", async () => {
  const { house, told, attacher, folder } = await openRig();
  const path = join(folder, "two soups.txt");
  writeFileSync(path, "a spoon each");
  expect(attacher.takes(`/attach ${path}`)).toBe(true);
  expect(attacher.takes(`/attach "${path}"`)).toBe(true);
  const files = await attacher.forLine();
  expect(files).toHaveLength(2);
  expect(await attacher.forLine()).toEqual([]);
  const words = "(attached two soups.txt, 12 bytes; it goes with your next line)";
  expect(told).toEqual([words, words]);
  const page = await openPage(house.daemon.base, house.daemon.token);
  await page.wait("ready");
  page.say("", undefined, files);
  expect((await page.wait("said")).text.match(/a spoon each/g)).toHaveLength(2);
});

test("what is no file, too large, or no path is said, and nothing goes", async () => {
  const { told, attacher, folder } = await openRig();
  const large = join(folder, "large.txt");
  writeFileSync(large, "x".repeat(1_001));
  mkdirSync(join(folder, "sub"));
  for (const path of [large, join(folder, "sub"), join(folder, "none\u001b[2J"), ""])
    expect(attacher.takes(`/attach ${path}`)).toBe(true);
  expect(await attacher.forLine()).toEqual([]);
  expect(told).toHaveLength(4);
  expect(told.join("\n")).toContain("media.maxBytes");
  expect(told.join("\n")).toContain("(no file at ");
  expect(told.join("\n")).not.toContain("\u001b");
  expect(told).toContain("(/attach needs the path of a file)");
});

test("any other line is something to say", async () => {
  const { attacher, told } = await openRig();
  for (const line of ["hello", "/attachment x", "see /attach x", "/status", ""])
    expect(attacher.takes(line)).toBe(false);
  expect(await attacher.forLine()).toEqual([]);
  expect(told).toEqual([]);
});

test("without a daemon nothing is attached, and that is said", async () => {
  const told: string[] = [];
  const attacher = createAttacher({
    find: async () => null,
    print: (line) => void told.push(line),
  });
  const path = join(newFolder(), "a.txt");
  writeFileSync(path, "a");
  attacher.takes(`/attach ${path}`);
  expect(await attacher.forLine()).toEqual([]);
  expect(told).toEqual(["(not attached: the daemon does not answer)"]);
});
