/**
 * `GET /api/events`
 * =================
 * The event stream as server-sent events: the lines that `earshot replay --json` prints, live. Each
 * reader has a bounded queue. A reader that is too slow is disconnected and may reconnect.
 */
import { z } from "zod";
import { decisionSchema } from "../../../domain/decision.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import { streamLineSchema } from "../../api-types/stream-line.ts";
import { keyOf, tagged } from "../../events/event-kinds.ts";
import { safeJson } from "../../events/safe-json.ts";
import { type Endpoints, flag } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

const querySchema = z.object({
  key: z.string().optional().describe("only this conversation"),
  decision: decisionSchema.optional().describe("only these decisions"),
  deltas: flag.optional().describe("1: with the text of running turns"),
});

const streamEvents = {
  method: "get",
  path: "/api/events",
  summary: "The event stream, as server-sent events",
  query: querySchema,
  answer: { contentType: "text/event-stream", each: streamLineSchema },
  refuses: ["bad-request", "not-ready"],
} as const;

export function eventRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const stream = createStreams(deps, { reader: "events", queueUnitsMax: 4_194_304 });
  add(streamEvents, ({ context, query }) => {
    const wanted = filterOf(query);
    return stream(context, (put) =>
      deps.events.add({
        line: (line) => {
          if (wanted(line)) put(safeJson(line));
        },
      }),
    );
  });
}

/** Texts of running turns are omitted unless the query asks for them. */
function filterOf({
  key,
  decision,
  deltas,
}: z.output<typeof querySchema>): (line: StreamLine) => boolean {
  return (line) => {
    if (tagged(line).kind === "delta" && deltas !== true) return false;
    if (key !== undefined && keyOf(line) !== key) return false;
    return decision === undefined || ("decision" in line && line.decision === decision);
  };
}
