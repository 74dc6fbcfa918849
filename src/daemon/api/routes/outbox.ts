/**
 * The outbox
 * ==========
 * What is on its way out, what is in doubt and what is dead, with the two things an operator can do
 * about it; and what the webhook channel has sent, for programs that fetch their answers instead of
 * being told.
 */
import { Hono } from "hono";
import type { OutboxRow, OutboxState } from "../../../domain/ports/index.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";

const states = ["pending", "sending", "waiting", "in-doubt", "sent", "expired", "dead"] as const;
const unfinished: readonly OutboxState[] = ["pending", "sending", "waiting", "in-doubt", "dead"];
const rowsCountMax = 500;

export function outboxRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/outbox", async (context) => {
    const asked = context.req.query("state");
    const rows = await ports.store.outboxByState(statesOf(asked), rowsCountMax);
    const listed = asked === undefined ? rows.filter(isOfInterest) : rows;
    return context.json({ outbox: listed.map(shown) });
  });
  app.post("/outbox/:id/resend", async (context) => {
    const id = context.req.param("id");
    return done(await ports.runtime.resend(id), id, (body) => context.json(body));
  });
  app.post("/outbox/:id/drop", async (context) => {
    const id = context.req.param("id");
    return done(await ports.runtime.drop(id), id, (body) => context.json(body));
  });
  app.get("/outbound", (context) => {
    if ((context.req.query("channel") ?? "webhook") !== "webhook")
      throw new ApiRefusal(
        "bad-request",
        "Cannot list that: only the webhook channel is kept here",
      );
    return context.json({ outbound: ports.webhookSent(context.req.query("account")) });
  });
  return app;
}

/** Nobody has to do anything about a reaction that was not put. */
function isOfInterest({ kind, state }: OutboxRow): boolean {
  return state !== "dead" || (kind !== "react" && kind !== "unreact");
}

function done(
  changed: boolean,
  id: string,
  answer: (body: { id: string; done: true }) => Response,
): Response {
  if (!changed)
    throw new ApiRefusal(
      "not-found",
      "Cannot do that as there is no such outbox row, or it has been sent already",
    );
  return answer({ id, done: true });
}

function statesOf(text: string | undefined): readonly OutboxState[] {
  if (text === undefined) return unfinished;
  return text.split(",").map((name) => {
    const state = states.find((known) => known === name);
    if (state === undefined)
      throw new ApiRefusal("bad-request", `Cannot filter by that: any of ${states.join(", ")}`);
    return state;
  });
}

function shown({ body, messageIds, conv: _, ...row }: OutboxRow) {
  return {
    ...row,
    body: JSON.parse(body) as unknown,
    messageIds: messageIds === null ? null : (JSON.parse(messageIds) as unknown),
  };
}
