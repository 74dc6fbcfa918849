/** How agents' answers are read: wherever the network cut them, the same events in the same order. */
import fc from "fast-check";
import { describe, expect } from "vitest";
import { linesOf } from "../../../src/adapters/agents/shared/lines.ts";
import { eventsOf } from "../../../src/adapters/agents/webhook/answer.ts";
import { anyCharacter, property } from "../../support/property.ts";

const lineText = fc.string({ unit: anyCharacter }).map((text) => text.replace(/[\r\n]/g, ""));
const ends = fc.constantFrom("\n", "\r\n");
/** Where a stream is cut, as parts of its length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

async function* cutAt(bytes: Uint8Array, at: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...at.map((part) => Math.round(part * bytes.length)), bytes.length];
  places.sort((a, b) => a - b);
  for (let n = 1; n < places.length; n += 1) yield bytes.subarray(places[n - 1], places[n]);
}
async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
/** A text that survives UTF-8: no half of a pair. */
const whole = (text: string) => Buffer.from(text, "utf8").toString("utf8");

describe("lines", () => {
  property([fc.array(fc.tuple(lineText.map(whole), ends), { maxLength: 8 }), cuts, fc.boolean()])(
    "are the same wherever the bytes are cut, with or without an end of the last",
    async (lines, at, open) => {
      // TextDecoder takes a byte order mark for itself.
      const texts = lines.map(([text]) => text.replace(/^\ufeff/, ""));
      const given = texts.map((text, n) => text + lines[n]?.[1]).join("");
      const text = open && texts.at(-1) !== "" ? given.replace(/\r?\n$/, "") : given;
      expect(await all(linesOf(cutAt(Buffer.from(text), at)))).toEqual(texts);
    },
  );

  property([fc.integer({ min: 1, max: 64 }), fc.integer({ min: 0, max: 130 }), cuts])(
    "longer than allowed are refused wherever they are cut, and no others",
    async (max, size, at) => {
      const bytes = Buffer.from(`${"x".repeat(size)}\n`);
      const read = all(linesOf(cutAt(bytes, at), max));
      if (size > max) await expect(read).rejects.toThrow(`a line is over ${max} bytes`);
      else expect(await read).toEqual(["x".repeat(size)]);
    },
  );
});

describe("events of a web service", () => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { maxLength: 6 });

  property([texts, cuts, fc.constantFrom("text/event-stream", "application/x-ndjson")])(
    "are the same wherever the bytes are cut, as frames and as lines",
    async (said, at, type) => {
      const events = said.map((text) => ({ type: "text" as const, text }));
      const frames = type === "text/event-stream";
      const body = events
        .map((event) => JSON.stringify(event))
        .map((json) => (frames ? `: note\nevent: x\ndata: ${json}\n\n` : `${json}\n`))
        .join("");
      expect(await all(eventsOf(type, cutAt(Buffer.from(body), at)))).toEqual(events);
    },
  );

  property([texts.filter(({ length }) => length > 0), fc.double({ min: 0, max: 1, noNaN: true })])(
    "of an answer that breaks off are the first of the whole, and then an error or nothing",
    async (said, part) => {
      const events = said.map((text) => ({ type: "text" as const, text }));
      const body = Buffer.from(
        events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
      );
      const end = Math.floor(part * body.length);
      const heard: unknown[] = [];
      let failed = false;
      try {
        const cut = cutAt(body.subarray(0, end), []);
        for await (const event of eventsOf("text/event-stream", cut)) heard.push(event);
      } catch {
        failed = true;
      }
      expect(heard).toEqual(events.slice(0, heard.length));
      const rest = body.subarray(0, end).toString("latin1").split("\n\n").at(-1) ?? "";
      // A cut inside `data:` itself leaves a field that means nothing.
      if (rest.startsWith("data:")) expect(failed).toBe(true);
    },
  );
});
