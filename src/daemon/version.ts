/**
 * The version, from the package that this file was installed with: one place to bump it.
 */
import { readFileSync } from "node:fs";

const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");

export const version: string = (JSON.parse(manifest) as { version: string }).version;
