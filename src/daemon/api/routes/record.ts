/**
 * `GET /api/record`
 * =================
 * A part of the journal as a scenario, or as labelled rooms, JSON Lines. The journal is read as fast as the reader takes
 * it.
 */
import { z } from "zod";
import { isSessionKey } from "../../../domain/key.ts";
import { type Endpoints, flag } from "../../http/endpoint.ts";
import { labelledText, type RecordingQuery, recordingText } from "../../replay/recording.ts";
import type { RouteDeps } from "./deps.ts";

const moment = z
  .string()
  .regex(/^\d{1,15}$/u, "ms since the epoch are expected")
  .transform(Number);

const querySchema = z.object({
  since: moment.describe("ms since the epoch"),
  until: moment.optional().describe("ms since the epoch"),
  conversation: z
    .string()
    .refine(isSessionKey, "it is not a session key")
    .optional()
    .describe("only this conversation"),
  channel: z.string().optional().describe("only messages of this channel"),
  labels: flag.optional().describe("1: rooms in which somebody labelled a message, with labels"),
  redact: flag.optional().describe("1: words, names and numbers are replaced"),
});

const record = {
  method: "get",
  path: "/api/record",
  summary: "A part of the journal as a scenario, or as labelled rooms, JSON Lines",
  query: querySchema,
  answer: { contentType: "application/x-ndjson", each: z.looseObject({}) },
  refuses: ["no-copy", "bad-request"],
} as const;

export function recordRoutes({ add }: Endpoints, { store }: RouteDeps): void {
  add(record, ({ context, query }) =>
    context.body(streamOf(textOf(store, query)), 200, {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store",
    }),
  );
}

function textOf(store: RouteDeps["store"], query: z.output<typeof querySchema>) {
  const text = query.labels === true ? labelledText : recordingText;
  return text(store, recordingQuery(query));
}

function recordingQuery({
  since,
  until,
  conversation,
  channel,
  redact,
}: z.output<typeof querySchema>): RecordingQuery {
  return {
    since,
    ...(until === undefined ? {} : { until }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(channel === undefined ? {} : { channel }),
    redact: redact === true,
  };
}

function streamOf(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(stream) {
      const { value, done } = await lines.next();
      if (done === true) stream.close();
      else stream.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
