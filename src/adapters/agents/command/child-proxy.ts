/**
 * Subprocesses of workers
 * =======================
 * A process started by a thread is orphaned when the thread dies: it keeps running, and no one
 * reaps it. So the main thread starts all of them, and a worker talks to its own over a port. When
 * the thread ends for any reason, its programs are stopped too.
 *
 * Output uses credit-based flow control: a program faster than its reader is blocked, as by a pipe.
 */
import type { MessagePort } from "node:worker_threads";
import { z } from "zod";
import { type Child, type ChildEnd, type ChildSpec, startChild } from "./child.ts";

const id = z.number().int().min(1);
/** From the worker, whose messages are validated. */
const requestSchema = z.discriminatedUnion("do", [
  z.strictObject({
    id,
    do: z.literal("start"),
    spec: z.strictObject({
      command: z.string(),
      args: z.array(z.string()).readonly(),
      cwd: z.string(),
      env: z.array(z.string()).readonly(),
    }),
  }),
  z.strictObject({ id, do: z.literal("write"), text: z.string() }),
  z.strictObject({ id, do: z.literal("read"), bytes: z.number().int().min(0) }),
  z.strictObject({ id, do: z.enum(["close-input", "stop"]) }),
]);
type ChildRequest = z.infer<typeof requestSchema>;
/** To the worker. Null output: the end. */
type ChildUpdate =
  | { readonly id: number; readonly output: Uint8Array | null }
  | { readonly id: number; readonly end: ChildEnd };

/** Bytes in flight to a worker. */
const windowBytes = 262_144;

interface ServedChild {
  readonly child: Child;
  credit: number;
  refill: () => void;
}

/** Sends an update to the worker. */
type Post = (update: ChildUpdate) => void;

/**
 * Starts and stops programs for one worker until it is gone; returns the handler of its requests,
 * which throws for an invalid request.
 */
export function serveChildren(post: Post, gone: Promise<unknown>): (request: unknown) => void {
  const served = new Map<number, ServedChild>();
  let over = false;
  void gone.then(() => {
    over = true;
    for (const entry of served.values()) stop(entry);
  });
  const stop = (entry: ServedChild) => {
    entry.credit = Number.POSITIVE_INFINITY;
    entry.refill();
    void entry.child.stop();
  };
  const start = (id: number, spec: ChildSpec) => {
    const entry: ServedChild = { child: startChild(spec), credit: windowBytes, refill: idle };
    served.set(id, entry);
    // The end is reported after all output.
    void Promise.all([entry.child.ended, pump(post, id, entry)]).then(([end, unread]) => {
      served.delete(id);
      post({ id, end: { ...end, problem: end.problem ?? unread } });
    });
  };
  return (update) => {
    if (over) return;
    const request = requestSchema.parse(update);
    if (request.do === "start" && !served.has(request.id)) start(request.id, request.spec);
    const entry = served.get(request.id);
    if (entry === undefined) return;
    if (request.do === "write") entry.child.write(request.text);
    else if (request.do === "close-input") entry.child.closeInput();
    else if (request.do === "stop") stop(entry);
    else if (request.do === "read") {
      entry.credit += request.bytes;
      entry.refill();
    }
  };
}

/** Forwards the output; returns the reason of a failure. */
async function pump(post: Post, id: number, entry: ServedChild): Promise<string | null> {
  let problem: string | null = null;
  try {
    for await (const part of entry.child.output) {
      entry.credit -= part.length;
      post({ id, output: part });
      while (entry.credit <= 0)
        await new Promise<void>((resolve) => {
          entry.refill = resolve;
        });
    }
  } catch (error) {
    problem = `could not be read (${error instanceof Error ? error.message : String(error)})`;
    void entry.child.stop();
  }
  post({ id, output: null });
  return problem;
}

const idle = () => undefined;

/** The signature of `startChild`. */
export type StartChild = (spec: ChildSpec) => Child;

/** Starts programs through the main thread. */
export function childrenBehind(port: MessagePort): StartChild {
  const open = new Map<number, { take(part: Uint8Array | null): void; end(end: ChildEnd): void }>();
  let ids = 0;
  port.on("message", (update: ChildUpdate) => {
    const entry = open.get(update.id);
    if ("output" in update) entry?.take(update.output);
    else {
      open.delete(update.id);
      entry?.end(update.end);
    }
    // An idle port must not keep the thread alive.
    if (open.size === 0) port.unref();
  });
  port.unref();
  return (spec) => {
    ids += 1;
    const id = ids;
    const send = (request: ChildRequest) => port.postMessage(request);
    const output = new Inflow((bytes) => send({ id, do: "read", bytes }));
    const ended = new Promise<ChildEnd>((resolve) => {
      open.set(id, { take: (part) => output.take(part), end: resolve });
    });
    port.ref();
    send({ id, do: "start", spec });
    return {
      output,
      ended,
      write: (text) => send({ id, do: "write", text }),
      closeInput: () => send({ id, do: "close-input" }),
      async stop() {
        output.take(null);
        send({ id, do: "stop" });
        await ended;
      },
    };
  };
}

/** Output received and not read yet. */
class Inflow implements AsyncIterable<Uint8Array> {
  readonly #parts: Uint8Array[] = [];
  readonly #read: (bytes: number) => void;
  #over = false;
  #wake: () => void = idle;

  constructor(read: (bytes: number) => void) {
    this.#read = read;
  }

  take(part: Uint8Array | null): void {
    if (part === null) this.#over = true;
    else if (!this.#over) this.#parts.push(part);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) {
        this.#read(part.length);
        yield part;
      } else if (this.#over) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
