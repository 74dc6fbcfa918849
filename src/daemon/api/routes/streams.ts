/**
 * Readers of a stream
 * ===================
 * Common to all routes with server-sent events: a maximum number of readers, which are counted in the
 * metrics and disconnected when they are too slow.
 */
import type { Context } from "hono";
import { ApiRefusal } from "../../http/api-error.ts";
import { type HttpEnv, hasToken } from "../../http/auth.ts";
import { createSse, sseHeaders } from "../../http/sse.ts";
import type { RouteDeps } from "./deps.ts";

const readersCountMax = 64;

export interface StreamKind {
  /** Names it in metrics and in the log. */
  readonly reader: "events" | "rooms" | "health";
  /** UTF-16 units that may wait for one reader. */
  readonly queueUnitsMax: number;
}

/** Starts sending; the result ends it. `idle`: whether the reader has taken everything. */
export type Follow = (put: (data: string) => void, idle: () => boolean) => () => void;

/**
 * Answers each request with its own stream.
 * @throws ApiRefusal from the answer when too many readers are connected.
 */
export function createStreams(
  ports: RouteDeps,
  { reader, queueUnitsMax }: StreamKind,
): (context: Context<HttpEnv>, follow: Follow) => Response {
  let readers = 0;
  const count = (by: 1 | -1) => {
    readers += by;
    ports.metrics.streamReaders.set({ reader }, readers);
  };
  return (context, follow) => {
    if (readers >= readersCountMax)
      throw new ApiRefusal("not-ready", `Cannot stream: ${readersCountMax} readers are connected`);
    count(1);
    let off: () => void = () => undefined;
    const sse = createSse({
      clock: ports.clock,
      queueUnitsMax,
      stillAllowed: () => hasToken(context, ports.readToken),
      onSlow: (queuedUnits) => {
        ports.metrics.streamDropped.inc({ reader });
        ports.log("warn", `${reader}.reader-dropped`, { queuedUnits });
      },
      onEnd: () => {
        off();
        count(-1);
      },
    });
    off = follow(sse.put, sse.idle);
    return context.body(sse.body, 200, sseHeaders);
  };
}
