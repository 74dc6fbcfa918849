/**
 * One secret in `<state>/token` opens the pages and the API. It is created at the first start and
 * compared with its file at every request, so writing a new one revokes the old one immediately. The file must be a
 * plain file of mode 0600; a token that others can read is refused.
 */
import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, lstatSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EarshotError } from "../../domain/errors.ts";
import { createFile } from "./create-file.ts";

export { sameSecret } from "../../adapters/http/signature.ts";

/** Reads the current token; rejects when there is none that may be used. */
export type TokenReader = () => Promise<string>;

export const tokenFileOf = (stateDir: string): string => join(stateDir, "token");

// Systems without this flag have no symbolic links to follow.
const readNoLink = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** A token is at least this long; a shorter one could be guessed. */
const tokenUnitsMin = 32;

/**
 * Reads the token.
 * @throws EarshotError EAR_STATE_UNSAFE when the file is missing, readable by others, or no token.
 */
export async function readToken(stateDir: string): Promise<string> {
  return (await readFileOfToken(stateDir)).token;
}

/** The time stamps of a file system may be this coarse, ns; a younger file may change unseen. */
const stampNs = 3_000_000_000n;

/**
 * Reads the token each time its file is another one or has changed, in content, owner or mode.
 * Otherwise a call looks at the file, which costs microseconds, and reads nothing: opening it takes
 * a turn of the threads that also sync the journal.
 */
export function createTokenReader(stateDir: string, wall = () => Date.now()): TokenReader {
  const path = tokenFileOf(stateDir);
  let known: TokenFile | null = null;
  return async () => {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (known !== null && found !== undefined && isSame(found, known.found)) return known.token;
    known = null;
    const read = await readFileOfToken(stateDir);
    const age = BigInt(wall()) * 1_000_000n - read.found.ctimeNs;
    if (age > stampNs) known = read;
    return read.token;
  };
}

/** Whether it is the same file as it was. Every change of content, owner or mode sets `ctime`. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ctimeNs === other.ctimeNs && one.ino === other.ino && one.dev === other.dev;
}

interface TokenFile {
  readonly token: string;
  /** The file before it was read. */
  readonly found: BigIntStats;
}

/** @throws EarshotError EAR_STATE_UNSAFE as `readToken`. */
async function readFileOfToken(stateDir: string): Promise<TokenFile> {
  const path = tokenFileOf(stateDir);
  const file = await open(path, readNoLink).catch((error: NodeJS.ErrnoException) => {
    const whys: Readonly<Record<string, string>> = {
      ENOENT: "it is missing",
      ELOOP: "it is a symbolic link",
    };
    throw unsafe(path, whys[error.code ?? ""] ?? "it cannot be read", stateDir);
  });
  try {
    const found = await file.stat({ bigint: true });
    const mode = Number(found.mode & 0o777n);
    if (!found.isFile()) throw unsafe(path, "it is not a file", stateDir);
    const me = process.getuid?.();
    if (me !== undefined && found.uid !== BigInt(me))
      throw unsafe(path, `it belongs to user ${found.uid}`, stateDir);
    if (process.platform !== "win32" && mode !== 0o600)
      throw new EarshotError(
        "EAR_STATE_UNSAFE",
        `Cannot use the token file ${path}: its mode is ${mode.toString(8)}. Run chmod 600 ${path}`,
      );
    const token = (await file.readFile("utf8")).trim();
    if (token.length < tokenUnitsMin || !/^[\x21-\x7e]+$/.test(token))
      throw unsafe(path, `it holds no token of ${tokenUnitsMin} plain characters`, stateDir);
    return { token, found };
  } finally {
    await file.close();
  }
}

/**
 * Reads the token; creates one if there is none.
 * @throws EarshotError EAR_STORE_FULL, EAR_STORE_FAILED when it cannot be written; no partial
 * file remains.
 */
export async function ensureToken(stateDir: string): Promise<string> {
  const path = tokenFileOf(stateDir);
  const fresh = randomBytes(24).toString("base64url");
  await createFile(path, `${fresh}\n`).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "ENOSPC"
      ? new EarshotError(
          "EAR_STORE_FULL",
          `Cannot write ${path}: the disk is full. Free some space`,
          { cause },
        )
      : new EarshotError(
          "EAR_STORE_FAILED",
          `Cannot write ${path} (${cause.code ?? "unknown"}): name another state directory`,
          { cause },
        );
  });
  return readToken(stateDir);
}

/**
 * Replaces the token in one step, so there is always one. A running daemon refuses the old one from
 * its next request on. A file that others could read is replaced as well, which fixes it.
 * @throws EarshotError EAR_STORE_FAILED when it cannot be written; the old one stays valid.
 */
export async function rotateToken(stateDir: string): Promise<string> {
  const path = tokenFileOf(stateDir);
  const fresh = randomBytes(24).toString("base64url");
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(beside, `${fresh}\n`, { mode: 0o600, flag: "wx" });
    await rename(beside, path);
  } catch (cause) {
    await rm(beside, { force: true });
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    throw new EarshotError("EAR_STORE_FAILED", `Cannot write ${path} (${code})`, { cause });
  }
  return fresh;
}

function unsafe(path: string, why: string, stateDir: string): EarshotError {
  return new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot use the token file ${path}: ${why}. Remove it and start earshot, which makes a new one ` +
      `in ${stateDir}`,
  );
}
