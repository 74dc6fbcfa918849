/** The content of a config file that a command names. */
import { createReadStream } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import JSON5 from "json5";
import { EarshotError } from "../../../domain/errors.ts";

/**
 * Reads and parses; the values are not checked. Secrets are not resolved: who reads this uses none.
 * @throws EarshotError EAR_CONFIG_SYNTAX
 */
export async function readConfigFile(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON5.parse<unknown>(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EarshotError("EAR_CONFIG_SYNTAX", `Cannot read ${path}: ${reason}`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readAll(path === "-" ? process.stdin : createReadStream(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const what = `Cannot read the config ${path}: ${reason}`;
    throw new EarshotError("EAR_CONFIG_SYNTAX", what, { cause });
  }
}
