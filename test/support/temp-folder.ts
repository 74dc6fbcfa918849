/**
 * What tests leave in the temporary folder lies in a folder of its own, which goes with the run. Its
 * name is short, so that paths still fit into lines of 80 columns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "es-"));
  const before = process.env.TMPDIR;
  // The processes of the tests, and theirs, are started with it.
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
