/**
 * `GET /api/record`
 * =================
 * A part of the journal as a scenario, JSON Lines, streamed as it is read: `?since=` and `?until=`
 * in ms since the epoch, `?conversation=`, `?channel=`, `?redact=1`. A reader that takes its time
 * holds up nobody: the journal is read as fast as the reader takes it.
 */
import { Hono } from "hono";
import { isSessionKey } from "../../../domain/key.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { type RecordingQuery, recordingText } from "../../replay/recording.ts";
import type { RouteDeps } from "./deps.ts";

export function recordRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/record", (context) => {
    const query = queryOf(context.req.query());
    return context.body(streamOf(recordingText(ports.store, query)), 200, {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store",
    });
  });
  return app;
}

function queryOf(given: Record<string, string>): RecordingQuery {
  const { conversation, channel, redact, since, until } = given;
  if (since === undefined) throw new ApiRefusal("bad-request", "Cannot record as since is missing");
  if (conversation !== undefined && !isSessionKey(conversation))
    throw new ApiRefusal("bad-request", "Cannot record that as conversation is no session key");
  return {
    since: momentOf("since", since),
    ...(until === undefined ? {} : { until: momentOf("until", until) }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(channel === undefined ? {} : { channel }),
    redact: redact === "1",
  };
}

function momentOf(name: string, given: string): number {
  const value = Number(given);
  if (/^\d{1,15}$/u.test(given)) return value;
  throw new ApiRefusal("bad-request", `Cannot record as ${name} is not in ms since the epoch`);
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
