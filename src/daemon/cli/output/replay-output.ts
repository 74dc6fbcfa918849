/**
 * Output of long replays
 * ======================
 * Lines are joined into chunks and written no faster than the reader takes them, so a million lines
 * into a slow pipe use little memory. The progress bar appears on a terminal only, and only for
 * long replays.
 */
import { once } from "node:events";
import type { WriteStream } from "node:tty";

/** Lines are collected up to this size before they are written. */
const chunkUnits = 65_536;
/** Shorter scenarios end too quickly for a bar. */
const progressFromLines = 5_000;
/** Runs shorter than this print no progress lines, ms. */
const plainFromMs = 5_000;
const barUnits = 30;
const escapeUnit = "\u001b";

/** Stdout: a terminal, a pipe or a file. */
type Sink = NodeJS.WriteStream;

/** Buffers lines for a stream. */
export class Output {
  readonly #sink: Sink;
  #lines: string[] = [];
  #units = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#units += line.length + 1;
  }

  /** Writes the buffer if it is full. */
  async flushFull(): Promise<void> {
    if (this.#units >= chunkUnits) await this.flush();
  }

  /** Writes the buffer; resolves when the stream accepts more. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = `${this.#lines.join("\n")}\n`;
    this.#lines = [];
    this.#units = 0;
    if (!this.#sink.write(text)) await once(this.#sink, "drain");
  }
}

/** Shows progress. */
interface Progress {
  show(done: number): void;
  end(): void;
}

const silent: Progress = { show: () => {}, end: () => {} };

/**
 * A bar on a terminal, plain lines in a file or a pipe; nothing for short runs, or when the output
 * itself goes to the terminal meanwhile (null: it comes after the run).
 */
export function progressOf(
  total: number,
  screen: WriteStream,
  output: Sink | null,
  what = "lines",
  now: () => number = () => performance.now(),
): Progress {
  if (output?.isTTY || total < progressFromLines) return silent;
  return screen.isTTY ? bar(total, screen, what) : tenths(total, screen, what, now);
}

function bar(total: number, screen: Sink, what: string): Progress {
  let shown = -1;
  return {
    show(done) {
      const percent = Math.floor((done * 100) / total);
      if (percent === shown) return;
      shown = percent;
      const filled = Math.round((percent * barUnits) / 100);
      const drawn = "█".repeat(filled) + "░".repeat(barUnits - filled);
      screen.write(`\r${drawn} ${percent} % of ${total} ${what}${escapeUnit}[K`);
    },
    end: () => {
      screen.write(`\r${escapeUnit}[K`);
    },
  };
}

/** A line for each tenth of a long run. */
function tenths(total: number, screen: Sink, what: string, now: () => number): Progress {
  const from = now();
  let shown = 0;
  return {
    show(done) {
      const tenth = Math.floor((done * 10) / total);
      if (tenth === shown || now() - from < plainFromMs) return;
      shown = tenth;
      screen.write(`${tenth * 10} % of ${total} ${what}\n`);
    },
    end: () => {},
  };
}
