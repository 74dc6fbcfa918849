/**
 * What-if
 * =======
 * Recordings, tries, ladders, and the way back into the config. A try is answered as it goes, with
 * server-sent events; who closes the answer ends the try.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { WhatIfFrame } from "../../api-types/what-if.ts";
import { ApiRefusal, refuse } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import { whatIfBytesMax } from "../../what-if/recording.ts";
import type { RouteDeps } from "./deps.ts";

const text = z.string().min(1).max(limits.idUnitsMax);
const rules = z.string().max(limits.bodyBytesMax);
const recordingSchema = z.strictObject({
  /** ms since the epoch. */
  since: z.number().int().min(0),
  until: z.number().int().min(0).optional(),
  conversation: z.string().max(limits.labelUnitsMax).optional(),
  name: text,
});
const runSchema = z.strictObject({ recording: text, rules });
const laddersSchema = z.strictObject({ recording: text, rules, n: z.number().int().min(0) });
const applySchema = z.strictObject({ rules });
const undoSchema = z.strictObject({ undo: text });

export function whatIfRoutes({ whatIf, log }: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post("/what-if/recordings", ...jsonBody, async (context) => {
    const { name, since, until, conversation } = await parseBody(context, () => recordingSchema);
    const query = {
      since,
      ...(until === undefined ? {} : { until }),
      ...(conversation === undefined ? {} : { conversation }),
    };
    return context.json(await whatIf.record(query, name));
  });
  const large = bodyLimit({
    maxSize: whatIfBytesMax,
    onError: (context) =>
      refuse(
        context,
        "too-large",
        `Cannot take a recording of more than ${whatIfBytesMax / 1_048_576} MiB: compare it with ` +
          "`earshot replay FILE --config A --against B`",
      ),
  });
  app.post("/what-if/files", large, async (context) => {
    const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (type !== "application/jsonl")
      throw new ApiRefusal("wrong-type", "Cannot read the body: send `application/jsonl`");
    const name = (context.req.query("name") ?? "the file").slice(0, limits.labelUnitsMax);
    return context.json(whatIf.upload(await context.req.text(), name));
  });
  app.post("/what-if/run", ...jsonBody, async (context) => {
    const asked = await parseBody(context, () => runSchema);
    const body = answer(async (tell, signal) => {
      try {
        await whatIf.run(asked.recording, asked.rules, tell, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof EarshotError))
          log("error", "what-if.failed", { error: String(error) });
        const told = error instanceof EarshotError ? error.message : "Cannot replay that";
        tell({ type: "failed", message: told });
      }
    });
    return context.body(body, 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
    });
  });
  app.post("/what-if/ladders", ...jsonBody, async (context) => {
    const { recording, rules: written, n } = await parseBody(context, () => laddersSchema);
    const { signal } = context.req.raw;
    return context.json(await whatIf.ladders(recording, written, n, signal));
  });
  app.post("/what-if/apply", ...jsonBody, async (context) => {
    const asked = await parseBody(context, () => applySchema);
    return context.json(await whatIf.apply(asked.rules));
  });
  app.post("/what-if/undo", ...jsonBody, async (context) => {
    const { undo } = await parseBody(context, () => undoSchema);
    return context.json(await whatIf.undo(undo));
  });
  return app;
}

/** Frames as they are told, until `work` is done; closing it calls the work off. */
function answer(
  work: (tell: (frame: WhatIfFrame) => void, signal: AbortSignal) => Promise<void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const stop = new AbortController();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const tell = (frame: WhatIfFrame) => {
        if (!stop.signal.aborted)
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(frame)}\n\n`));
      };
      void work(tell, stop.signal).finally(() => {
        if (!stop.signal.aborted) controller.close();
      });
    },
    cancel: () => stop.abort(new Error("called off")),
  });
}
