/**
 * `/healthz`, `/readyz`, `/metrics`
 * =================================
 * Alive: the process answers. Ready: messages are accepted, or 503 with the reason. Neither reveals
 * anything about rooms, so neither needs the token.
 */
import { Hono } from "hono";
import { guardLocalOrToken, type HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";

export function healthRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/healthz", (context) => context.json({ ok: true }));
  app.get("/readyz", (context) => {
    const problem = ports.problem() ?? notReady(ports);
    return problem === null
      ? context.json({ ready: true })
      : context.json({ ready: false, error: { code: "not-ready", message: problem } }, 503);
  });
  app.get("/metrics", guardLocalOrToken(ports.readToken, ports.clients), async (context) => {
    const { registry } = ports.metrics;
    return context.text(await registry.metrics(), 200, { "content-type": registry.contentType });
  });
  return app;
}

function notReady({ runtime }: RouteDeps): string | null {
  const { ready, problem } = runtime.status();
  return ready ? null : (problem ?? "not ready yet");
}
