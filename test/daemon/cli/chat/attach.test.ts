/** `/attach` in `earshot chat`: files of this machine, for the person at the keyboard only. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAttacher } from "../../../../src/daemon/cli/chat/attach.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { openPage } from "../../../support/daemon/page.ts";
import { openUploadDaemon } from "../../../support/daemon/uploads.ts";

/** An attacher of this server, and what it printed. */
async function openRig() {
  const server = await openUploadDaemon({ maxBytes: 1_000 });
  const printed: string[] = [];
  const { base, token } = server.daemon;
  const attacher = createAttacher({
    find: async () => ({ base, token }),
    print: (line) => void printed.push(line),
  });
  return { server, printed, attacher, folder: newFolder() };
}

test("a file goes with the next line, and with that one only", async () => {
  const { server, printed, attacher, folder } = await openRig();
  const path = join(folder, "two soups.txt");
  writeFileSync(path, "a spoon each");
  expect(attacher.takes(`/attach ${path}`)).toBe(true);
  expect(attacher.takes(`/attach "${path}"`)).toBe(true);
  const files = await attacher.forLine();
  expect(files).toHaveLength(2);
  expect(await attacher.forLine()).toEqual([]);
  const words = "(attached two soups.txt, 12 bytes; it goes with your next line)";
  expect(printed).toEqual([words, words]);
  const page = await openPage(server.daemon.base, server.daemon.token);
  await page.wait("ready");
  page.say("", undefined, files);
  expect((await page.wait("said")).text.match(/a spoon each/g)).toHaveLength(2);
});

test("what is no file, too large, or no path is said, and nothing goes", async () => {
  const { printed, attacher, folder } = await openRig();
  const large = join(folder, "large.txt");
  writeFileSync(large, "x".repeat(1_001));
  mkdirSync(join(folder, "sub"));
  for (const path of [large, join(folder, "sub"), join(folder, "none\u001b[2J"), ""])
    expect(attacher.takes(`/attach ${path}`)).toBe(true);
  expect(await attacher.forLine()).toEqual([]);
  expect(printed).toHaveLength(4);
  expect(printed.join("\n")).toContain("media.maxBytes");
  expect(printed.join("\n")).toContain("(no file at ");
  expect(printed.join("\n")).not.toContain("\u001b");
  expect(printed).toContain("(/attach needs the path of a file)");
});

test("any other line is something to say", async () => {
  const { attacher, printed } = await openRig();
  for (const line of ["hello", "/attachment x", "see /attach x", "/status", ""])
    expect(attacher.takes(line)).toBe(false);
  expect(await attacher.forLine()).toEqual([]);
  expect(printed).toEqual([]);
});

test("without a daemon nothing is attached, and that is said", async () => {
  const printed: string[] = [];
  const attacher = createAttacher({
    find: async () => null,
    print: (line) => void printed.push(line),
  });
  const path = join(newFolder(), "a.txt");
  writeFileSync(path, "a");
  attacher.takes(`/attach ${path}`);
  expect(await attacher.forLine()).toEqual([]);
  expect(printed).toEqual(["(not attached: the daemon does not answer)"]);
});
