/**
 * One listener as configured. If that one uses https, a second one serves this machine in plain
 * http on a free port: local commands and pages need no certificate for 127.0.0.1. Both serve the
 * same application and allow each other's names.
 */
import type { RequestListener } from "node:http";
import { resolve } from "node:path";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Log } from "../../domain/ports/index.ts";
import { anyAddress, type Bound, type KnownHosts, knownHosts } from "./allowed-hosts.ts";
import { type ClientAddresses, createClientAddresses } from "./client-address.ts";
import { type HttpServer, listen, type ServerOptions } from "./server.ts";
import { readTls, watchTls } from "./tls.ts";

export interface ListenersOptions extends Pick<ServerOptions, "problem" | "socketFor"> {
  readonly server: EarshotConfig["server"];
  /** Overrides the config. */
  readonly port?: number | undefined;
  /** Base of relative paths. */
  readonly baseDir: string;
  readonly log: Log;
  /** Makes what answers the requests of all listeners. */
  readonly answer: (known: () => KnownHosts, clients: ClientAddresses) => RequestListener;
}

export interface Listeners {
  /** For this machine, for example http://127.0.0.1:4747. */
  readonly base: string;
  /** For other machines; null where none can connect. */
  readonly exposed: string | null;
  close(): Promise<void>;
}

/** @throws EarshotError EAR_PORT_TAKEN, EAR_CONFIG_INVALID for an invalid certificate. */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const { host, exposed, publicUrl, tls: files, proxy } = options.server;
  const bound: Bound[] = [];
  const clients = createClientAddresses({
    proxies: proxy?.addresses ?? [],
    onlyProxies: exposed && files === null && proxy !== null,
  });
  let fixed: KnownHosts | null = null;
  const known = () => fixed ?? knownHosts(bound, publicUrl);
  const { problem, socketFor } = options;
  const shared = { answer: options.answer(known, clients), known, clients, problem, socketFor };
  const open: HttpServer[] = [];
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    await Promise.all([...open.map((item) => item.close()), ...closers.map((closer) => closer())]);
  };
  const add = async (where: Pick<ServerOptions, "host" | "port" | "tls">): Promise<Bound> => {
    const server = await listen({ ...shared, ...where });
    open.push(server);
    const scheme = where.tls === undefined ? "http" : "https";
    const added = { host: where.host, port: server.port, scheme } as const;
    bound.push(added);
    return added;
  };
  const port = options.port ?? options.server.port;
  try {
    if (files === null) {
      const main = await add({ host, port });
      // The addresses of this machine may change while it runs; a configured name does not.
      if (!anyAddress.has(host)) fixed = knownHosts(bound, publicUrl);
      return { base: baseOf(main), exposed: exposed ? (publicUrl ?? baseOf(main)) : null, close };
    }
    const base = options.baseDir;
    const found = { cert: resolve(base, files.cert), key: resolve(base, files.key) };
    const tls = await readTls(found);
    const outer = await add({ host, port, tls });
    const inner = await add({ host: "127.0.0.1", port: 0 });
    const watching = watchTls(found, tls, options.log, (pair) => open[0]?.renew(pair));
    closers.push(() => watching.close());
    return { base: baseOf(inner), exposed: publicUrl ?? baseOf(outer), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address for programs on this machine. */
function baseOf({ host, port, scheme }: Bound): string {
  const here = host === "::" ? "::1" : anyAddress.has(host) ? "127.0.0.1" : host;
  return `${scheme}://${here.includes(":") ? `[${here}]` : here}:${port}`;
}
