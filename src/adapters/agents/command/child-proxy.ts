/**
 * Subprocesses of a worker, started by the main thread
 * ====================================================
 * A process that a thread has started is forgotten when the thread dies: it runs on, and when it
 * ends nobody collects it. So the main thread starts them all and a worker speaks to its own over
 * a port. When the thread is gone, whatever ended it, its programs are ended too.
 *
 * Output flows by credit: a program that talks faster than its turn reads is held back, as a pipe
 * would do it.
 */
import type { MessagePort } from "node:worker_threads";
import { z } from "zod";
import { type Child, type ChildEnd, type ChildSpec, startChild } from "./child.ts";

const id = z.number().int().min(1);
/** From the worker, which is not trusted to send nothing else. */
const orderSchema = z.discriminatedUnion("do", [
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
type ChildRequest = z.infer<typeof orderSchema>;
/** To the worker. Output null: there is no more. */
type ChildUpdate =
  | { readonly id: number; readonly output: Uint8Array | null }
  | { readonly id: number; readonly end: ChildEnd };

/** Bytes under way to a worker before it has read some. */
const windowBytes = 262_144;

interface Served {
  readonly child: Child;
  credit: number;
  refill: () => void;
}

/** Tells the worker something. */
type Post = (told: ChildUpdate) => void;

/**
 * Starts and ends programs for one worker, until it is gone; gives what takes its orders, which
 * throws for what is no order.
 */
export function serveChildren(post: Post, gone: Promise<unknown>): (order: unknown) => void {
  const served = new Map<number, Served>();
  let over = false;
  void gone.then(() => {
    over = true;
    for (const entry of served.values()) stop(entry);
  });
  const stop = (entry: Served) => {
    entry.credit = Number.POSITIVE_INFINITY;
    entry.refill();
    void entry.child.stop();
  };
  const start = (id: number, spec: ChildSpec) => {
    const entry: Served = { child: startChild(spec), credit: windowBytes, refill: idle };
    served.set(id, entry);
    // Its end is told last, whichever of the two is known first.
    void Promise.all([entry.child.ended, pump(post, id, entry)]).then(([end, unread]) => {
      served.delete(id);
      post({ id, end: { ...end, problem: end.problem ?? unread } });
    });
  };
  return (told) => {
    if (over) return;
    const order = orderSchema.parse(told);
    if (order.do === "start" && !served.has(order.id)) start(order.id, order.spec);
    const entry = served.get(order.id);
    if (entry === undefined) return;
    if (order.do === "write") entry.child.write(order.text);
    else if (order.do === "close-input") entry.child.closeInput();
    else if (order.do === "stop") stop(entry);
    else if (order.do === "read") {
      entry.credit += order.bytes;
      entry.refill();
    }
  };
}

/** Passes the output on; why that failed, if it did. */
async function pump(post: Post, id: number, entry: Served): Promise<string | null> {
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

/** A way to start programs; `startChild` is the plain one. */
export type StartChild = (spec: ChildSpec) => Child;

/** Starts programs through the main thread at the other side of the port. */
export function childrenBehind(port: MessagePort): StartChild {
  const open = new Map<number, { take(part: Uint8Array | null): void; end(end: ChildEnd): void }>();
  let ids = 0;
  port.on("message", (told: ChildUpdate) => {
    const entry = open.get(told.id);
    if ("output" in told) entry?.take(told.output);
    else {
      open.delete(told.id);
      entry?.end(told.end);
    }
    // An idle port is no reason for a thread to live.
    if (open.size === 0) port.unref();
  });
  port.unref();
  return (spec) => {
    ids += 1;
    const id = ids;
    const send = (order: ChildRequest) => port.postMessage(order);
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

/** What has come and was not read yet. */
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
