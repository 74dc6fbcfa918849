/**
 * A live stream
 * =============
 * Server-sent events read by `fetch`, because the browser's EventSource cannot send a token. The
 * stream reconnects: waits grow from half a second to ten, with jitter. A refused token ends it,
 * because a retry would be refused, too.
 */
import type { Link } from "./connection-state.ts";

export interface LiveOptions {
  /** Asked again for each connection. */
  readonly path: () => string;
  readonly token: string;
  /** A new connection is open: what follows starts from the beginning. */
  readonly onOpen: () => void;
  /** The data of one event. */
  readonly onData: (data: string) => void;
  readonly onLink: (link: Link) => void;
  /** There is no such stream; it is retried now and then. @default a lost connection */
  readonly onMissing?: () => void;
}

const waitMsMin = 500;
const waitMsMax = 10_000;
const missingWaitMs = 3_000;
/** The daemon says something at least every 15 s. */
const silentMsMax = 40_000;

const waitMs = (tries: number): number =>
  Math.min(waitMsMax, waitMsMin * 2 ** (tries - 1)) * (0.75 + Math.random() * 0.5);

/** Opens the stream and keeps it open; call the answer to end it. */
export function openLive(options: LiveOptions): () => void {
  const stop = new AbortController();
  void follow(options, stop.signal);
  return () => stop.abort();
}

async function follow(options: LiveOptions, signal: AbortSignal): Promise<void> {
  const { onLink, onMissing } = options;
  onLink({ state: "connecting" });
  for (let tries = 0; !signal.aborted; ) {
    const end = await connect(options, signal, () => {
      tries = 0;
    });
    if (signal.aborted) return;
    if (end === "refused") return onLink({ state: "refused", message: "badToken" });
    if (end === "missing" && onMissing !== undefined) {
      onLink({ state: "live" });
      onMissing();
      await sleep(missingWaitMs, signal);
      continue;
    }
    tries += 1;
    onLink({ state: "lost", tries });
    await sleep(waitMs(tries), signal);
  }
}

/** One connection, to its end. */
async function connect(
  { path, token, onOpen, onData, onLink }: LiveOptions,
  signal: AbortSignal,
  begun: () => void,
): Promise<"lost" | "refused" | "missing"> {
  const mine = new AbortController();
  const abort = () => mine.abort();
  signal.addEventListener("abort", abort);
  let silence = setTimeout(abort, silentMsMax);
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(path(), { headers, signal: mine.signal });
    if (response.status === 401) return "refused";
    if (response.status === 404 || response.status === 400) return "missing";
    if (!response.ok || response.body === null) return "lost";
    begun();
    onOpen();
    onLink({ state: "live" });
    for await (const data of eventsOf(response.body)) {
      clearTimeout(silence);
      silence = setTimeout(abort, silentMsMax);
      if (data !== null) onData(data);
    }
    return "lost";
  } catch {
    // Whatever ended it, it is made again; the badge says so meanwhile.
    return "lost";
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", abort);
    mine.abort();
  }
}

/** The data of each event; null for a comment, which only keeps the connection alive. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) yield event.startsWith("data: ") ? event.slice(6) : null;
  }
}

/** Waits; not longer than until the machine is on line again, or nobody waits any more. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
