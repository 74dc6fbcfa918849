/**
 * Dangerous settings of the listener: what others can reach, and what guards it.
 */
import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type EarshotConfig, isLoopbackHost } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import { readTls } from "../../http/tls.ts";
import type { Danger } from "./risky-settings.ts";

type Server = EarshotConfig["server"];

/** What the files of `server.tls` are. */
export interface TlsFacts {
  /** Why they cannot be used; null: they can. */
  readonly problem: string | null;
  /** Of the key, permission bits. */
  readonly keyMode: number;
  readonly daysLeft: number;
}

const dayMs = 86_400_000;
const daysLeftMin = 14;

/** Looks at the files of a certificate; `baseDir` is where relative names start. */
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

export function* serverDangers(server: Server, tls: TlsFacts | null): Iterable<Danger> {
  const { host, exposed, proxy, publicUrl } = server;
  if (exposed && !isLoopbackHost(host))
    yield {
      at: "server.exposed",
      says:
        `pages and API can be reached at ${host} by whoever has the token: rotate it often ` +
        "(`earshot token rotate`), or set it to false and use a tunnel",
    };
  if (exposed && !isLoopbackHost(host) && tls === null)
    yield {
      at: "server.tls",
      says: "between the proxy and here all is readable: keep that network to the two of them",
    };
  if (publicUrl === null && (proxy !== null || tls !== null))
    yield {
      at: "server.publicUrl",
      says: "the name that others use is not known here, so they are refused: say it",
    };
  for (const [index, address] of (proxy?.addresses ?? []).entries()) {
    const [net = "", prefix] = address.split("/");
    if (prefix !== undefined && Number(prefix) < (net.includes(":") ? 48 : 16))
      yield {
        at: `server.proxy.addresses[${index}]`,
        says: `${address} is a great many machines, and each is believed: name the proxy's own`,
      };
  }
  if (tls !== null) yield* tlsDangers(tls);
}

function* tlsDangers({ problem, keyMode, daysLeft }: TlsFacts): Iterable<Danger> {
  if (problem !== null) return yield { at: "server.tls", says: problem, wrong: true };
  if (process.platform !== "win32" && (keyMode & 0o077) !== 0)
    yield {
      at: "server.tls.key",
      says: `others on this machine may read the key (mode ${keyMode.toString(8)}): chmod 600 it`,
      wrong: true,
    };
  if (daysLeft < daysLeftMin)
    yield {
      at: "server.tls.cert",
      says:
        (daysLeft < 0
          ? "the certificate is no longer valid"
          : `the certificate ends in ${daysLeft} days`) +
        ": renew it; the daemon takes over the new files",
      wrong: daysLeft < 0,
    };
}
