/**
 * The token
 * =========
 * One secret in `<state>/token` opens the pages and the API. It is made at the first start and read
 * again for every request, so writing another one into the file shuts the old one out at once. The
 * file must be a plain file of mode 0600: a token that others can read is no secret, so it opens
 * nothing.
 */
import { randomBytes } from "node:crypto";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EarshotError } from "../domain/errors.ts";

export { sameSecret } from "../adapters/signature.ts";

export const tokenFileOf = (stateDir: string): string => join(stateDir, "token");

/** A token is at least this long; a shorter one could be guessed. */
const tokenUnitsMin = 32;

/**
 * Reads the token.
 * @throws EarshotError EAR_STATE_UNSAFE when the file is missing, readable by others, or no token.
 */
export async function readToken(stateDir: string): Promise<string> {
  const path = tokenFileOf(stateDir);
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw unsafe(path, error.code === "ENOENT" ? "it is missing" : "it cannot be read", stateDir);
  });
  try {
    const found = await file.stat();
    const mode = found.mode & 0o777;
    if (!found.isFile()) throw unsafe(path, "it is not a file", stateDir);
    if (process.platform !== "win32" && mode !== 0o600)
      throw new EarshotError(
        "EAR_STATE_UNSAFE",
        `Cannot use the token file ${path} as its mode is ${mode.toString(8)}: chmod 600 ${path}`,
      );
    const token = (await file.readFile("utf8")).trim();
    if (token.length < tokenUnitsMin || !/^[\x21-\x7e]+$/.test(token))
      throw unsafe(path, `it holds no token of ${tokenUnitsMin} plain characters`, stateDir);
    return token;
  } finally {
    await file.close();
  }
}

/**
 * Reads the token, making one if there is none yet.
 * @throws EarshotError EAR_STORE_FULL, EAR_STORE_FAILED when none can be written; nothing is left then.
 */
export async function ensureToken(stateDir: string): Promise<string> {
  const path = tokenFileOf(stateDir);
  const fresh = randomBytes(24).toString("base64url");
  await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: "wx" }).catch(
    async (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return;
      // Half a token would be found at the next start, and refused.
      await rm(path, { force: true }).catch(() => undefined);
      throw cause.code === "ENOSPC"
        ? new EarshotError(
            "EAR_STORE_FULL",
            `Cannot write ${path} as the disk is full: free some space`,
            { cause },
          )
        : new EarshotError(
            "EAR_STORE_FAILED",
            `Cannot write ${path} (${cause.code ?? "unknown"}): name another state directory`,
            { cause },
          );
    },
  );
  return readToken(stateDir);
}

function unsafe(path: string, why: string, stateDir: string): EarshotError {
  return new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot use the token file ${path} as ${why}: remove it and start earshot, which makes a new one ` +
      `in ${stateDir}`,
  );
}
