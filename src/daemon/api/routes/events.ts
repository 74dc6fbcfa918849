/**
 * `GET /api/events`
 * =================
 * The event stream as server-sent events: the lines that `earshot replay --json` prints, live. Each
 * reader has a bounded queue. A reader that is too slow is disconnected and may reconnect.
 */
import { z } from "zod";
import type { RuntimeListener } from "../../../actors/protocol/runtime-events.ts";
import { decisionSchema } from "../../../domain/decision.ts";
import type { Inbound } from "../../../domain/message.ts";
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
  text: flag.optional().describe("1: decisions with what the message says"),
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
    return stream(context, (put) => {
      const show = (line: StreamLine) => {
        if (wanted(line)) put(safeJson(line));
      };
      return deps.events.add(query.text === true ? withTexts(show) : { line: show });
    });
  });
}

/** Each decision with the text of its message, which is reported just before it. */
function withTexts(put: (line: StreamLine) => void): RuntimeListener {
  let heard: Pick<Inbound, "id" | "text"> | null = null;
  return {
    decided: (_conv, _key, { message }) => {
      heard = message;
    },
    ended: (message) => {
      heard = message;
    },
    line: (line) => {
      const isOfIt = "decision" in line && line.id === heard?.id;
      put(isOfIt ? { ...line, text: heard?.text ?? "" } : line);
    },
  };
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
