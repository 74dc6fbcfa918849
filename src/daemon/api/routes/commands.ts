/**
 * Commands
 * ========
 * The table of commands as the daemon has it, with what plugins and the default agent's skills add: for
 * help while somebody types. It says what there is, not what the asker may do.
 */
import { Hono } from "hono";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";

export function commandRoutes(ports: RouteDeps): Hono<HttpEnv> {
  return new Hono<HttpEnv>().get("/commands", (context) =>
    context.json({ commands: ports.commands() }),
  );
}
