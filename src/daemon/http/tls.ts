/**
 * A certificate and its key are read at the start, where a problem is an error that names the file,
 * and again whenever a file changes. Then a problem is logged and the last valid pair stays,
 * because a renewal writes two files one after the other.
 */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type FileWatch, watchFiles } from "../../adapters/files/watch-files.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Log } from "../../domain/ports/index.ts";

/** In PEM, as in the files. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Paths of the files. */
export type TlsFiles = TlsPair;

const intervalMs = 1_000;
const settleMs = 300;

/** @throws EarshotError EAR_CONFIG_INVALID naming the file and its config key. */
export async function readTls(files: TlsFiles): Promise<TlsPair> {
  const read = (name: keyof TlsFiles) =>
    readFile(files[name], "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new EarshotError(
        "EAR_CONFIG_INVALID",
        `Cannot use server.tls.${name}: ${files[name]} cannot be read ` +
          `(${error.code ?? "unknown"})`,
      );
    });
  const pair = { cert: await read("cert"), key: await read("key") };
  try {
    createSecureContext(pair);
  } catch (error) {
    // The library's code names the problem, never the key itself.
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new EarshotError(
      "EAR_CONFIG_INVALID",
      `Cannot use server.tls: ${files.cert} and ${files.key} are not a certificate and its key ` +
        `in PEM (${code})`,
    );
  }
  return pair;
}

/** Calls `renew` with every valid pair that differs from the one before, `first` at the start. */
export function watchTls(
  files: TlsFiles,
  first: TlsPair,
  log: Log,
  renew: (pair: TlsPair) => void,
): FileWatch {
  let running = first;
  const changed = async () => {
    try {
      const pair = await readTls(files);
      if (pair.cert === running.cert && pair.key === running.key) return;
      running = pair;
      renew(pair);
      log("info", "tls.renewed", { cert: files.cert });
    } catch (error) {
      const why = error instanceof EarshotError ? error.message : "something failed";
      log("error", "tls.refused", { why, running: "the last good certificate" });
    }
  };
  // Links are followed, because a renewed certificate is often a link to a new file.
  return watchFiles([files.cert, files.key], { intervalMs, settleMs, changed });
}
