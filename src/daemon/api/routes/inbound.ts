/**
 * `POST /api/inbound`
 * ===================
 * Any program can be a room: one message or an array of them, in the form of
 * docs/guide/scenarios.md with the channel left out. The answer comes when every message is
 * durable; with `?wait=decision` it says what was decided about each. While the store fails or the
 * intake is full the answer is 503 and nothing was taken, so the same request may be sent again: a
 * message id is taken once.
 */
import { Hono } from "hono";
import { z } from "zod";
import type { IngestOutcome } from "../../../actors/protocol/runtime.ts";
import { limits } from "../../../domain/limits.ts";
import { type Inbound, inboundSchema } from "../../../domain/message.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import type { RouteDeps } from "./deps.ts";

const channel = "webhook";
const answerMsMax = 10_000;

const one = z.preprocess(
  (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && !("channel" in value)
      ? { ...value, channel }
      : value,
  inboundSchema.refine((message) => message.channel === channel, {
    path: ["channel"],
    message: `only "${channel}" comes in here; leave it out`,
  }),
);
const many = z.array(one).min(1).max(limits.inboundArrayCountMax);
const alone = one.transform((message) => [message]);

export function inboundRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post("/inbound", ...jsonBody, async (context) => {
    const wait = context.req.query("wait");
    if (wait !== undefined && wait !== "decision")
      throw new ApiRefusal("bad-request", "Cannot wait for that: only wait=decision is known");
    const messages = await parseBody<Inbound[]>(context, (value) =>
      Array.isArray(value) ? many : alone,
    );
    const problem = ports.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    const taken = await inTime(ports.clock, take(ports, messages, wait === "decision"));
    return context.json({ taken: taken.flatMap(told) });
  });
  return app;
}

async function take(
  { runtime }: RouteDeps,
  messages: readonly Inbound[],
  waits: boolean,
): Promise<readonly IngestOutcome[]> {
  const byAccount = new Map<string, Inbound[]>();
  for (const message of messages) {
    const sofar = byAccount.get(message.account);
    if (sofar === undefined) byAccount.set(message.account, [message]);
    else sofar.push(message);
  }
  const taken = await Promise.all(
    [...byAccount].map(([account, ofAccount]) =>
      runtime.ingest(
        channel,
        account,
        ofAccount.map((message) => ({ type: "message" as const, message })),
        waits ? { wait: "decision" } : {},
      ),
    ),
  );
  return taken.flat();
}

/** A request does not hang on a host that is being started again. */
function inTime<Answer>(clock: Clock, work: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(clock.now() + answerMsMax, () =>
      reject(
        new ApiRefusal(
          "not-ready",
          `Cannot answer as it took over ${answerMsMax} ms: send the same again, ids are taken once`,
        ),
      ),
    );
    work.then(resolve, reject).finally(() => clock.clearTimer(timer));
  });
}

/** One entry for each agent that heard it. */
function told({ id, heard }: IngestOutcome) {
  if (heard.length === 0) return [{ id, key: null }];
  return heard.map(({ key, verdict }) =>
    verdict === null
      ? { id, key }
      : { id, key, decision: verdict.decision, rule: verdict.rule, credit: verdict.credit },
  );
}
