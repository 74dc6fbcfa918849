/**
 * `GET /api/events`
 * =================
 * The event stream as server-sent events: the very lines that `earshot replay --json` prints, live.
 * Each reader has a queue of its own with an end; one that reads slower than things happen is cut
 * off and may come back, because nobody who only watches may hold up those who work.
 */
import { Hono } from "hono";
import { decisions } from "../../domain/decision.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { ApiRefusal } from "../api-error.ts";
import { type HttpEnv, hasToken } from "../guard.ts";
import { keyOf, tagged } from "../lines.ts";
import type { ServerPorts } from "../server-ports.ts";

const queueUnitsMax = 4_194_304;
const readersCountMax = 64;
const beatMs = 15_000;

export function eventRoutes(ports: ServerPorts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  let readers = 0;
  app.get("/events", (context) => {
    const wanted = filterOf(context.req.query());
    if (readers >= readersCountMax)
      throw new ApiRefusal("not-ready", `Cannot stream as ${readersCountMax} readers are here`);
    readers += 1;
    ports.metrics.streamReaders.set({ reader: "events" }, readers);
    const ended = () => {
      readers -= 1;
      ports.metrics.streamReaders.set({ reader: "events" }, readers);
    };
    const stillAllowed = () => hasToken(context, ports.readToken);
    return context.body(openStream(ports, wanted, stillAllowed, ended), 200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
  });
  return app;
}

type Filter = (line: StreamLine) => boolean;

/** `?key=` and `?decision=` narrow the stream; running texts come only with `?deltas=1`. */
function filterOf({ key, decision, deltas }: Record<string, string>): Filter {
  if (decision !== undefined && !decisions.some((known) => known === decision))
    throw new ApiRefusal("bad-request", `Cannot filter by that: one of ${decisions.join(", ")}`);
  return (line) => {
    const { kind } = tagged(line);
    if (kind === "delta" && deltas !== "1") return false;
    if (key !== undefined && keyOf(line) !== key) return false;
    return decision === undefined || ("decision" in line && line.decision === decision);
  };
}

function openStream(
  { bus, clock, metrics, log }: ServerPorts,
  wanted: Filter,
  stillAllowed: () => Promise<boolean>,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let queue: string[] = ["retry: 1000\n: the event stream\n\n"];
  let units = 0;
  let wake: (() => void) | null = null;
  let close: () => void = () => undefined;

  const put = (text: string) => {
    queue.push(text);
    units += text.length;
    wake?.();
  };
  const beat = () => {
    timer = clock.setTimer(clock.now() + beatMs, beat);
    void stillAllowed().then((allowed) => (allowed ? put(": beat\n\n") : close()));
  };
  let timer = clock.setTimer(clock.now() + beatMs, beat);
  const off = bus.subscribe((line) => {
    if (!wanted(line)) return;
    put(`data: ${JSON.stringify(line)}\n\n`);
    if (units <= queueUnitsMax) return;
    metrics.streamDropped.inc({ reader: "events" });
    log("warn", "events.reader-dropped", { queuedUnits: units });
    close();
  });
  const stop = () => {
    off();
    clock.clearTimer(timer);
    queue = [];
    wake?.();
    ended();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => {
          close = () => undefined;
          stop();
          controller.close();
        };
      },
      async pull(controller) {
        if (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        wake = null;
        if (queue.length === 0) return;
        const chunk = queue.join("");
        queue = [];
        units = 0;
        controller.enqueue(encoder.encode(chunk));
      },
      cancel() {
        close = () => undefined;
        stop();
      },
    },
    { highWaterMark: 0 },
  );
}
