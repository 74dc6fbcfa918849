/**
 * What answers the requests of a listener: the few addresses of programs and probes at once, and the
 * whole application, which is loaded with the first request for anything else.
 */
import type { RequestListener } from "node:http";
import type { KnownHosts } from "../http/allowed-hosts.ts";
import { answerDirectly, onFirstRequest } from "../http/direct.ts";
import type { PageFiles } from "../http/static-pages.ts";
import type { RouteDeps } from "./routes/deps.ts";
import { probesOf } from "./routes/health.ts";
import { inboundPosts } from "./routes/inbound.ts";

export function createListener(
  deps: RouteDeps,
  known: () => KnownHosts,
  pages: PageFiles,
): RequestListener {
  const { readToken, log, metrics } = deps;
  return answerDirectly({
    known,
    readToken,
    log,
    probes: probesOf(deps),
    posts: inboundPosts(deps),
    count: metrics.answered,
    others: onFirstRequest(async () => {
      const { appListener } = await import("./app.ts");
      return appListener(deps, known, pages);
    }, log),
  });
}
