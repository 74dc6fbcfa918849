/**
 * Tickets for the inspector
 * =========================
 * `POST /api/inspect/tickets`: whoever has the token is given an address of `/inspect/ws` that opens
 * one socket, for clients that can show nothing but an address.
 */
import { Hono } from "hono";
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import { checkedKey } from "../../room-view/room-views.ts";
import type { RouteDeps } from "./deps.ts";

/** What a ticket is wanted for. */
export const inspectWishSchema = z.strictObject({
  key: z.string().max(limits.idUnitsMax).optional().meta({ description: "only this conversation" }),
  words: z.boolean().default(false).meta({ description: "with what people and agents say" }),
});

export function inspectRoutes({ inspector }: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post("/inspect/tickets", ...jsonBody, async (context) => {
    const { key, words } = await parseBody(context, () => inspectWishSchema);
    const wish = { key: key === undefined ? null : checkedKey(key), words };
    const ticket = await inspector.tickets.mint(wish);
    const socket = `/inspect/ws?ticket=${ticket}`;
    return context.json({ socket, withinMs: limits.inspectTicketMs, page: inspector.page });
  });
  return app;
}
