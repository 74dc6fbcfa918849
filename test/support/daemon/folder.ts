/** Folders of a test file, gone when it ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that only we may enter. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "earshot-daemon-"));
  made.push(folder);
  return folder;
}
