/**
 * `GET /api/events`
 * =================
 * The event stream as server-sent events: the very lines that `earshot replay --json` prints, live.
 * Each reader has a queue of its own with an end; one that reads slower than things happen is cut
 * off and may come back, because nobody who only watches may hold up those who work.
 */
import { Hono } from "hono";
import { decisions } from "../../../domain/decision.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import { keyOf, tagged } from "../../events/event-kinds.ts";
import { safeJson } from "../../events/safe-json.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

export function eventRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const stream = createStreams(ports, { reader: "events", queueUnitsMax: 4_194_304 });
  app.get("/events", (context) => {
    const wanted = filterOf(context.req.query());
    return stream(context, (put) =>
      ports.bus.subscribe((line) => {
        if (wanted(line)) put(safeJson(line));
      }),
    );
  });
  return app;
}

type Filter = (line: StreamLine) => boolean;

/** `?key=` and `?decision=` narrow the stream; running texts come only with `?deltas=1`. */
function filterOf({ key, decision, deltas }: Record<string, string>): Filter {
  if (decision !== undefined && !decisions.some((known) => known === decision))
    throw new ApiRefusal("bad-request", `Cannot filter by that: one of ${decisions.join(", ")}`);
  return (line) => {
    const { kind } = tagged(line);
    if (kind === "delta" && deltas !== "1") return false;
    if (key !== undefined && keyOf(line) !== key) return false;
    return decision === undefined || ("decision" in line && line.decision === decision);
  };
}
