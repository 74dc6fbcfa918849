/**
 * Recordings, runs, explanations, and applying rules to the config. A run is answered with
 * server-sent events while it is running; closing the answer aborts it.
 */
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { measures } from "../../../domain/quality/folds.ts";
import { setupPlanSchema } from "../../api-types/setup.ts";
import { type TuneFrame, tuneFrameSchema } from "../../api-types/tune.ts";
import {
  type WhatIfFrame,
  whatIfAppliedSchema,
  whatIfFrameSchema,
  whatIfLaddersSchema,
  whatIfRecordingSchema,
} from "../../api-types/what-if.ts";
import { ApiRefusal, refuse } from "../../http/api-error.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const shortText = z.string().min(1).max(limits.idUnitsMax);
const rules = z.string().max(limits.bodyBytesMax).describe("a config, as JSON5");
const recording = shortText.describe("`id` of the recording");
const refuses = ["bad-request", "too-large", "wrong-type"] as const;

const readRecording = {
  method: "post",
  path: "/api/what-if/recordings",
  summary: "Reads a part of the journal to try rules on",
  body: z.strictObject({
    since: z.number().int().min(0).describe("ms since the epoch"),
    until: z.number().int().min(0).exactOptional(),
    conversation: z.string().max(limits.labelUnitsMax).exactOptional(),
    name: shortText,
  }),
  answer: whatIfRecordingSchema,
  refuses,
} as const;
const takeFile = {
  method: "post",
  path: "/api/what-if/files",
  summary: "Uploads a scenario to try rules on",
  query: z.object({ name: z.string().default("the file").describe("name that is shown") }),
  rawBody: "application/jsonl",
  answer: whatIfRecordingSchema,
  refuses,
} as const;
const run = {
  method: "post",
  path: "/api/what-if/run",
  summary: "Tries rules on a recording",
  body: z.strictObject({ recording, rules }),
  answer: { contentType: "text/event-stream", each: whatIfFrameSchema },
  refuses,
} as const;
const explain = {
  method: "post",
  path: "/api/what-if/ladders",
  summary: "Both explanations of one message",
  body: z.strictObject({ recording, rules, n: z.number().int().min(0) }),
  answer: whatIfLaddersSchema,
  refuses,
} as const;
const plan = {
  method: "post",
  path: "/api/what-if/plan",
  summary: "What rules would change in the config file",
  body: z.strictObject({ rules }),
  answer: setupPlanSchema,
  refuses,
} as const;
const apply = {
  method: "post",
  path: "/api/what-if/apply",
  summary: "Writes rules to the config file",
  body: z.strictObject({ rules, token: shortText.describe("of the plan") }),
  answer: whatIfAppliedSchema,
  refuses,
} as const;
const undo = {
  method: "post",
  path: "/api/what-if/undo",
  summary: "Undoes the last application",
  body: z.strictObject({ undo: whatIfAppliedSchema.shape.undo }),
  answer: whatIfAppliedSchema.pick({ rules: true }),
  refuses,
} as const;

const tune = {
  method: "post",
  path: "/api/what-if/tune",
  summary: "Looks for rules that decide better on labelled messages",
  body: z.strictObject({
    since: z.number().int().min(0).describe("ms since the epoch"),
    measure: z.enum(measures),
    atLeast: z.number().min(0).max(1).nullable().describe("null: as high as possible"),
  }),
  answer: { contentType: "text/event-stream", each: tuneFrameSchema },
  refuses,
} as const;

export function whatIfRoutes(endpoints: Endpoints, { whatIf, tuneLabels, log }: RouteDeps): void {
  const { app, add } = endpoints;
  add(readRecording, ({ body: { name, ...query } }) => whatIf.record(query, name));
  const large = bodyLimit({
    maxSize: limits.whatIfBytesMax,
    onError: (context) =>
      refuse(
        context,
        "too-large",
        `Cannot load a recording of more than ${limits.whatIfBytesMax / 1_048_576} MiB: compare it with ` +
          "`earshot replay FILE --config A --against B`",
      ),
  });
  app.use(takeFile.path, large);
  add(takeFile, async ({ context, query: { name } }) => {
    const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (type !== takeFile.rawBody)
      throw new ApiRefusal("wrong-type", `Cannot read the body: send \`${takeFile.rawBody}\``);
    return whatIf.upload(await context.req.text(), name.slice(0, limits.labelUnitsMax));
  });
  const answer = <Frame extends WhatIfFrame | TuneFrame>(
    context: Context,
    work: (send: (frame: Frame | Failed) => void, signal: AbortSignal) => Promise<void>,
  ) => {
    const frames = framesOf<Frame | Failed>(async (send, signal) => {
      try {
        await work(send, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof EarshotError))
          log("error", "what-if.failed", { error: String(error) });
        const message = error instanceof EarshotError ? error.message : "Cannot replay that";
        send({ type: "failed", message });
      }
    });
    return context.body(frames, 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
    });
  };
  add(run, ({ context, body: { recording: id, rules: written } }) =>
    answer<WhatIfFrame>(context, (send, signal) => whatIf.run(id, written, send, signal)),
  );
  add(tune, ({ context, body: { since, ...target } }) =>
    answer<TuneFrame>(context, (send, signal) => tuneLabels.run({ since }, target, send, signal)),
  );
  add(explain, ({ context, body: { recording: id, rules: written, n } }) =>
    whatIf.ladders(id, written, n, context.req.raw.signal),
  );
  add(plan, ({ body: { rules: written } }) => whatIf.plan(written));
  add(apply, ({ body: { rules: written, token } }) => whatIf.apply(written, token));
  add(undo, ({ body: { undo: written } }) => whatIf.undo(written));
}

interface Failed {
  readonly type: "failed";
  readonly message: string;
}

/** The frames of `work` as server-sent events; closing the answer aborts the work. */
function framesOf<Frame>(
  work: (send: (frame: Frame) => void, signal: AbortSignal) => Promise<void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const stop = new AbortController();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (frame: Frame) => {
        if (!stop.signal.aborted)
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(frame)}\n\n`));
      };
      void work(send, stop.signal).finally(() => {
        if (!stop.signal.aborted) controller.close();
      });
    },
    cancel: () => stop.abort(new Error("the answer was closed")),
  });
}
