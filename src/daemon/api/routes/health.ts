/**
 * `/healthz`, `/readyz`, `/metrics`
 * =================================
 * Alive: the process answers. Ready: messages are accepted, or 503 with the reason. Neither reveals
 * anything about rooms, so neither needs the token.
 */
import type { Hono } from "hono";
import type { EngineStatus } from "../../api-types/engine.ts";
import { guardLocalOrToken, type HttpEnv } from "../../http/auth.ts";
import type { Probed } from "../../http/direct.ts";
import type { RouteDeps } from "./deps.ts";

/** The two that need no token, by their addresses. */
export function probesOf(ports: RouteDeps): ReadonlyMap<string, () => Probed> {
  return new Map<string, () => Probed>([
    ["/healthz", () => ({ status: 200, body: { ok: true } })],
    ["/readyz", () => readiness(ports)],
  ]);
}

export function healthRoutes(app: Hono<HttpEnv>, ports: RouteDeps): void {
  for (const [path, probe] of probesOf(ports))
    app.get(path, (context) => {
      const { body, status } = probe();
      return context.json(body, status);
    });
  app.get("/metrics", guardLocalOrToken(ports.readToken, ports.clients), async (context) => {
    const { registry } = ports.metrics;
    return context.text(await registry.metrics(), 200, { "content-type": registry.contentType });
  });
}

function readiness(ports: RouteDeps): Probed {
  const message = ports.problem() ?? notReady(ports) ?? engineProblem(ports.engineStatus());
  return message === null
    ? { status: 200, body: { ready: true } }
    : { status: 503, body: { ready: false, error: { code: "not-ready", message } } };
}

/** Why nothing is accepted, where an engine keeps the conversations; null: it is. */
export function engineProblem(engine: EngineStatus | null): string | null {
  const server = engine?.problems.find(({ what }) => what === "server");
  return server?.says ?? null;
}

function notReady({ runtime }: RouteDeps): string | null {
  const { ready, problem } = runtime.status();
  return ready ? null : (problem ?? "not ready yet");
}
