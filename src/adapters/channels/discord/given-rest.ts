/**
 * The REST of a bot's own client
 * ==============================
 * So that the bot and earshot keep Discord's rate limits together. It waits out a limit, also a long one,
 * where the outbox wants to know it and to go on elsewhere; so a refusal for a limit is heard here, and the
 * request is given up. It repeats a call without an answer, which is harmless: a send has a nonce.
 */
import type { REST } from "discord.js";
import type { Send } from "./client.ts";

type Listener = Parameters<typeof REST.prototype.on<"response">>[1];

export function sendThrough(rest: REST): Send {
  const waiting = new Map<unknown, (retryAfter: number) => void>();
  const onResponse: Listener = ({ data, retries }, { status, headers }) => {
    // After a try whose outcome is unknown, a refusal does not say that nothing was sent.
    if (status === 429 && retries === 0)
      waiting.get(data.signal)?.(Number(headers.get("retry-after") ?? 1) * 1_000);
  };
  return async ({ signal, ...request }) => {
    const stop = new AbortController();
    if (waiting.size === 0) rest.on("response" as never, onResponse as never);
    let onAbort: () => void = () => undefined;
    try {
      const stopped = new Promise<never>((_, reject) => {
        const end = (why: unknown) => {
          stop.abort(why);
          reject(why);
        };
        onAbort = () => end(signal.reason);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
        waiting.set(stop.signal, (retryAfter) =>
          end(Object.assign(new Error("limited"), { retryAfter, route: request.fullRoute })),
        );
      });
      const answer = rest.request({ ...request, signal: stop.signal });
      // It heeds the signal only where it does not wait.
      answer.catch(() => undefined);
      return await Promise.race([answer, stopped]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      waiting.delete(stop.signal);
      if (waiting.size === 0) rest.off("response" as never, onResponse as never);
    }
  };
}
