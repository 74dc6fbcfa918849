/**
 * `GET /api/health` and `GET /api/health/live` (the same after each change, as server-sent events)
 * are what the Health page shows. `/healthz` and `/readyz` are for programs that only need to know
 * whether the daemon is alive.
 */
import { healthSchema } from "../../api-types/health.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

const readHealth = {
  method: "get",
  path: "/api/health",
  summary: "Problems that need attention, and the state of the daemon",
  answer: healthSchema,
} as const;
const streamHealth = {
  method: "get",
  path: "/api/health/live",
  summary: "The health, now and after each change, as server-sent events",
  answer: { contentType: "text/event-stream", each: healthSchema },
  refuses: ["not-ready"],
} as const;

export function healthPageRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const stream = createStreams(deps, { reader: "health", queueUnitsMax: 4_194_304 });
  add(streamHealth, ({ context }) =>
    stream(context, (put) => deps.health.watch((health) => put(JSON.stringify(health)))),
  );
  add(readHealth, () => deps.health.read());
}
