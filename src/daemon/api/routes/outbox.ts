/**
 * Parts of answers that are being sent, in doubt or dead, which an operator can resend or drop; and
 * what the webhook channel sent, for programs that fetch their answers.
 */
import { z } from "zod";
import { outgoingChoicesSchema, outgoingMediaSchema } from "../../../domain/outgoing.ts";
import type { OutboxRow, OutboxState } from "../../../domain/ports/index.ts";
import { count, millis, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const states = ["pending", "sending", "waiting", "in-doubt", "sent", "expired", "dead"] as const;
const stateSchema = z.enum(states);
const unfinished: readonly OutboxState[] = ["pending", "sending", "waiting", "in-doubt", "dead"];
const rowsCountMax = 500;

const rowSchema = z.object({
  id: text,
  key: text,
  turnId: text,
  index: count,
  kind: z.enum(["reply", "notice", "edit", "react", "unreact"]),
  state: stateSchema,
  createdAt: millis,
  dueAt: millis,
  attempts: count,
  doubts: count.describe("how often it was unknown whether a send took effect"),
  body: z.unknown().describe("what is sent: route, text, replyTo"),
  messageIds: z.unknown().describe("ids on the platform once it was sent; else null"),
  error: text.nullable(),
});
const partParams = z.object({ id: text.describe("turn id, colon, index") });
const doneSchema = z.object({ id: text, done: z.literal(true) });
const routeSchema = z.object({
  channel: text,
  account: text,
  chat: z.object({ id: text, kind: z.enum(["direct", "group", "channel"]) }),
  thread: z.object({ id: text, kind: z.enum(["thread", "topic"]) }).nullable(),
});

const listOutbox = {
  method: "get",
  path: "/api/outbox",
  summary: "Parts of answers by state",
  query: z.object({
    state: z
      .string()
      .transform((names) => names.split(","))
      .pipe(z.array(stateSchema))
      .optional()
      .describe("states, separated by commas"),
  }),
  answer: z.object({ outbox: z.array(rowSchema) }),
  refuses: ["no-copy", "bad-request"],
} as const;
const resendPart = {
  method: "post",
  path: "/api/outbox/:id/resend",
  summary: "Sends a part again",
  params: partParams,
  answer: doneSchema,
  refuses: ["not-found"],
} as const;
const dropPart = {
  method: "post",
  path: "/api/outbox/:id/drop",
  summary: "Drops a part",
  params: partParams,
  answer: doneSchema,
  refuses: ["not-found"],
} as const;
const listOutbound = {
  method: "get",
  path: "/api/outbound",
  summary: "What the webhook channel sent",
  query: z.object({
    channel: z.literal("webhook", { error: "only the webhook channel is stored here" }).optional(),
    account: z.string().optional().describe("only this account"),
  }),
  answer: z.object({
    outbound: z.array(
      z.object({
        account: text,
        at: millis,
        id: text.describe("`turnId:index`: the same for a repeated attempt"),
        route: routeSchema,
        replyTo: text.nullable(),
        text,
        media: outgoingMediaSchema
          .pick({ kind: true, name: true, mime: true, bytes: true, url: true })
          .exactOptional()
          .describe("a file that was posted"),
        choices: outgoingChoicesSchema.exactOptional().describe("a question with options"),
        edits: text.exactOptional(),
      }),
    ),
  }),
  refuses: ["bad-request"],
} as const;

export function outboxRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const { runtime, store } = deps;
  add(listOutbox, async ({ query: { state } }) => {
    const rows = await store.outboxByState(state ?? unfinished, rowsCountMax);
    const listed = state === undefined ? rows.filter(isOfInterest) : rows;
    return { outbox: listed.map(shown) };
  });
  add(resendPart, async ({ params: { id } }) => done(await runtime.resend(id), id));
  add(dropPart, async ({ params: { id } }) => done(await runtime.drop(id), id));
  add(listOutbound, ({ query: { account } }) => ({ outbound: deps.webhookSent(account) }));
}

/** A failed reaction needs no attention. */
function isOfInterest({ kind, state }: OutboxRow): boolean {
  return state !== "dead" || (kind !== "react" && kind !== "unreact");
}

function done(changed: boolean, id: string): { readonly id: string; readonly done: true } {
  if (changed) return { id, done: true };
  throw new ApiRefusal(
    "not-found",
    "Cannot do that: the outbox row is unknown, or was sent already",
  );
}

function shown({ body, messageIds, conv: _, ...row }: OutboxRow) {
  return {
    ...row,
    body: JSON.parse(body) as unknown,
    messageIds: messageIds === null ? null : (JSON.parse(messageIds) as unknown),
  };
}
