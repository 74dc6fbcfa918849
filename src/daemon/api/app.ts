/**
 * The HTTP application
 * ====================
 * All routes, in the order a request meets them: the checks of Host and Origin, health without a
 * token, the API behind the token, then the pages.
 */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { KnownHosts } from "../http/allowed-hosts.ts";
import { answerError, refuse } from "../http/api-error.ts";
import { guardHost, guardStreams, guardToken, type HttpEnv } from "../http/auth.ts";
import { createEndpoints } from "../http/endpoint.ts";
import { securityHeaders } from "../http/page-headers.ts";
import { loadPages, type PageFiles } from "../http/static-pages.ts";
import { openApi } from "./openapi.ts";
import { accessRoutes } from "./routes/access.ts";
import { commandRoutes } from "./routes/commands.ts";
import type { RouteDeps } from "./routes/deps.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { healthPageRoutes } from "./routes/health-page.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { inboundRoutes } from "./routes/inbound.ts";
import { inspectRoutes } from "./routes/inspect.ts";
import { checkRoutes } from "./routes/needs/checks.ts";
import { needsRoutes } from "./routes/needs/needs.ts";
import { outboxRoutes } from "./routes/outbox.ts";
import { recordRoutes } from "./routes/record.ts";
import { retryRoutes } from "./routes/retry.ts";
import { roomRoutes } from "./routes/room.ts";
import { roomsRoutes } from "./routes/rooms.ts";
import { searchRoutes } from "./routes/search/search.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { settingsRoutes } from "./routes/setup/settings.ts";
import { setupRoutes } from "./routes/setup/setup.ts";
import { simulateRoutes } from "./routes/simulate.ts";
import { statusRoutes } from "./routes/status.ts";
import { roomActionRoutes } from "./routes/unasked/room-actions.ts";
import { scheduleRoutes } from "./routes/unasked/schedules.ts";
import { sendRoutes } from "./routes/unasked/send.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { whatIfRoutes } from "./routes/what-if.ts";

const securityHeaderList = Object.entries(securityHeaders);

/** Answers every request. The files of the pages are read now. */
export async function appListener(
  deps: RouteDeps,
  known: () => KnownHosts,
  pages: PageFiles,
): Promise<RequestListener> {
  const app = createApp(deps, known, await loadPages(pages));
  return getRequestListener(app.fetch) as RequestListener;
}

function createApp(deps: RouteDeps, known: () => KnownHosts, pages: Hono<HttpEnv>): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.use(async (context, next) => {
    // An answer that sets one of them replaces it. The headers of a `Response` cost ten times as much.
    for (const [name, value] of securityHeaderList) context.env.outgoing.setHeader(name, value);
    await next();
    const { path } = context.req;
    const route = path.startsWith("/api/") ? "api" : path.startsWith("/hooks/") ? "hook" : "page";
    deps.metrics.answered(route, context.res.status);
  });
  app.use(guardHost(known));
  healthRoutes(app, deps);
  app.route("/", hookRoutes(deps));
  app.use("/api/*", guardToken(deps.readToken));
  app.use("/api/*", async (context, next) => {
    context.env.outgoing.setHeader("cache-control", "no-store");
    return next();
  });
  const endpoints = createEndpoints(app, guardStreams(deps.readToken, deps.clock), deps.noCopy);
  for (const routes of [
    inboundRoutes,
    eventRoutes,
    statusRoutes,
    outboxRoutes,
    retryRoutes,
    simulateRoutes,
    commandRoutes,
    sessionRoutes,
    accessRoutes,
    roomsRoutes,
    recordRoutes,
    searchRoutes,
    healthPageRoutes,
    needsRoutes,
    checkRoutes,
    setupRoutes,
    settingsRoutes,
    roomRoutes,
    roomActionRoutes,
    whatIfRoutes,
    inspectRoutes,
    uploadRoutes,
    sendRoutes,
    scheduleRoutes,
  ])
    routes(endpoints, deps);
  app.get("/api/openapi.json", (context) =>
    context.json(openApi(deps.version, endpoints.declared)),
  );
  app.route("/", pages);
  app.notFound((context) =>
    context.req.method === "GET" || context.req.method === "HEAD"
      ? refuse(context, "unknown-path", "Cannot find that path: docs/api.md lists all routes")
      : refuse(
          context,
          "wrong-method",
          "Cannot use that method here: docs/api.md lists all routes",
        ),
  );
  app.onError((error, context) => answerError(error, context, deps.log));
  return app;
}
