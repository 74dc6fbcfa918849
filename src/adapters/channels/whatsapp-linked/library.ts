/**
 * The library, made quiet
 * =======================
 * baileys speaks WhatsApp Web's protocol (https://github.com/WhiskeySockets/Baileys). It is loaded with
 * the first account, gets a logger that writes nothing, and never asks for a newer version of itself.
 * libsignal, which it brings, writes sessions with their private keys to the console; the console drops
 * whatever comes from its files.
 */
import type { SocketConfig } from "baileys";
import { loadPackage } from "../shared/optional-package.ts";

export type Baileys = typeof import("baileys");
export type LibraryLogger = SocketConfig["logger"];

const linkedPackage = { platform: "WhatsApp", name: "baileys", version: "7.0.0-rc14" };

export async function loadBaileys(): Promise<Baileys> {
  muteLibsignal();
  return await loadPackage(linkedPackage, () => import("baileys"));
}

const nothing = () => undefined;

export const silent: LibraryLogger = {
  level: "silent",
  child: () => silent,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};

const methods = ["debug", "error", "info", "log", "trace", "warn"] as const;
const muted = Symbol.for("earshot.libsignal-muted");
const fromLibsignal = /[\\/]node_modules[\\/]libsignal[\\/]/;

/** The file that called a console's method. */
function callerOf(method: object): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  const held: { stack?: string } = {};
  Error.captureStackTrace(held, method as () => void);
  Error.stackTraceLimit = before;
  return held.stack ?? "";
}

/** Once in a process: a library that is loaded is never unloaded. */
function muteLibsignal(): void {
  for (const name of methods) {
    const write = console[name];
    if (muted in write) continue;
    const filtered = (...args: unknown[]): void => {
      if (!fromLibsignal.test(callerOf(filtered))) write.apply(console, args);
    };
    console[name] = Object.assign(filtered, { [muted]: true });
  }
}
