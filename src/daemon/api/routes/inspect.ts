/**
 * `POST /api/inspect/tickets` answers with an address of `/inspect/ws` that opens one socket, for
 * clients that cannot send headers.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { millis, text } from "../../api-types/schema.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import { checkedKey } from "../../room-view/room-views.ts";
import type { RouteDeps } from "./deps.ts";

const makeTicket = {
  method: "post",
  path: "/api/inspect/tickets",
  summary: "Creates an address of /inspect/ws that opens one socket within a minute",
  body: z.strictObject({
    key: z
      .string()
      .max(limits.idUnitsMax)
      .optional()
      .meta({ description: "only this conversation" }),
    words: z.boolean().default(false).meta({ description: "with what people and agents say" }),
  }),
  answer: z.object({
    socket: text.describe("path and query of the socket"),
    withinMs: millis,
    page: text.describe("address of the inspector that the page opens"),
  }),
  refuses: ["bad-request", "too-large", "wrong-type"],
} as const;

export function inspectRoutes({ add }: Endpoints, { inspector }: RouteDeps): void {
  add(makeTicket, async ({ body: { key, words } }) => {
    const wish = { key: key === undefined ? null : checkedKey(key), words };
    const ticket = await inspector.tickets.create(wish);
    const socket = `/inspect/ws?ticket=${ticket}`;
    return { socket, withinMs: limits.inspectTicketMs, page: inspector.page };
  });
}
