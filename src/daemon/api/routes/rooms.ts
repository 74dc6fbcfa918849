/**
 * The list of rooms
 * =================
 * `GET /api/rooms` (a page of rows, by search and state), `GET /api/rooms/live` (the rows of a view
 * and then their changes, as server-sent events) and `POST /api/rooms/live/:view` (shows other rows).
 */
import { z } from "zod";
import { roomsFrameSchema, roomsPageSchema } from "../../api-types/rooms.ts";
import { text } from "../../api-types/schema.ts";
import { lookRowsMax, lookUnitsMax, roomFilters, roomStates } from "../../api-types/values.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { type Endpoints, wholeNumber } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";
import { createStreams } from "./streams.ts";

/** Far more than two frames: nothing is sent while a frame waits. */
const queueUnitsMax = 4_194_304;
const pageRows = 200;
const pageRowsMax = 1_000;
const findUnitsMax = 200;
const lookRows = 50;

const words = (description: string) =>
  z.string().max(lookUnitsMax).default("").meta({ description });
const look = {
  filter: z.enum(roomFilters).default("all").meta({ description: "only these" }),
  find: words("words that a room must have"),
  at: words("key of a room that must be among the rows"),
};
const digits = z
  .string()
  .regex(/^\d{1,15}$/u, "a whole number is expected")
  .transform(Number);
const yesNo = z.enum(["0", "1"]).transform((text) => text === "1");

const listRooms = {
  method: "get",
  path: "/api/rooms",
  summary: "Rooms, the most recently active first",
  query: z.object({
    find: z
      .string()
      .max(findUnitsMax, `at most ${findUnitsMax} characters`)
      .default("")
      .describe("words of a name, person, rule or key"),
    state: z.enum(roomStates).optional().describe("only rooms in this state"),
    from: wholeNumber().default(0).describe("the `next` of the page before"),
    limit: wholeNumber(pageRowsMax).default(pageRows).describe("at most so many"),
  }),
  answer: roomsPageSchema,
  refuses: ["no-copy", "bad-request"],
} as const;
const streamRooms = {
  method: "get",
  path: "/api/rooms/live",
  summary: "The rows of a view and then their changes, as server-sent events",
  query: z.object({
    ...look,
    from: digits.default(0).describe("rows before the first one"),
    limit: digits.pipe(z.number().min(1).max(lookRowsMax)).default(lookRows),
    follow: yesNo
      .default(true)
      .describe("1: keep the most recently active first; 0: keep the order"),
    sort: yesNo.default(false).describe("1: order them now, once"),
  }),
  answer: { contentType: "text/event-stream", each: roomsFrameSchema },
  refuses: ["bad-request", "not-ready"],
} as const;
const lookElsewhere = {
  method: "post",
  path: "/api/rooms/live/:view",
  summary: "Changes the rows of a view",
  params: z.object({ view: text.describe("the `view` of the stream's first frame") }),
  body: z.strictObject({
    ...look,
    from: z.number().int().min(0).default(0).meta({ description: "rows before the first one" }),
    limit: z.number().int().min(1).max(lookRowsMax).default(lookRows),
    follow: z.boolean().default(true).meta({ description: "keep the most recently active first" }),
    sort: z.boolean().default(false).meta({ description: "order them now, once" }),
  }),
  answer: z.object({ looking: z.literal(true) }),
  refuses: ["bad-request", "not-found", "too-large", "wrong-type"],
} as const;

export function roomsRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const { roomList } = deps;
  const stream = createStreams(deps, { reader: "rooms", queueUnitsMax });
  add(streamRooms, ({ context, query }) =>
    stream(context, (send, idle) => roomList.watch({ send, idle }, query)),
  );
  add(lookElsewhere, ({ params: { view }, body }) => {
    if (roomList.look(view, body)) return { looking: true as const };
    throw new ApiRefusal("not-found", "Cannot change the view: it is unknown");
  });
  add(listRooms, async ({ query: { find, state = null, from, limit } }) => {
    const wanted = Math.max(1, limit);
    const { rows, counts, more } = await roomList.list({ find, state, from, limit: wanted });
    return { rooms: rows, counts, next: more ? from + wanted : null };
  });
}
