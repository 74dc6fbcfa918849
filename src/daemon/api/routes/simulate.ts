/**
 * `POST /api/simulate`
 * ====================
 * Runs a scenario in a world of its own (simulated clock, no store, no network) and answers with
 * what happened and why. The room simulator of the Chat page is a client of this; it changes
 * nothing.
 */
import { Hono } from "hono";
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import type { RouteDeps } from "./deps.ts";

/** A room made by hand has dozens of lines; files of millions go to `earshot replay`. */
const linesCountMax = 2_000;
/** Each ladder walks the whole conversation again, so a page names the few it shows. */
const explainCountMax = 100;
const schema = z.strictObject({
  lines: z.array(z.unknown()).max(linesCountMax),
  explain: z.array(z.string().max(limits.idUnitsMax)).max(explainCountMax).optional(),
});

export function simulateRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post("/simulate", ...jsonBody, async (context) => {
    const { lines, explain } = await parseBody(context, () => schema);
    return context.json(await ports.simulate(lines, explain));
  });
  return app;
}
