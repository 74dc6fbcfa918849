/**
 * Frames of a live stream
 * =======================
 * Server-sent events read with `fetch`, because the token goes into a header and never into an
 * address. A connection that is lost is made again, slower each time; what was missed is for the
 * asker to say in the address.
 */
import type { Link } from "../direct/webchat.ts";

export interface FramesOptions {
  /** Asked for each connection anew: it says what the page has already. */
  readonly address: () => string;
  readonly token: string;
  readonly onFrame: (frame: unknown) => void;
  readonly onLink: (link: Link) => void;
  /** There is no such stream; it is asked for again now and then. */
  readonly onMissing: () => void;
}

const waitMsMin = 500;
const waitMsMax = 10_000;
const missingWaitMs = 3_000;
/** The daemon says something at least every fifteen seconds. */
const silenceMsMax = 40_000;

/** Follows until called off by the answer. */
export function followFrames(options: FramesOptions): () => void {
  const stop = new AbortController();
  void follow(options, stop.signal);
  return () => stop.abort();
}

async function follow(options: FramesOptions, signal: AbortSignal): Promise<void> {
  options.onLink({ state: "connecting" });
  for (let tries = 0; !signal.aborted; ) {
    const ended = await connect(options, signal, () => {
      tries = 0;
    });
    if (signal.aborted) return;
    if (ended === "refused") return options.onLink({ state: "refused", message: "" });
    if (ended === "missing") {
      options.onLink({ state: "live" });
      options.onMissing();
      await sleep(missingWaitMs, signal);
      continue;
    }
    tries += 1;
    options.onLink({ state: "lost", tries });
    await sleep(Math.min(waitMsMin * 2 ** (tries - 1), waitMsMax), signal);
  }
}

async function connect(
  { address, token, onFrame, onLink }: FramesOptions,
  signal: AbortSignal,
  begun: () => void,
): Promise<"lost" | "refused" | "missing"> {
  const mine = new AbortController();
  const abort = () => mine.abort();
  signal.addEventListener("abort", abort);
  let silence = setTimeout(abort, silenceMsMax);
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(address(), { headers, signal: mine.signal });
    if (response.status === 401) return "refused";
    if (response.status === 404 || response.status === 400) return "missing";
    if (!response.ok || response.body === null) return "lost";
    begun();
    onLink({ state: "live" });
    for await (const data of eventsOf(response.body)) {
      clearTimeout(silence);
      silence = setTimeout(abort, silenceMsMax);
      if (data !== null) onFrame(JSON.parse(data));
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

/** The data of each event; null for a comment, which only shows that the line stands. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string | null> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = (await reader.read()) as { value?: string; done: boolean };
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) yield event.startsWith("data: ") ? event.slice(6) : null;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
