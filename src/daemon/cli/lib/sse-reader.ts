/**
 * Reading server-sent events: the lines of a body put together from whatever pieces arrive, and the
 * data of each event handed on. Comments, which keep the connection warm, are passed over.
 */

/** The data of each event of a `text/event-stream` body, in order, until it ends. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length));
      if (data.length > 0) yield data.join("\n");
    }
  }
}
