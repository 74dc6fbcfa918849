/**
 * The event bus
 * =============
 * Publishes the event stream to many readers. Each reader gets every event synchronously and must
 * not block: it queues or drops what it cannot take. A reader that throws is removed.
 */
import type { Log } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";

export type LineReader = (line: StreamLine) => void;

export interface Bus {
  publish(line: StreamLine): void;
  /** Adds a reader; call the answer to take it off again. */
  subscribe(reader: LineReader): () => void;
  readers(): number;
}

export function createBus(log: Log): Bus {
  const readers = new Set<LineReader>();
  return {
    publish(line) {
      for (const reader of readers) {
        try {
          reader(line);
        } catch (error) {
          readers.delete(reader);
          log("error", "bus.reader-failed", { error: String(error) });
        }
      }
    },
    subscribe(reader) {
      readers.add(reader);
      return () => void readers.delete(reader);
    },
    readers: () => readers.size,
  };
}
