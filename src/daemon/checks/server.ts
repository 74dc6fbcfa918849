/** Checks of the listener: who can reach it, and what protects it. */
import { isLoopbackHost } from "../../domain/config/index.ts";
import type { ConfigCheck } from "./check.ts";

const daysLeftMin = 14;

export const serverChecks: readonly ConfigCheck[] = [
  {
    id: "server.exposed",
    kind: "risk",
    level: "warning",
    *find({ server: { host, exposed } }) {
      if (exposed && !isLoopbackHost(host))
        yield {
          at: "server.exposed",
          wrong: `everyone with the token can reach the pages and the API at ${host}`,
          fix: "rotate it often (`earshot token rotate`), or set it to false and use a tunnel",
        };
    },
  },
  {
    id: "server.no-tls",
    kind: "risk",
    level: "warning",
    *find({ server: { host, exposed } }, { tls }) {
      if (exposed && !isLoopbackHost(host) && tls === null)
        yield {
          at: "server.tls",
          wrong: "the traffic between the proxy and this machine can be read on the network",
          fix: "keep other machines out of that network",
        };
    },
  },
  {
    id: "server.no-public-url",
    kind: "risk",
    level: "warning",
    *find({ server: { proxy, publicUrl } }, { tls }) {
      if (publicUrl === null && (proxy !== null || tls !== null))
        yield {
          at: "server.publicUrl",
          wrong: "requests under the public name are refused, because it is not configured",
          fix: "set it to that address",
        };
    },
  },
  {
    id: "server.wide-proxies",
    kind: "risk",
    level: "warning",
    *find({ server: { proxy } }) {
      for (const [index, address] of (proxy?.addresses ?? []).entries()) {
        const [net = "", prefix] = address.split("/");
        if (prefix !== undefined && Number(prefix) < (net.includes(":") ? 48 : 16))
          yield {
            at: `server.proxy.addresses[${index}]`,
            wrong: `${address} is a very large range, and every machine in it is trusted`,
            fix: "list only the addresses of the proxy",
          };
      }
    },
  },
  {
    id: "tls.unusable",
    kind: "risk",
    level: "wrong",
    *find(_config, { tls }) {
      if (tls !== null && tls.problem !== null)
        yield {
          at: "server.tls",
          wrong: tls.problem,
          fix: "fix it; the daemon does not start without it",
        };
    },
  },
  {
    id: "tls.readable-key",
    kind: "risk",
    level: "wrong",
    *find(_config, { tls }) {
      if (tls === null || tls.problem !== null) return;
      if (process.platform !== "win32" && (tls.keyMode & 0o077) !== 0)
        yield {
          at: "server.tls.key",
          wrong: `others on this machine may read the key (mode ${tls.keyMode.toString(8)})`,
          fix: "run chmod 600 on it",
        };
    },
  },
  {
    id: "tls.expired",
    kind: "risk",
    level: "wrong",
    *find(_config, { tls }) {
      if (tls !== null && tls.problem === null && tls.daysLeft < 0)
        yield {
          at: "server.tls.cert",
          wrong: "the certificate is no longer valid",
          fix: "renew it; the daemon loads the new files",
        };
    },
  },
  {
    id: "tls.expires-soon",
    kind: "risk",
    level: "warning",
    *find(_config, { tls }) {
      if (tls === null || tls.problem !== null) return;
      if (tls.daysLeft >= 0 && tls.daysLeft < daysLeftMin)
        yield {
          at: "server.tls.cert",
          wrong: `the certificate expires in ${tls.daysLeft} days`,
          fix: "renew it; the daemon loads the new files",
        };
    },
  },
];
