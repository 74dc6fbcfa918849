/** Detects addresses that send data unencrypted over a network. */
import { isLoopbackHost } from "../../domain/config/index.ts";

/** Whether an address uses plain http and is not on this machine. */
export function inTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[|\]$/gu, ""));
}
