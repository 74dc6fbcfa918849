/**
 * The stream of events
 * ====================
 * `GET /api/v1/events` (signal-cli-jsonrpc(5)) as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). The daemon writes a comment every 15 s,
 * so silence means that the connection is dead. Current versions of signal-cli give each event an id and
 * keep the last 1,000: with `Last-Event-ID` what came meanwhile is sent first.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import type { SignalAccountConfig } from "./config.ts";
import { brokenCall, statusError } from "./errors.ts";
import { exchange } from "./http.ts";

export interface StreamEvent {
  /** Null: this version of signal-cli gives none. */
  readonly id: string | null;
  readonly data: string;
}

export interface StreamOptions {
  readonly config: SignalAccountConfig;
  readonly clock: Clock;
  readonly lastEventId: string | null;
  readonly signal: AbortSignal;
}

export interface EventStream {
  /** Ends when the connection does. */
  readonly events: AsyncGenerator<StreamEvent | "alive">;
  close(): void;
}

const openMsMax = 10_000;
const silentMsMax = 60_000;

/** Connects; resolves when events come. */
export async function openEvents(options: StreamOptions): Promise<EventStream> {
  const { config, clock, lastEventId, signal } = options;
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const limit = clock.setLimit(openMsMax, abort);
  const path = `api/v1/events?account=${encodeURIComponent(config.account)}`;
  const headers = {
    accept: "text/event-stream",
    ...(lastEventId !== null && { "last-event-id": lastEventId }),
  };
  try {
    const answer = await exchange(config, { path, headers, signal: stop.signal });
    const { statusCode: status = 0, headers: given } = answer;
    const isStream = String(given["content-type"] ?? "").startsWith("text/event-stream");
    if (status !== 200 || !isStream) {
      answer.destroy();
      if (status === 400)
        throw new EarshotError(
          "EAR_CHANNEL_AUTH",
          "Cannot receive from signal-cli: the daemon does not know this account. Register or link it",
        );
      throw statusError(status, given["retry-after"], "receive", "connect");
    }
    const close = () => {
      signal.removeEventListener("abort", abort);
      answer.destroy();
    };
    return { events: parsed(answer, clock, close), close };
  } catch (error) {
    signal.removeEventListener("abort", abort);
    throw brokenCall(error, "receive", "connect");
  } finally {
    clock.clearTimer(limit);
  }
}

async function* parsed(
  chunks: AsyncIterable<Uint8Array> & { destroy(): unknown },
  clock: Clock,
  close: () => void,
): AsyncGenerator<StreamEvent | "alive"> {
  const parser = new EventParser();
  let silence = clock.setLimit(silentMsMax, close);
  try {
    for await (const chunk of chunks) {
      clock.clearTimer(silence);
      yield* parser.push(chunk);
      yield "alive";
      silence = clock.setLimit(silentMsMax, close);
    }
  } catch (error) {
    if (error instanceof EarshotError) throw error;
    // How it broke makes no difference.
  } finally {
    clock.clearTimer(silence);
    close();
  }
}

/** Lines and fields of the stream. An event that is too long is skipped whole, also in many short lines. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #isTooLong = false;
  #id: string | null = null;
  #data: string[] = [];
  /** Of the data of this event so far, with a unit for each line. */
  #size = 0;
  readonly #max: number;

  /** `max`: how much of one event is kept, in UTF-16 units. */
  constructor(max: number = limits.platformAnswerBytesMax) {
    this.#max = max;
  }

  /** The events that end in this chunk. */
  push(chunk: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.replace(/\r$/, ""));
      if (event !== null) events.push(event);
    }
    // Of the event that has not ended yet.
    if (this.#rest.length > this.#max) {
      this.#rest = "";
      this.#isTooLong = true;
    }
    return events;
  }

  #line(line: string): StreamEvent | null {
    if (line === "") {
      const [id, data, skip] = [this.#id, this.#data, this.#isTooLong];
      this.#id = null;
      this.#data = [];
      this.#size = 0;
      this.#isTooLong = false;
      return data.length === 0 || skip ? null : { id, data: data.join("\n") };
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "id") this.#id = value.slice(0, limits.idUnitsMax);
    if (name === "data") this.#push(value);
    return null;
  }

  #push(value: string): void {
    this.#size += value.length + 1;
    if (this.#size > this.#max) {
      this.#data = [];
      this.#isTooLong = true;
    } else this.#data.push(value);
  }
}
