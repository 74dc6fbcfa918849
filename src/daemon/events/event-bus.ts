/**
 * The bus
 * =======
 * One stream of what happens, many readers. A reader gets every line at once and must not keep
 * anybody waiting: what it cannot take now it has to queue or drop itself. A reader that throws is
 * taken off.
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
