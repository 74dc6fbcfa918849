/**
 * Mending
 * =======
 * What an operator can do about what does not go on by itself: an event in quarantine is tried
 * again or left alone, an account that was given up is opened once more. Each is asked for by a
 * person and happens once.
 */
import { Hono } from "hono";
import type { RetryOutcome } from "../../../actors/protocol/runtime.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";

export function retryRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/quarantine", (context) => {
    const quarantined = ports.runtime.status().quarantined.map(({ conv: _, ...row }) => row);
    return context.json({ quarantined });
  });
  app.post("/quarantine/:seq/retry", async (context) => {
    const seq = rowNumber(context.req.param("seq"));
    check(await ports.runtime.retryEvent(seq));
    return context.json({ seq, done: true });
  });
  app.post("/quarantine/:seq/drop", async (context) => {
    const seq = rowNumber(context.req.param("seq"));
    if (!(await ports.runtime.dropEvent(seq))) check("unknown");
    return context.json({ seq, done: true });
  });
  app.post("/channels/:channel/:account/retry", async (context) => {
    const { channel, account } = context.req.param();
    if (!(await ports.retryConnection(channel, account)))
      throw new ApiRefusal(
        "not-found",
        "Cannot connect that again as there is no such account, or it is not halted",
      );
    return context.json({ channel, account, done: true });
  });
  return app;
}

function check(outcome: RetryOutcome): void {
  if (outcome === "unknown")
    throw new ApiRefusal(
      "not-found",
      "Cannot do that as there is no such row in quarantine, or it has been tried again already",
    );
  if (outcome === "unreadable")
    throw new ApiRefusal("bad-request", "Cannot try that again as its journal row holds no event");
  if (outcome === "deleted")
    throw new ApiRefusal("bad-request", "Cannot try that again as its author has deleted it since");
}

function rowNumber(text: string): number {
  if (!/^\d{1,16}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot look for that row: its number is wanted");
  return Number(text);
}
