/**
 * `GET /api/rooms/:key` (its state and the newest lines), `/history` (other lines) and `/live`
 * (frames as server-sent events, at most four a second), and `POST /api/rooms/:key/label`. A frame is created when the reader
 * takes it: a slow reader gets fewer frames, and nothing is queued for it.
 */
import { z } from "zod";
import { expectedSchema } from "../../../domain/decision.ts";
import { limits } from "../../../domain/limits.ts";
import { roomFrameSchema, roomHistorySchema, roomViewSchema } from "../../api-types/room.ts";
import { transitionsSchema } from "../../api-types/room-transitions.ts";
import { labelSchema } from "../../api-types/runtime.ts";
import { text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { type Endpoints, wholeNumber } from "../../http/endpoint.ts";
import { checkedKey, type RoomReader } from "../../room-view/room-views.ts";
import type { RouteDeps } from "./deps.ts";

const readersCountMax = 64;
const beatMs = 15_000;
const historyLines = 60;
const historyLinesMax = 1_000;

const params = z.object({ key: text.describe("session key, percent-encoded") });

const readRoom = {
  method: "get",
  path: "/api/rooms/:key",
  summary: "One room: its state and its newest lines",
  params,
  answer: roomViewSchema,
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;
const readHistory = {
  method: "get",
  path: "/api/rooms/:key/history",
  summary: "Other lines of one room",
  params,
  query: z.object({
    before: wholeNumber().optional().describe("the `before` of the page that has newer lines"),
    after: wholeNumber().optional().describe("the `upTo` of the page that has older lines"),
    limit: wholeNumber(historyLinesMax).default(historyLines).describe("at most so many lines"),
  }),
  answer: roomHistorySchema,
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;
const readTransitions = {
  method: "get",
  path: "/api/rooms/:key/transitions",
  summary: "The last transitions of a room's statechart, with the event that took each",
  params,
  query: z.object({
    after: wholeNumber().optional().describe("only those of later journal rows than this"),
  }),
  answer: transitionsSchema,
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;
const streamRoom = {
  method: "get",
  path: "/api/rooms/:key/live",
  summary: "One room and then its changes, as server-sent events",
  params,
  query: z.object({
    after: wholeNumber().optional().describe("the `upTo` that the page has already"),
  }),
  answer: { contentType: "text/event-stream", each: roomFrameSchema },
  refuses: ["bad-request", "not-found", "not-ready"],
} as const;

const labelLine = {
  method: "post",
  path: "/api/rooms/:key/label",
  summary: "Says what would have been right about a message, or takes that back",
  params,
  body: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(limits.idUnitsMax)
      .meta({ description: "platform id of the message" }),
    seq: z.number().int().min(1).exactOptional().meta({ description: "its journal row, if known" }),
    expected: expectedSchema
      .nullable()
      .meta({ description: "what would have been right; null: takes back what was said" }),
  }),
  answer: z.object({ label: labelSchema.nullable() }),
  refuses: ["bad-request", "not-found", "too-large", "wrong-type", "not-ready"],
} as const;

export function roomRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const { roomViews, metrics, runtime } = deps;
  let readers = 0;
  const count = (by: 1 | -1) => {
    readers += by;
    metrics.streamReaders.set({ reader: "room" }, readers);
  };
  add(streamRoom, async ({ context, params: { key }, query: { after = null } }) => {
    checkedKey(key);
    if (readers >= readersCountMax)
      throw new ApiRefusal("not-ready", `Cannot stream: ${readersCountMax} readers are connected`);
    count(1);
    const reader = await roomViews.watch(key, after).catch((error: unknown) => {
      count(-1);
      throw error;
    });
    if (reader === null) {
      count(-1);
      throw unknown();
    }
    return context.body(
      stream(deps, reader, () => count(-1)),
      200,
      {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    );
  });
  add(readHistory, async ({ params: { key }, query }) => {
    const { after, before = Number.MAX_SAFE_INTEGER, limit } = query;
    const from = after === undefined ? { before } : { after };
    const history = await roomViews.history(checkedKey(key), from, limit);
    if (history === null) throw unknown();
    return history;
  });
  add(readTransitions, async ({ params: { key }, query: { after = 0 } }) => {
    const transitions = await roomViews.transitions(checkedKey(key), after);
    if (transitions === null) throw unknown();
    return { transitions: [...transitions] };
  });
  add(labelLine, async ({ params: { key }, body }) => {
    const label = await runtime.label({ key: checkedKey(key), by: "operator", ...body });
    if (label !== "unknown") return { label };
    throw new ApiRefusal(
      "not-found",
      "Cannot label that message: it was not decided in that room. Use the id of a decided one",
    );
  });
  add(readRoom, async ({ params: { key } }) => {
    const view = await roomViews.view(checkedKey(key));
    if (view === null) throw unknown();
    return view;
  });
}

const unknown = () =>
  new ApiRefusal("not-found", "Cannot show that room: there are no messages in it yet");

/** Frames as the reader takes them, with periodic comments that keep the connection alive. */
function stream(
  { clock, log }: RouteDeps,
  reader: RoomReader,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let open = true;
  const stop = () => {
    if (!open) return;
    open = false;
    clock.clearTimer(timer);
    reader.close();
    ended();
  };
  let beat: () => void = () => undefined;
  let timer = clock.setTimer(clock.now() + beatMs, () => beat());
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        beat = () => {
          timer = clock.setTimer(clock.now() + beatMs, () => beat());
          // A reader with a pending frame needs no comment.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": beat\n\n"));
        };
        controller.enqueue(encoder.encode("retry: 1000\n\n"));
      },
      async pull(controller) {
        const frame = await reader.next().catch((error: unknown) => {
          log("warn", "room.unreadable", { error: String(error) });
          return null;
        });
        if (!open) return;
        if (frame === null) {
          stop();
          controller.close();
        } else controller.enqueue(encoder.encode(`data: ${JSON.stringify(frame)}\n\n`));
      },
      cancel: stop,
    },
    { highWaterMark: 1 },
  );
}
