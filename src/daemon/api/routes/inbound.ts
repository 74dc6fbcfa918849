/**
 * `POST /api/inbound`
 * ===================
 * Any program can be a room: one message or an array of them, in the form of docs/guide/scenarios.md
 * with the channel left out. The answer is sent when every message is durable; with `?wait=decision`
 * it has the decision of each. While the store fails or the intake is full the answer is 503 and
 * nothing was accepted, so the same request may be sent again: a message id is accepted once.
 */
import { z } from "zod";
import type { IngestOutcome } from "../../../actors/protocol/runtime.ts";
import { creditUseSchema, decisionSchema, ruleSchema } from "../../../domain/decision.ts";
import { limits } from "../../../domain/limits.ts";
import { type Inbound, inboundSchema } from "../../../domain/message.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const channel = "webhook";
const answerMsMax = 10_000;

const one = inboundSchema.extend({
  channel: z
    .literal(channel, { error: `only "${channel}" is accepted here; omit it` })
    .default(channel),
});
const many = z.array(one).min(1).max(limits.inboundArrayCountMax);
const oneOrMany = z.union([one, many]);

const takeMessages = {
  method: "post",
  path: "/api/inbound",
  summary: "Accepts one message or an array; answers when they are durable",
  query: z.object({
    wait: z
      .literal("decision", { error: "only wait=decision is known" })
      .optional()
      .describe("wait for the decisions"),
  }),
  body: oneOrMany,
  bodyFor: (value: unknown): z.ZodType<z.output<typeof oneOrMany>> =>
    Array.isArray(value) ? many : one,
  answer: z.object({
    taken: z.array(
      z.object({
        id: text,
        key: text.nullable().describe("null: no conversation received it"),
        decision: decisionSchema.exactOptional(),
        rule: ruleSchema.exactOptional(),
        credit: creditUseSchema.exactOptional(),
      }),
    ),
  }),
  refuses: ["bad-request", "too-large", "wrong-type", "not-ready"],
} as const;

export function inboundRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(takeMessages, async ({ query: { wait }, body }) => {
    const messages = Array.isArray(body) ? body : [body];
    const problem = deps.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    const outcomes = await inTime(deps.clock, take(deps, messages, wait === "decision"));
    return { taken: outcomes.flatMap(taken) };
  });
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
  const outcomes = await Promise.all(
    [...byAccount].map(([account, ofAccount]) =>
      runtime.ingest(
        channel,
        account,
        ofAccount.map((message) => ({ type: "message" as const, message })),
        waits ? { wait: "decision" } : {},
      ),
    ),
  );
  return outcomes.flat();
}

/** Bounds how long a request waits for a host that is restarting. */
async function inTime<Answer>(clock: Clock, work: Promise<Answer>): Promise<Answer> {
  const answer = await within(clock, answerMsMax, work);
  if (answer !== late) return answer;
  throw new ApiRefusal(
    "not-ready",
    `Cannot answer within ${answerMsMax} ms. Send the same request again: an id is accepted once`,
  );
}

/** One entry for each agent that received it. */
function taken({ id, receivers: heard }: IngestOutcome) {
  if (heard.length === 0) return [{ id, key: null }];
  return heard.map(({ key, verdict }) =>
    verdict === null
      ? { id, key }
      : { id, key, decision: verdict.decision, rule: verdict.rule, credit: verdict.credit },
  );
}
