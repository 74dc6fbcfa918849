/** Reading an agent's folder: what is there, and what somebody might put there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorkspaces } from "../../../src/adapters/files/workspaces.ts";
import { limits } from "../../../src/domain/limits.ts";

/** Debian's and every other system's way to make a pipe that has a name. */
const makePipe = "mkfifo";
const folder = () => mkdtempSync(join(tmpdir(), "earshot-workspace-"));
const read = (at: string, base = "/") => createWorkspaces(base, "/state").read(at, "HEARTBEAT.md");

test("a file is read as it is now, from an absolute folder or one beside the config", async () => {
  const at = folder();
  mkdirSync(join(at, "agent"));
  const path = join(at, "agent", "HEARTBEAT.md");
  writeFileSync(path, "\ufefflook after the mail ✉\n");
  expect(await read(join(at, "agent"))).toBe("look after the mail ✉\n");
  writeFileSync(path, "and the build");
  expect(await read("./agent", at)).toBe("and the build");
});

test("a folder may be in the home, beside the config or in the state directory", () => {
  const { folder } = createWorkspaces("/etc/earshot", "/var/lib/earshot");
  expect(folder("<state>/agents/main")).toBe("/var/lib/earshot/agents/main");
  expect(folder("~/agents/main")).toBe(join(homedir(), "agents/main"));
  expect(folder("./agent")).toBe("/etc/earshot/agent");
});

test("a file, a folder or a home that is not there is nothing", async () => {
  const at = folder();
  expect(await read(at)).toBeNull();
  expect(await read(join(at, "nowhere"))).toBeNull();
  writeFileSync(join(at, "file"), "");
  expect(await read(join(at, "file"))).toBeNull();
  expect(await read("~/.earshot-that-is-not-there")).toBeNull();
});

test("a link, a folder and a pipe are refused, and nothing waits for a writer", async () => {
  for (const lay of [
    (path: string) => symlinkSync("/etc/hostname", path),
    (path: string) => mkdirSync(path),
    (path: string) => execFileSync(makePipe, [path]),
  ]) {
    const at = folder();
    lay(join(at, "HEARTBEAT.md"));
    await expect(read(at)).rejects.toMatchObject({ code: "EAR_STATE_UNSAFE" });
  }
});

test("a file of the largest size is read, one byte more is refused", async () => {
  const at = folder();
  const path = join(at, "HEARTBEAT.md");
  writeFileSync(path, "a".repeat(limits.heartbeatBytesMax));
  expect(await read(at)).toHaveLength(limits.heartbeatBytesMax);
  writeFileSync(path, "a".repeat(limits.heartbeatBytesMax + 1));
  await expect(read(at)).rejects.toMatchObject({ code: "EAR_STATE_UNSAFE" });
});
