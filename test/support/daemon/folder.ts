/** Folders for tests, which go with the run, as all in the temporary folder do. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder that only we may enter. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "earshot-daemon-"));
