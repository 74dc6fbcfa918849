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
import { postedEvents } from "../../../adapters/channels/webhook/events.ts";
import { creditUseSchema, decisionSchema, ruleSchema } from "../../../domain/decision.ts";
import { limits } from "../../../domain/limits.ts";
import { inboundSchema } from "../../../domain/message.ts";
import { type ChannelEvent, type Clock, placeOf } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { type DeepReadonly, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { Post } from "../../http/direct.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const channel = "webhook";
const answerMsMax = 10_000;

const posted = postedEvents(
  {
    channel: z
      .literal(channel, { error: `only "${channel}" is accepted here; omit it` })
      .default(channel),
    account: inboundSchema.shape.account,
  },
  false,
);

const takeMessages = {
  method: "post",
  path: "/api/inbound",
  summary:
    "Accepts a message, an edit, a deletion or a member count, or an array; answers when it is durable",
  query: z.object({
    wait: z
      .literal("decision", { error: "only wait=decision is known" })
      .optional()
      .describe("wait for the decisions"),
  }),
  body: z.union([
    posted.any.transform((event) => [event]),
    z.array(posted.any).min(1).max(limits.inboundArrayCountMax),
  ]),
  bodyFor: posted.bodyFor,
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

type Taken = DeepReadonly<z.input<(typeof takeMessages)["answer"]>>;

export function inboundRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(takeMessages, ({ query: { wait }, body }) => answer(deps, body, wait === "decision"));
}

/** The same for requests with exactly these addresses. */
export function inboundPosts(deps: RouteDeps): ReadonlyMap<string, Post> {
  const { path, bodyFor } = takeMessages;
  const post = (waits: boolean): Post<ChannelEvent[]> => ({
    bodyFor,
    answer: (events) => answer(deps, events, waits),
  });
  return new Map([
    [path, post(false) as Post],
    [`${path}?wait=decision`, post(true) as Post],
  ]);
}

async function answer(
  deps: RouteDeps,
  events: readonly ChannelEvent[],
  waits: boolean,
): Promise<Taken> {
  const problem = deps.problem();
  if (problem !== null) throw new ApiRefusal("not-ready", problem);
  const outcomes = await inTime(deps.clock, take(deps, events, waits));
  return { taken: outcomes.flatMap(taken) };
}

async function take(
  { runtime }: RouteDeps,
  events: readonly ChannelEvent[],
  waits: boolean,
): Promise<readonly IngestOutcome[]> {
  const byAccount = new Map<string, ChannelEvent[]>();
  for (const event of events) {
    const { account } = placeOf(event);
    const ofAccount = byAccount.get(account);
    if (ofAccount === undefined) byAccount.set(account, [event]);
    else ofAccount.push(event);
  }
  const outcomes = await Promise.all(
    [...byAccount].map(([account, ofAccount]) =>
      runtime.ingest(channel, account, ofAccount, waits ? { wait: "decision" } : {}),
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
