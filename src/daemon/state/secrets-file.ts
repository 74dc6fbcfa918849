/**
 * Secrets that were pasted
 * ========================
 * `<state>/secrets.json` has keys and tokens by the name under which the config file names them, as
 * `${OPENAI_API_KEY}`. A variable of the environment with the same name comes first. Only its owner
 * may read it; nothing shows its values.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";

const secretNamePattern = /^[A-Z][A-Z0-9_]{0,63}$/u;
const secretUnitsMax = 4_096;
const secretsSchema = z.record(
  z.string().regex(secretNamePattern),
  z.string().min(1).max(secretUnitsMax),
);
export type Secrets = Readonly<Record<string, string>>;

export const secretsFileName = "secrets.json";
const secretsFileOf = (stateDir: string): string => join(stateDir, secretsFileName);

/** @throws EarshotError EAR_STATE_UNSAFE when others may read it, or its form is not understood. */
export function readSecrets(stateDir: string): Secrets {
  const path = secretsFileOf(stateDir);
  const text = readOwn(path);
  if (text === null) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unsafe(path, "it is not JSON. Correct it, or remove it and enter the secrets again");
  }
  const secrets = secretsSchema.safeParse(value);
  if (secrets.success) return secrets.data;
  throw unsafe(path, 'it is not an object such as { "OPENAI_API_KEY": "..." }. Correct it');
}

/** The environment, with stored secrets behind it. */
export function withStoredSecrets(env: NodeJS.ProcessEnv, stateDir: string): NodeJS.ProcessEnv {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== "");
  return { ...readSecrets(stateDir), ...Object.fromEntries(given) };
}

/** Adds or replaces secrets, in one step and flushed. */
export async function storeSecrets(stateDir: string, secrets: Secrets): Promise<void> {
  if (Object.keys(secrets).length === 0) return;
  const path = secretsFileOf(stateDir);
  const all = { ...readSecrets(stateDir), ...secretsSchema.parse(secrets) };
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(all, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

function readOwn(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw unsafe(path, "it cannot be opened, or is a link");
  }
  try {
    const mode = fstatSync(file).mode & 0o777;
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw unsafe(path, `its mode is ${mode.toString(8)}. Run chmod 600 ${path}`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

const unsafe = (path: string, why: string): EarshotError =>
  new EarshotError("EAR_STATE_UNSAFE", `Cannot use the secrets in ${path}: ${why}`);
