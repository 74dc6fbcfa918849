/**
 * A worker host in which some words are poison
 * ============================================
 * The real host with a conversation that dies of certain texts: `!exit` ends the process of the
 * thread, `!loop` never returns (and leaves the processor to others meanwhile), `!wait` sleeps for ever, `!throw` throws, `!oom` eats the heap.
 * Everything else is the real thing.
 */
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { type HostTask, runHost } from "../../../src/actors/host/worker.ts";
import { neverReturn } from "../agents/never-return.ts";

export function host(task: HostTask): Promise<never> {
  return runHost(task, (options) => {
    const real = createConversation(options);
    return {
      step(event, settings) {
        if (event.type === "message.received") poison(event.message.text);
        return real.step(event, settings);
      },
      record: () => real.record(),
      get idle() {
        return real.idle;
      },
      get guarded() {
        return real.guarded;
      },
      summary: (now) => real.summary(now),
      inspect: () => real.inspect(),
      stop: () => real.stop(),
    };
  });
}

function poison(text: string): void {
  if (text.startsWith("!exit")) process.exit(3);
  if (text.startsWith("!throw")) throw new Error("poison");
  if (text.startsWith("!oom")) {
    // In large pieces: a heap that fills up with small ones is searched for garbage for a second before.
    const eaten: number[][] = [];
    for (;;) eaten.push(Array<number>(250_000).fill(eaten.length));
  }
  if (text.startsWith("!loop")) neverReturn();
  if (text.startsWith("!wait")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
