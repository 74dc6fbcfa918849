/**
 * Many conversations at once, and a busy one beside others. First ten messages in each of 10,000 new
 * conversations as fast as they are accepted, compared with as many messages in a tenth of the
 * conversations. Then people in 100 rooms, who each say the next thing when the last was decided: alone, and
 * while another room gets 10,000 messages.
 */
import type { Inbound } from "../../src/domain/message.ts";
import { type BenchRuntime, flood, openBenchRuntime } from "../bench-runtime.ts";
import { messages, quantile, quietMix, report, round, short } from "../support.ts";

const conversations = short ? 1_000 : 10_000;
const each = 10;
const hotMessages = short ? 2_000 : 10_000;
const others = 100;

/** Plain talk, the n-th message in the room that `roomOf` says. */
function talk(roomOf: (n: number) => string): (n: number, sentAt: number) => Inbound {
  const next = messages(1, quietMix);
  return (n, sentAt) => ({ ...next(n, sentAt), chat: { id: roomOf(n), kind: "group" } });
}

interface Spread {
  /** Messages a second. */
  readonly rate: number;
  /** Processor time a message, us. */
  readonly cpuUs: number;
  /** What the process holds at the end. */
  readonly rssMb: number;
}

async function spread(rooms: number): Promise<Spread> {
  const bench = await openBenchRuntime(1);
  const warm = talk((n) => `warm${n % 100}`);
  await flood(bench, warm, 2_000, 10_000_000);
  const before = process.cpuUsage();
  const rate = await flood(
    bench,
    talk((n) => `r${n % rooms}`),
    conversations * each,
  );
  const { user, system } = process.cpuUsage(before);
  const cpuUs = (user + system) / (conversations * each);
  const rssMb = process.memoryUsage().rss / 1e6;
  await bench.close();
  return { rate, cpuUs, rssMb };
}

/** Ms from the offer to the recorded decision of each message of the others. */
async function ofOthers(bench: BenchRuntime): Promise<number[]> {
  const waits: number[] = [];
  const decided = new Map<string, () => void>();
  const say = talk((n) => `calm${n % others}`);
  bench.onDecision = (id) => decided.get(id)?.();
  const person = async (room: number) => {
    for (let n = room; n < others * each; n += others) {
      const message = { ...say(n, Date.now()), id: `calm-${n}` };
      const done = new Promise<void>((resolve) => decided.set(message.id, resolve));
      const from = performance.now();
      await bench.runtime.ingest("telegram", "default", [{ type: "message", message }]);
      await done;
      waits.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: others }, (_, room) => person(room)));
  return waits;
}

/** In a runtime of its own; with a busy room that begins a moment before them, or without. */
async function people(isBusy: boolean): Promise<number[]> {
  const bench = await openBenchRuntime(1);
  const inHot = talk(() => "hot");
  const hot = isBusy ? flood(bench, inHot, hotMessages) : Promise.resolve(0);
  const waits = await ofOthers(bench);
  await hot;
  await bench.close();
  return waits;
}

const few = await spread(conversations / 10);
const many = await spread(conversations);
// The first one warms up.
await people(false);
const busy = await people(true);
const alone = await people(false);
const total = conversations * each;
const name = (rooms: number) =>
  `${total.toLocaleString("en")} messages, ${rooms.toLocaleString("en")} conversations`;
report({
  bench: "load",
  figures: {
    [`${name(conversations)}: s`]: round(total / many.rate),
    [`${name(conversations)}: messages/s`]: Math.round(many.rate),
    [`${name(conversations)}: CPU us a message`]: round(many.cpuUs),
    [`${name(conversations / 10)}: messages/s`]: Math.round(few.rate),
    [`${name(conversations / 10)}: CPU us a message`]: round(few.cpuUs),
    "RSS after them, MB": Math.round(many.rssMb),
    "100 others alone, ms to the decision, p50": round(quantile(alone, 0.5)),
    "100 others alone, p99": round(quantile(alone, 0.99)),
    [`beside ${hotMessages.toLocaleString("en")} messages of one, p50`]: round(quantile(busy, 0.5)),
    [`beside ${hotMessages.toLocaleString("en")} messages of one, p99`]: round(
      quantile(busy, 0.99),
    ),
  },
  ratios: {
    "ten times the conversations, rate": round(many.rate / few.rate),
    "ten times the conversations, CPU": round(many.cpuUs / few.cpuUs),
    "others beside a busy one, p99": round(quantile(busy, 0.99) / quantile(alone, 0.99)),
  },
});
