/** Reads the files of `server.tls` for checks. */
import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import { readTls } from "../http/tls.ts";

type Server = EarshotConfig["server"];

/** State of the files of `server.tls`. */
export interface TlsFacts {
  /** Why they cannot be used; null: they can. */
  readonly problem: string | null;
  /** Permission bits of the key. */
  readonly keyMode: number;
  readonly daysLeft: number;
}

const dayMs = 86_400_000;

/** Reads the files of a certificate; relative names start at `baseDir`. */
export async function tlsFacts(
  { tls }: Server,
  baseDir: string,
  now: Millis,
): Promise<TlsFacts | null> {
  if (tls === null) return null;
  const files = { cert: resolve(baseDir, tls.cert), key: resolve(baseDir, tls.key) };
  try {
    await readTls(files);
    const { validTo } = new X509Certificate(await readFile(files.cert));
    const { mode } = await stat(files.key);
    const daysLeft = Math.floor((Date.parse(validTo) - now) / dayMs);
    return { problem: null, keyMode: mode & 0o777, daysLeft };
  } catch (error) {
    if (!(error instanceof EarshotError)) throw error;
    return { problem: error.message, keyMode: 0, daysLeft: 0 };
  }
}
