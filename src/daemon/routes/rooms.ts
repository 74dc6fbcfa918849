/**
 * The list of rooms
 * =================
 * `GET /api/rooms` (a page of rows, by search and state) and `GET /api/rooms/live` (the whole list
 * and then what changes, as server-sent events). Every watcher gets the same frames, made once.
 */
import { Hono } from "hono";
import { ApiRefusal } from "../api-error.ts";
import type { HttpEnv } from "../guard.ts";
import { type RoomRow, roomStates } from "../rooms.types.ts";
import type { ServerPorts } from "../server-ports.ts";
import { createStreams } from "./streams.ts";

/** The whole list of 10,000 rooms may wait for a reader. */
const queueUnitsMax = 16_777_216;
const pageRows = 200;
const pageRowsMax = 1_000;
const findUnitsMax = 200;

export function roomsRoutes(ports: ServerPorts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const stream = createStreams(ports, { reader: "rooms", queueUnitsMax });
  app.get("/rooms/live", (context) => stream(context, (put) => ports.rooms.watch(put)));
  app.get("/rooms", async (context) => {
    const { find = "", state } = context.req.query();
    if (find.length > findUnitsMax)
      throw new ApiRefusal("bad-request", `Cannot find that: at most ${findUnitsMax} characters`);
    const from = wholeNumber(context.req.query("from"), 0, Number.MAX_SAFE_INTEGER);
    const limit = Math.max(1, wholeNumber(context.req.query("limit"), pageRows, pageRowsMax));
    const filter = filterOf(find, state);
    const { rows, counts, more } = await ports.rooms.list({ filter, find, from, limit });
    return context.json({ rooms: rows, counts, next: more ? from + limit : null });
  });
  return app;
}

function filterOf(find: string, state: string | undefined): (row: RoomRow) => boolean {
  if (state !== undefined && !roomStates.some((known) => known === state))
    throw new ApiRefusal("bad-request", `Cannot filter by that: one of ${roomStates.join(", ")}`);
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => {
    if (state !== undefined && row.state !== state) return false;
    if (words.length === 0) return true;
    const { key, title, channel, place, faces, last } = row;
    const names = faces.map(({ name }) => name);
    const rule = last === null ? [] : [last.decision, last.rule, last.author];
    const all = [key, title, channel, place, ...names, ...rule].join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

/** A number of the query, at most `max`; the default where there is none. */
function wholeNumber(text: string | undefined, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,16}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot read a number of the query: whole numbers only");
  return Math.min(Number(text), max);
}
