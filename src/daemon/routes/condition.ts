/**
 * Health of the daemon
 * ====================
 * `GET /api/health` and `GET /api/health/live` (the same, again after each change, as server-sent
 * events): what the Health page shows. `/healthz` and `/readyz` are for programs that only want to
 * know whether it lives.
 */
import { Hono } from "hono";
import { ApiRefusal } from "../api-error.ts";
import { type HttpEnv, hasToken } from "../guard.ts";
import type { ServerPorts } from "../server-ports.ts";
import { createSse, sseHeaders } from "../sse.ts";

const readersCountMax = 64;
const queueUnitsMax = 4_194_304;

export function conditionRoutes(ports: ServerPorts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  let readers = 0;
  const count = (by: 1 | -1) => {
    readers += by;
    ports.metrics.streamReaders.set({ reader: "health" }, readers);
  };
  app.get("/health/live", (context) => {
    if (readers >= readersCountMax)
      throw new ApiRefusal("not-ready", `Cannot stream as ${readersCountMax} readers are here`);
    count(1);
    let off: () => void = () => undefined;
    const sse = createSse({
      clock: ports.clock,
      queueUnitsMax,
      stillAllowed: () => hasToken(context, ports.readToken),
      onSlow: (queuedUnits) => {
        ports.metrics.streamDropped.inc({ reader: "health" });
        ports.log("warn", "health.reader-dropped", { queuedUnits });
      },
      onEnd: () => {
        off();
        count(-1);
      },
    });
    off = ports.health.watch((health) => sse.put(JSON.stringify(health)));
    return context.body(sse.body, 200, sseHeaders);
  });
  app.get("/health", async (context) => context.json(await ports.health.read()));
  return app;
}
