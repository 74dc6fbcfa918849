/**
 * One room
 * ========
 * `GET /api/rooms/:key` (how it stands and the newest lines), `/history` (other lines) and `/live`
 * (frames as server-sent events, at most four a second). A reader is given frames when it takes
 * them: one that is slow gets fewer, and nothing is kept for it.
 */
import { Hono } from "hono";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { checkedKey, type RoomReader } from "../../room-view/room-views.ts";
import type { RouteDeps } from "./deps.ts";

const readersCountMax = 64;
const beatMs = 15_000;
const historyLines = 60;
const historyLinesMax = 1_000;

export function roomRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  let readers = 0;
  const count = (by: 1 | -1) => {
    readers += by;
    ports.metrics.streamReaders.set({ reader: "room" }, readers);
  };
  app.get("/rooms/:key/live", async (context) => {
    const key = checkedKey(context.req.param("key"));
    const after = numberOf(context.req.query("after"));
    if (readers >= readersCountMax)
      throw new ApiRefusal("not-ready", `Cannot stream as ${readersCountMax} readers are here`);
    count(1);
    const reader = await ports.roomViews.watch(key, after).catch((error: unknown) => {
      count(-1);
      throw error;
    });
    if (reader === null) {
      count(-1);
      throw unknown();
    }
    return context.body(
      stream(ports, reader, () => count(-1)),
      200,
      {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    );
  });
  app.get("/rooms/:key/history", async (context) => {
    const key = checkedKey(context.req.param("key"));
    const after = numberOf(context.req.query("after"));
    const before = numberOf(context.req.query("before")) ?? Number.MAX_SAFE_INTEGER;
    const limit = numberOf(context.req.query("limit")) ?? historyLines;
    const history = await ports.roomViews.history(
      key,
      after === null ? { before } : { after },
      Math.min(limit, historyLinesMax),
    );
    if (history === null) throw unknown();
    return context.json(history);
  });
  app.get("/rooms/:key", async (context) => {
    const view = await ports.roomViews.view(checkedKey(context.req.param("key")));
    if (view === null) throw unknown();
    return context.json(view);
  });
  return app;
}

const unknown = () =>
  new ApiRefusal("not-found", "Cannot show that room as nothing was heard there yet");

function numberOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,16}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot read a number of the query: whole numbers only");
  return Number(text);
}

/** Frames as they are taken; a comment now and then shows that the line still stands. */
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
          // Whoever has not taken the last frame yet knows that the line stands.
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
