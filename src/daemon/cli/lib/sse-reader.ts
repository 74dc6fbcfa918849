/**
 * Reads server-sent events: joins the pieces of a body into lines and yields the data of each
 * event. Comments, which keep the connection alive, are skipped.
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
