/**
 * Resident bytes of one idle conversation: a runtime without workers hears from many rooms, puts
 * them all away, and its heap is compared with that of a runtime that heard from few. What is put
 * away must cost bytes, not actors.
 */

import type { Inbound } from "../../src/domain/message.ts";
import { flood, openBenchRuntime } from "../bench-runtime.ts";
import { messages, quietMix, report, round, short } from "../support.ts";

const collect = global.gc as () => void;

/** Heap and external bytes that stay once `rooms` conversations have spoken and were put away. */
async function stays(rooms: number): Promise<number> {
  const bench = await openBenchRuntime(0);
  const next = messages(1, quietMix);
  const everyRoom = (n: number, sentAt: number): Inbound => ({
    ...next(n, sentAt),
    chat: { id: `-100${n % rooms}`, kind: "group" },
  });
  await flood(bench, everyRoom, rooms);
  await bench.runtime.passivateAll();
  await bench.runtime.settled();
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  await bench.close();
  return heapUsed + external;
}

// Both fill the caches, the dedupe's of 5,000 messages and the host's of 10,000 conversations, and both
// fill four fifths of their hash tables, which double.
const [few, many] = [13_000, short ? 26_000 : 104_000];
await stays(few);
const small = await stays(few);
const large = await stays(many);
const each = (large - small) / (many - few);

report({
  bench: "resident",
  unit: "bytes",
  figures: { conversations: many, "an idle conversation": Math.round(each) },
  ratios: { "of the 200 byte aim": round(each / 200) },
});
