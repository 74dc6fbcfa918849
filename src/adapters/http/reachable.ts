/** Whether something accepts connections at an address, and has a valid certificate there. */
import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TryResult } from "../../domain/ports/index.ts";

const ports: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Opens one connection and closes it; sends no request. */
export async function tryAddress(
  address: string,
  signal: AbortSignal,
): Promise<readonly TryResult[]> {
  const { protocol, hostname, port, host } = new URL(address);
  const at = {
    host: hostname.replace(/^\[|\]$/gu, ""),
    port: port === "" ? (ports[protocol] as number) : Number(port),
  };
  const problem = await new Promise<string | null>((resolve) => {
    const isTls = protocol === "https:";
    const socket = isTls
      ? connectTls(isIP(at.host) === 0 ? { ...at, servername: at.host } : at)
      : connect(at);
    const end = (found: string | null) => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      resolve(found);
    };
    const abort = () => end("no connection in time");
    signal.addEventListener("abort", abort, { once: true });
    socket.once(isTls ? "secureConnect" : "connect", () => end(null));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
  return problem === null
    ? [{ state: "ok", says: `${host} accepts connections` }]
    : [{ state: "wrong", says: `${host} cannot be reached (${problem})` }];
}
