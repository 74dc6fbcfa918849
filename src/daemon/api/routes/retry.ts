/**
 * Actions for work that stopped: an event in quarantine is retried or dropped, a halted account is
 * connected again. Each request acts once.
 */
import { z } from "zod";
import type { RetryOutcome } from "../../../actors/protocol/runtime.ts";
import { count, millis, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { type Endpoints, wholeNumber } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const rowParams = z.object({ seq: wholeNumber().describe("number of the journal row") });
const doneSchema = z.object({ seq: count, done: z.literal(true) });

const listQuarantine = {
  method: "get",
  path: "/api/quarantine",
  summary: "Events in quarantine",
  answer: z.object({
    quarantined: z.array(
      z.object({
        key: text,
        seq: count.describe("number of the journal row"),
        at: millis,
        error: text,
        tries: count,
      }),
    ),
  }),
  refuses: ["no-copy"],
} as const;
const retryEvent = {
  method: "post",
  path: "/api/quarantine/:seq/retry",
  summary: "Retries an event in quarantine",
  params: rowParams,
  answer: doneSchema,
  refuses: ["bad-request", "not-found"],
} as const;
const dropEvent = {
  method: "post",
  path: "/api/quarantine/:seq/drop",
  summary: "Removes an event from the list",
  params: rowParams,
  answer: doneSchema,
  refuses: ["bad-request", "not-found"],
} as const;
const retryAccount = {
  method: "post",
  path: "/api/channels/:channel/:account/retry",
  summary: "Connects a halted account again",
  params: z.object({
    channel: text.describe("channel id"),
    account: text.describe("account name"),
  }),
  answer: z.object({ channel: text, account: text, done: z.literal(true) }),
  refuses: ["not-found"],
} as const;

export function retryRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const { runtime } = deps;
  add(listQuarantine, () => ({
    quarantined: runtime.status().quarantined.map(({ conv: _, ...row }) => row),
  }));
  add(retryEvent, async ({ params: { seq } }) => {
    check(await runtime.retryEvent(seq));
    return { seq, done: true as const };
  });
  add(dropEvent, async ({ params: { seq } }) => {
    if (!(await runtime.dropEvent(seq))) check("unknown");
    return { seq, done: true as const };
  });
  add(retryAccount, async ({ params: { channel, account } }) => {
    if (!(await deps.retryConnection(channel, account)))
      throw new ApiRefusal("not-found", "Cannot connect that account: it is unknown or not halted");
    return { channel, account, done: true as const };
  });
}

function check(outcome: RetryOutcome): void {
  if (outcome === "unknown")
    throw new ApiRefusal(
      "not-found",
      "Cannot do that: the row is not in quarantine, or was retried already",
    );
  if (outcome === "unreadable")
    throw new ApiRefusal("bad-request", "Cannot retry: the journal row has no event");
  if (outcome === "deleted")
    throw new ApiRefusal("bad-request", "Cannot retry: the author has deleted the message since");
}
