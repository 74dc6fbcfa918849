/**
 * From hello to close. A client with a ticket or with the token in a header is accepted immediately;
 * any other must first send hello, with the token and what it wants to see. After that it only
 * receives. A reader that is too slow is closed with a reason.
 */
import type { RawData, WebSocket } from "ws";
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { onTokenChange } from "../http/token-watch.ts";
import type { TokenReader } from "../state/token.ts";
import { sameSecret } from "../state/token.ts";
import type { AllowedRequest } from "./tickets.ts";

const helloMsMax = 5_000;
const beatMs = 30_000;

/** Close codes and reasons. */
const closeCodes = {
  badFrame: 4_400,
  badToken: 4_401,
  noHello: 4_408,
  tooSlow: 4_413,
} as const;

const helloSchema = z.strictObject({
  type: z.literal("hello"),
  token: z.string().max(512),
  key: z.string().max(limits.idUnitsMax).exactOptional(),
  words: z.boolean().exactOptional(),
});

export interface ReaderPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly readToken: TokenReader;
  /** The reader is accepted. @throws EarshotError if the conversation does not exist */
  opened(wish: AllowedRequest): void;
  /** The reader is gone. `slow`: it was disconnected. */
  closed(slow: boolean): void;
}

export interface InspectReader {
  send(json: string): void;
}

/** Serves one socket until it closes. `wish`: what it may see; null: it must send hello. */
export function serveReader(
  socket: WebSocket,
  wish: AllowedRequest | null,
  ports: ReaderPorts,
): InspectReader {
  const { clock, log, readToken } = ports;
  let state: "greeting" | "open" | "closed" = "greeting";
  let alive = true;
  let slow = false;
  let off: () => void = () => undefined;

  const end = () => {
    if (state === "closed") return;
    state = "closed";
    clock.clearTimer(greeting);
    clock.clearTimer(beating);
    off();
    ports.closed(slow);
  };
  const close = (reason: keyof typeof closeCodes) => {
    socket.close(closeCodes[reason], reason);
    end();
  };
  const allowed = async (token: string) => {
    const current = await readToken().catch(() => null);
    return current !== null && sameSecret(token, current);
  };
  async function admit(wanted: AllowedRequest): Promise<void> {
    const known = await allowed(wanted.token);
    if (state !== "greeting") return;
    if (!known) return close("badToken");
    state = "open";
    clock.clearTimer(greeting);
    off = onTokenChange(readToken, clock, () => {
      void allowed(wanted.token).then((still) => still || close("badToken"));
    });
    try {
      ports.opened(wanted);
    } catch (error) {
      log("debug", "inspect.refused", { error: String(error) });
      close("badFrame");
    }
  }

  const beat = () => {
    if (!alive) return socket.terminate();
    alive = false;
    socket.ping();
    beating = clock.setLimit(beatMs, beat);
  };
  const greeting = clock.setLimit(helloMsMax, () => close("noHello"));
  let beating = clock.setLimit(beatMs, beat);
  socket.on("pong", () => {
    alive = true;
  });
  socket.on("message", (data, isBinary) => {
    const hello = isBinary || state !== "greeting" || wish !== null ? null : parseHello(data);
    if (hello === null) return close("badFrame");
    void admit(hello);
  });
  socket.on("error", (error) => log("debug", "inspect.socket-error", { error }));
  socket.on("close", end);
  if (wish !== null) void admit(wish);
  return {
    send(json) {
      if (state !== "open") return;
      slow = socket.bufferedAmount > limits.inspectUnsentBytesMax;
      if (slow) close("tooSlow");
      else socket.send(json);
    },
  };
}

function parseHello(data: RawData): AllowedRequest | null {
  try {
    const { token, key = null, words = false } = helloSchema.parse(JSON.parse(String(data)));
    return { token, key, words };
  } catch {
    return null;
  }
}
