/**
 * What it costs a host that its conversations can be looked into: overheard lines of a thousand rooms,
 * in batches, through the core that hosts run. Once with inspection compiled out (ours is not asked
 * for, and XState's own calls are cut from the bundle), once as it is with nobody looking, once with
 * one room looked into, and once with as many as one reader is shown.
 *
 * Each is measured in processes of its own, which take turns: in one process the compiler and the heap
 * favour the first one by more than the difference that is looked for. Processor time is
 * counted, and of each variant the best round: others on the machine can only take time, not give it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import type { HostEntry } from "../../src/actors/protocol/host-protocol.ts";
import { scenarioConfig } from "../../src/domain/config/index.ts";
import { hash52 } from "../../src/domain/key.ts";
import type { ConversationEvent } from "../../src/machines/events/events.ts";
import { assertRatio, messages, quantile, quietMix, report, round, short } from "../support.ts";

type Hosts = typeof import("./inspect.entry.ts");

const variants = ["compiled out", "nobody looks", "one room", "64 rooms"] as const;
type Variant = (typeof variants)[number];

const roomCount = 1_000;
const batchEvents = 128;
const batchesPerSlice = 24;
const slices = short ? 20 : 60;
const rounds = short ? 2 : 5;
const start = 1_763_700_000_000;
const configs = [{ version: 1, config: scenarioConfig({}) }];

/** Calls by which XState notifies inspectors. */
const notifications = /\b[\w.]*_sendInspectionEvent\(\{[\s\S]*?\}\);/g;

/** Bundles the hosts' code into one file; with `without` XState notifies nobody. */
async function bundle(folder: string, name: string, without: boolean): Promise<string> {
  let cut = 0;
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    plugins: [
      {
        name: "cut",
        transform(code, id) {
          if (!without || !id.includes("/xstate/")) return null;
          return code.replace(notifications, () => {
            cut += 1;
            return "";
          });
        },
      },
    ],
    build: {
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      ssr: join(import.meta.dirname, "inspect.entry.ts"),
      rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
  if (without && cut < 5) throw new Error(`only ${cut} calls were found in XState`);
  return join(folder, `${name}.mjs`);
}

/** Entries in the order of the journal, each room brought along with its first. */
function stream(): () => HostEntry {
  const next = messages(roomCount, quietMix);
  const membership = { humans: 5, bots: 1, truncated: false, fetchedAt: start };
  const authority = { commandAuthorized: false, owner: false };
  const activation = { record: null, recordSeq: 0, tail: [] };
  const known = new Set<number>();
  let seq = 0;
  return () => {
    seq += 1;
    const at = start + seq;
    const message = next(seq, at);
    const key = `agent:main:telegram:group:${message.chat.id}`;
    const conv = hash52(key);
    const type = "message.received";
    const event: ConversationEvent = { type, at, seq, message, authority, membership };
    if (known.has(conv)) return { conv, key, seq, cfg: 1, event };
    known.add(conv);
    return { conv, key, seq, cfg: 1, event, activation };
  };
}

/** Lines a second of processor time, in this process. */
async function measure(variant: Variant, file: string): Promise<number> {
  const hosts = (await import(pathToFileURL(file).href)) as Hosts;
  let notified = 0;
  const onInspect = () => {
    notified += 1;
  };
  const core = hosts.createHostCore({
    create: hosts.createConversation,
    settingsFor: hosts.settingsFor,
    // Records are another part of a host's work.
    live: roomCount * 2,
    checkpointEvery: Number.MAX_SAFE_INTEGER,
    ...(variant === "compiled out" ? {} : { onInspect }),
  });
  const entry = stream();
  let batch = 0;
  const slice = (): number => {
    const all = Array.from({ length: batchesPerSlice }, () =>
      Array.from({ length: batchEvents }, entry),
    );
    const from = process.cpuUsage();
    for (const entries of all) {
      batch += 1;
      const result = core.apply({ id: batch, epoch: 1, configs, forget: [], entries });
      if (result.rejected.length > 0) throw new Error(result.rejected[0]?.error);
    }
    const { user, system } = process.cpuUsage(from);
    return (batchesPerSlice * batchEvents * 1_000_000) / (user + system);
  };
  for (let n = 0; n < 10; n += 1) slice();
  const room = hash52("agent:main:telegram:group:-1001");
  if (variant === "one room") core.inspect({ id: 1, conv: room, withText: false });
  if (variant === "64 rooms") core.inspect({ id: 1, conv: null, withText: false });
  for (let n = 0; n < 10; n += 1) slice();
  const rates = Array.from({ length: slices }, slice);
  const isLooked = variant === "one room" || variant === "64 rooms";
  if (notified > 0 !== isLooked) throw new Error(`${variant}: notified ${notified} times`);
  return quantile(rates, 0.75);
}

/** The same in a process of its own. */
function measured(variant: Variant, file: string): number {
  const args = ["--import", "tsx", import.meta.filename, "--as", variant, file];
  const done = spawnSync(process.execPath, [...args, ...(short ? ["--short"] : [])], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (done.status !== 0) throw new Error(`${variant} failed: ${done.status ?? done.signal}`);
  return Number(done.stdout);
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"));
  const best = new Map<Variant, number>(variants.map((variant) => [variant, 0]));
  try {
    const whole = await bundle(folder, "whole", false);
    const without = await bundle(folder, "without", true);
    for (let n = 0; n < rounds; n += 1)
      for (let place = 0; place < variants.length; place += 1) {
        const variant = variants[(n + place) % variants.length] as Variant;
        const rate = measured(variant, variant === "compiled out" ? without : whole);
        best.set(variant, Math.max(best.get(variant) ?? 0, rate));
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const rate = (variant: Variant) => Math.round(best.get(variant) ?? 0);
  const over = (variant: Variant) => rate(variant) / rate("compiled out");
  report({
    bench: "inspect",
    unit: "overheard lines a second of processor time, 1,000 rooms, one host",
    figures: Object.fromEntries(variants.map((variant) => [variant, rate(variant)])),
    ratios: Object.fromEntries(
      variants.slice(1).map((one) => [`${one} over compiled out`, round(over(one), 3)]),
    ),
  });
  assertRatio("nobody looking over compiled out", over("nobody looks"), 0.95);
}

const [as, variant, file] = process.argv.slice(2);
if (as === "--as") process.stdout.write(String(await measure(variant as Variant, file as string)));
else await compare();
