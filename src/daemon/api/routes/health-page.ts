/**
 * Health of the daemon
 * ====================
 * `GET /api/health` and `GET /api/health/live` (the same, again after each change, as server-sent
 * events): what the Health page shows. `/healthz` and `/readyz` are for programs that only want to
 * know whether it lives.
 */
import { Hono } from "hono";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

export function healthPageRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const stream = createStreams(ports, { reader: "health", queueUnitsMax: 4_194_304 });
  app.get("/health/live", (context) =>
    stream(context, (put) => ports.health.watch((health) => put(JSON.stringify(health)))),
  );
  app.get("/health", async (context) => context.json(await ports.health.read()));
  return app;
}
