/**
 * The list of rooms
 * =================
 * `GET /api/rooms` (a page of rows, by search and state), `GET /api/rooms/live` (the rows somebody
 * looks at and then what changes in them, as server-sent events) and `POST /api/rooms/live/:view`
 * (that somebody looks elsewhere).
 */
import { type Context, Hono } from "hono";
import { z } from "zod";
import {
  lookRowsMax,
  lookUnitsMax,
  type RoomStateName,
  type RoomsLook,
  roomFilters,
  roomStates,
} from "../../api-types/rooms.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

/** Nothing is put while something waits, so this is far more than two frames. */
const queueUnitsMax = 4_194_304;
const pageRows = 200;
const pageRowsMax = 1_000;
const findUnitsMax = 200;
const lookRows = 50;

const filter = z.enum(roomFilters).default("all").meta({ description: "only these" });
const find = words("words that a room has to have");
const at = words("key of a room that is to be among the rows, wherever it stands");

/** Where somebody looks, as a body. */
export const lookSchema = z.strictObject({
  filter,
  find,
  at,
  from: z.number().int().min(0).default(0).meta({ description: "rows before the first one" }),
  limit: z.number().int().min(1).max(lookRowsMax).default(lookRows),
  follow: z.boolean().default(true).meta({ description: "those heard last first, ever anew" }),
  sort: z.boolean().default(false).meta({ description: "order them now, once" }),
});
const flag = z.enum(["0", "1"]).transform((text) => text === "1");
const digits = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
/** The same as a query. */
const querySchema = z.object({
  filter,
  find,
  at,
  from: digits.default(0),
  limit: digits.pipe(z.number().min(1).max(lookRowsMax)).default(lookRows),
  follow: flag.default(true),
  sort: flag.default(false),
});

function words(description: string) {
  return z.string().max(lookUnitsMax).default("").meta({ description });
}

export function roomsRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const stream = createStreams(ports, { reader: "rooms", queueUnitsMax });
  app.get("/rooms/live", (context) => {
    const look = queried(context);
    return stream(context, (tell, idle) => ports.roomList.watch({ tell, idle }, look));
  });
  app.post("/rooms/live/:view", ...jsonBody, async (context) => {
    const look = await parseBody<RoomsLook>(context, () => lookSchema);
    if (!ports.roomList.look(context.req.param("view"), look))
      throw new ApiRefusal("not-found", "Cannot look elsewhere as that stream is not there");
    return context.json({ looking: true });
  });
  app.get("/rooms", async (context) => {
    const { find = "", state } = context.req.query();
    if (find.length > findUnitsMax)
      throw new ApiRefusal("bad-request", `Cannot find that: at most ${findUnitsMax} characters`);
    const from = wholeNumber(context, "from", 0, Number.MAX_SAFE_INTEGER);
    const limit = Math.max(1, wholeNumber(context, "limit", pageRows, pageRowsMax));
    const query = { find, state: stateOf(state), from, limit };
    const { rows, counts, more } = await ports.roomList.list(query);
    return context.json({ rooms: rows, counts, next: more ? from + limit : null });
  });
  return app;
}

function queried(context: Context<HttpEnv>): RoomsLook {
  const parsed = querySchema.safeParse(context.req.query());
  if (parsed.success) return parsed.data;
  const { path = [], message = "" } = parsed.error.issues[0] ?? {};
  throw new ApiRefusal(
    "bad-request",
    `Cannot look there as ${path.join(".")} is wrong: ${message}`,
  );
}

function stateOf(state: string | undefined): RoomStateName | null {
  if (state === undefined) return null;
  const known = roomStates.find((name) => name === state);
  if (known !== undefined) return known;
  throw new ApiRefusal("bad-request", `Cannot filter by that: one of ${roomStates.join(", ")}`);
}

/** A number of the query, at most `max`; the default where there is none. */
function wholeNumber(
  context: Context<HttpEnv>,
  name: string,
  otherwise: number,
  max: number,
): number {
  const text = context.req.query(name);
  if (text === undefined) return otherwise;
  if (!/^\d{1,16}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot read a number of the query: whole numbers only");
  return Math.min(Number(text), max);
}
