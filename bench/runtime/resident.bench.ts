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

const [few, many] = short ? [6_000, 12_000] : [5_000, 105_000];
// The dedupe cache in front of the index fills with the first 5,000 messages, in both runs alike.
await stays(few as number);
const small = await stays(few as number);
const large = await stays(many as number);
const each = (large - small) / ((many as number) - (few as number));

report({
  bench: "resident",
  unit: "bytes",
  figures: { conversations: many as number, "an idle conversation": Math.round(each) },
  ratios: { "of the 200 byte aim": round(each / 200) },
});
