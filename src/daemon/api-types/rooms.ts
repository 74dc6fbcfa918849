/**
 * The list of rooms
 * =================
 * Answers of `GET /api/rooms` and its live stream. A page receives the rows of its view. Each
 * row is complete, so a page that missed some is up to date with the next one.
 */
import { z } from "zod";
import { decisionSchema, ruleSchema } from "../../domain/decision.ts";
import { count, millis, type Shape, text } from "./schema.ts";
import { type RoomFilter, roomFilters, roomStates } from "./values.ts";

const lastLineSchema = z.object({
  decision: decisionSchema,
  rule: ruleSchema,
  author: text,
  text: text.nullable().describe("one safe line, cut; null: it was deleted"),
});

export const roomRowSchema = z.object({
  key: text,
  channel: text.describe("empty if a key covers several channels"),
  account: text,
  title: text,
  kind: z.enum(["direct", "group", "channel", "main"]),
  place: text.describe('what tells the room apart on its channel, for example "channel:9021"'),
  agent: text,
  state: z.enum(roomStates),
  faces: z
    .array(z.object({ name: text, bot: z.boolean() }))
    .describe("recent authors, people first; at most 4"),
  humans: count.nullable().describe("people as the ladder counts them; null while asleep"),
  source: text.describe("where that number comes from"),
  bots: count,
  credits: z.array(millis).describe("when credits end, the last to end first"),
  queued: count.describe("messages that wait for a turn"),
  guard: z.enum(["clear", "tripped", "muted"]),
  recent: text.describe("the last decisions as letters, the newest last"),
  last: lastLineSchema.nullable(),
  heardAt: millis.describe("time of the last message; 0: unknown"),
});
export type RoomRow = Shape<typeof roomRowSchema>;

const activitySchema = z
  .object({
    perMinute: z.number(),
    engagedPercent: z.number().nullable(),
    decidedMsP99: millis.nullable().describe("from receipt to decision, of the newest messages"),
    firstWordsMsP50: millis.nullable().describe("from the start of a turn to its first sent part"),
    bars: z.array(z.tuple([count, count])).describe("messages and engaged ones, oldest first"),
    barMs: millis,
  })
  .describe("the last 15 minutes");
export type ActivityView = Shape<typeof activitySchema>;

export const roomCountsSchema = z.object({ live: count, asleep: count });
export type RoomCounts = Shape<typeof roomCountsSchema>;

const filterCountsSchema = z.record(z.enum(roomFilters), count);
/** Number of rooms for each filter, without the search. */
export type FilterCounts = Shape<typeof filterCountsSchema>;

/** A frame of `GET /api/rooms/live`. */
export const roomsFrameSchema = z.discriminatedUnion("type", [
  z
    .object({ type: z.literal("open"), view: text })
    .describe("first of all: the name of this view, for `POST /api/rooms/live/{view}`"),
  z
    .object({
      type: z.literal("window"),
      total: count.describe("rows in total"),
      from: count.describe("place of the first row"),
      keys: z.array(text),
      rows: z.array(roomRowSchema).describe("complete rows that are new or changed"),
      fresh: count.describe("rooms that have no place in the order yet"),
      at: count.nullable().describe("place of the requested room; null: not found"),
    })
    .describe("the rows of the view; the page drops all others"),
  z
    .object({ type: z.literal("rows"), rows: z.array(roomRowSchema), fresh: count })
    .describe("rows of the window that changed"),
  z
    .object({
      type: z.literal("now"),
      now: millis.describe("the daemon's clock, for countdowns"),
      counts: roomCountsSchema,
      filters: filterCountsSchema,
      pulse: activitySchema,
    })
    .describe("about once a second"),
]);
export type RoomsFrame = Shape<typeof roomsFrameSchema>;

export const roomsPageSchema = z.object({
  rooms: z.array(roomRowSchema),
  counts: roomCountsSchema,
  next: count.nullable().describe("`from` of the next page; null: there is none"),
});
/** The answer of `GET /api/rooms`. */
export type RoomsPageAnswer = Shape<typeof roomsPageSchema>;

/** The view of a page: filter, search, window. */
export interface RoomsLook {
  readonly filter: RoomFilter;
  /** Words that a room must have, in any order. */
  readonly find: string;
  /** Rows before the first one. */
  readonly from: number;
  readonly limit: number;
  /** Keep the most recently active rooms first; otherwise the order stays. */
  readonly follow: boolean;
  /** Order the rows now, once. */
  readonly sort: boolean;
  /** The key of a room that must be among the rows; empty: none. */
  readonly at: string;
}
