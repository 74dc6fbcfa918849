/**
 * `/api/setup`: what is set up, trying what was entered, and writing it. A caller with the token is the
 * operator, who may also run programs here by the config file. A secret is only ever taken, never sent.
 */
import type { Context } from "hono";
import { z } from "zod";
import { EarshotError } from "../../../../domain/errors.ts";
import { AgentFailure } from "../../../../domain/ports/index.ts";
import { causeText } from "../../../../domain/stream.ts";
import {
  setupModelsSchema,
  setupPlanSchema,
  setupStateSchema,
  setupWrittenSchema,
  triedChannelSchema,
  tryLineSchema,
} from "../../../api-types/setup.ts";
import { ApiRefusal } from "../../../http/api-error.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import {
  answersSchema,
  channelAnswersSchema,
  serverSchema,
  setupDriverSchema,
} from "../../../setup/answers.ts";
import type { Setup } from "../../../setup/setup.ts";
import type { RouteDeps } from "../deps.ts";

const refuses = ["bad-request", "conflict"] as const;

const state = {
  method: "get",
  path: "/api/setup",
  summary: "The agent and the channels as they are set up, without secrets",
  answer: setupStateSchema,
} as const;
const models = {
  method: "post",
  path: "/api/setup/models",
  summary: "Lists the models of a server",
  body: serverSchema,
  answer: setupModelsSchema,
  refuses,
} as const;
const tryIt = {
  method: "post",
  path: "/api/setup/try",
  summary: "Has an agent that is not configured yet say hello; JSON Lines",
  body: z.strictObject({
    agent: answersSchema.shape.agent,
    driver: setupDriverSchema,
    key: answersSchema.shape.key,
  }),
  answer: { contentType: "application/x-ndjson", each: tryLineSchema },
  refuses,
} as const;
const tryChannel = {
  method: "post",
  path: "/api/setup/channel",
  summary: "Asks a platform which account a token belongs to",
  body: channelAnswersSchema,
  answer: triedChannelSchema,
  refuses,
} as const;
const plan = {
  method: "post",
  path: "/api/setup/plan",
  summary: "What the answers would change in the config file",
  body: answersSchema,
  answer: setupPlanSchema,
  refuses,
} as const;
const write = {
  method: "post",
  path: "/api/setup/write",
  summary: "Writes the answers to the config file, and secrets to the file of secrets",
  body: z.strictObject({
    answers: answersSchema,
    token: z.string().max(64).describe("of the plan"),
  }),
  answer: setupWrittenSchema,
  refuses,
} as const;

export function setupRoutes({ add }: Endpoints, { setup }: RouteDeps): void {
  add(state, () => setup.state());
  add(models, async ({ body, context }) => ({
    models: await refusing(setup.models(body, context.req.raw.signal)).then((all) =>
      all === null ? null : [...all],
    ),
  }));
  add(tryIt, ({ body, context }) => lines(context, (signal) => setup.tryAgent(body, signal)));
  add(tryChannel, ({ body, context }) => refusing(setup.tryChannel(body, context.req.raw.signal)));
  add(plan, ({ body }) => refusing(setup.plan(body)));
  add(write, ({ body: { answers, token } }) => refusing(setup.write(answers, token)));
}

/** What was entered is wrong, or the file has changed: the refusal says which. */
export async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AgentFailure)
      throw new ApiRefusal("bad-request", causeText({ kind: error.kind, message: error.message }));
    if (error instanceof z.ZodError)
      throw new ApiRefusal("bad-request", `Cannot use this: ${z.prettifyError(error)}`);
    if (!(error instanceof EarshotError)) throw error;
    throw new ApiRefusal(error.code === "EAR_USAGE" ? "conflict" : "bad-request", error.message);
  }
}

function lines(
  context: Context,
  start: (signal: AbortSignal) => ReturnType<Setup["tryAgent"]>,
): Response {
  const stop = new AbortController();
  const steps = start(stop.signal);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const { value, done } = await steps.next();
      if (done === true) stream.close();
      else stream.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    cancel() {
      stop.abort();
    },
  });
  return context.body(body, 200, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
  });
}
