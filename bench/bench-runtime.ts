/**
 * A whole runtime on a real SQLite file for the benches: real journal, real fsync, real worker
 * threads, a platform that takes everything at once, and a counter of recorded decisions. It is the
 * built code that runs, on all threads, because loading TypeScript would count as start and as
 * recovery.
 */
import { fdatasync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Runtime, RuntimePorts } from "../src/actors/protocol/runtime.ts";
import type { RuntimeListener } from "../src/actors/protocol/runtime-events.ts";
import { scenarioConfig } from "../src/domain/config/index.ts";
import type { Inbound, Route } from "../src/domain/message.ts";
import type { Log, Store } from "../src/domain/ports/index.ts";
import type { StreamLine } from "../src/domain/stream.ts";
import { randomFrom } from "./support.ts";

const syncFile = promisify(fdatasync);
const { EARSHOT_BENCH_DIST } = process.env;
/** Where the built code is: ours, or that of another checkout. */
export const distUrl =
  EARSHOT_BENCH_DIST === undefined
    ? new URL("../dist/", import.meta.url).href
    : pathToFileURL(`${EARSHOT_BENCH_DIST}/`).href;
const built = <Module>(path: string): Promise<Module> => import(`${distUrl}${path}.js`);
const { createRuntimeEvents } = await built<
  typeof import("../src/actors/protocol/runtime-events.ts")
>("actors/protocol/runtime-events");
const { createRuntime } =
  await built<typeof import("../src/actors/runtime/runtime.ts")>("actors/runtime/runtime");
const { drivers } =
  await built<typeof import("../src/adapters/agents/index.ts")>("adapters/agents/index");
const { createSessionFiles } = await built<typeof import("../src/adapters/files/session-files.ts")>(
  "adapters/files/session-files",
);
const { createSystemClock } =
  await built<typeof import("../src/adapters/system/clock.ts")>("adapters/system/clock");
const { sha256 } =
  await built<typeof import("../src/adapters/system/digest.ts")>("adapters/system/digest");
const { createIds } =
  await built<typeof import("../src/adapters/system/ids.ts")>("adapters/system/ids");
const { openSqliteStore } = await built<typeof import("../src/adapters/stores/sqlite-store.ts")>(
  "adapters/stores/sqlite-store",
);
const { beginYoung } = await built<Partial<typeof import("../src/daemon/cli/lib/young-space.ts")>>(
  "daemon/cli/lib/young-space",
);
// As the daemon does; a build of before does not.
beginYoung?.();

export interface BenchRuntime {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly folder: string;
  /** How often the log was synced; null: with each commit, in a build of before. */
  readonly syncs: () => number | null;
  /** Decisions committed and published so far. */
  readonly decided: () => number;
  /** Called with each message's id when its decision was published. */
  onDecision: (id: string) => void;
  close(): Promise<void>;
}

/** What differs from bench to bench. */
export interface BenchRuntimeOptions {
  /** An existing folder, which is not removed at the end. @default a temporary one */
  readonly at?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly drivers?: RuntimePorts["drivers"];
  /** Module that worker hosts take their drivers from. */
  readonly hostModule?: string;
  /** Receives every event of the runtime as well. */
  readonly listener?: RuntimeListener;
  /** Called with each text and its chat as the platform gets it. */
  readonly onSend?: (text: string, chat: string) => void;
  /** Transcripts are written to files, too. @default false */
  readonly sessionFiles?: boolean;
}

/** Opens a runtime in a folder of its own, or in the one given. */
export async function openBenchRuntime(
  workers: number,
  options: BenchRuntimeOptions = {},
): Promise<BenchRuntime> {
  const { at, hostModule, onSend, listener = {} } = options;
  const folder = at ?? mkdtempSync(join(tmpdir(), "earshot-bench-"));
  let syncs = 0;
  const store = await openSqliteStore({
    path: join(folder, "earshot.db"),
    syncFile(file) {
      syncs += 1;
      return syncFile(file);
    },
  });
  const clock = createSystemClock();
  const random = randomFrom(1);
  let decided = 0;
  let sent = 0;
  const outbound = async ({ route, text }: { readonly route: Route; readonly text: string }) => {
    sent += 1;
    onSend?.(text, route.chat.id);
    return { messageIds: [`p${sent}`] };
  };
  const bench = {
    store,
    folder,
    syncs: () => ("sync" in store ? syncs : null),
    decided: () => decided,
    onDecision: (_: string): void => undefined,
    async close() {
      await bench.runtime.stop({ drainMs: 0 });
      await store.close();
      if (at === undefined) rmSync(folder, { recursive: true, force: true });
    },
  } as BenchRuntime & { runtime: Runtime };
  const log: Log = (level, event, fields) => {
    if (level === "error" || level === "fatal")
      process.stderr.write(`${level} ${event} ${JSON.stringify(fields)}\n`);
  };
  const decisions: RuntimeListener = {
    line(line: StreamLine) {
      if (!("decision" in line)) return;
      decided += 1;
      bench.onDecision(String(line.id));
    },
  };
  bench.runtime = createRuntime({
    clock,
    ids: createIds(() => clock.now()),
    random: { next: random },
    digest: sha256,
    log,
    store,
    config: scenarioConfig({
      agents: { defaults: { driver: { kind: "scripted" } } },
      ...options.config,
    }),
    drivers: options.drivers ?? drivers,
    ...(hostModule === undefined ? {} : { hostModule }),
    directory: {
      hasAccount: () => true,
      outbound: () => ({ sendText: outbound, replyText: outbound }),
      ready: () => true,
      textLimit: () => 4_096,
      typingIntervalMs: () => 5_000,
      isLocal: () => false,
      refreshMembership: () => undefined,
      // Without a member list the first voice in a room is alone, and alone engages.
      membership: () => ({ humans: 5, bots: 1, truncated: false, fetchedAt: Date.now() }),
    },
    events: createRuntimeEvents(log, decisions, listener),
    workers,
    ...(options.sessionFiles === true
      ? { sessionFiles: createSessionFiles((agentId) => join(folder, "sessions", agentId)) }
      : {}),
  });
  await bench.runtime.start();
  return bench;
}

const callMessages = 32;
const callsInFlight = 64;

/** Offers `count` messages as fast as they are taken; resolves when every decision is recorded. */
export async function flood(
  bench: BenchRuntime,
  next: (n: number, sentAt: number) => Inbound,
  count: number,
  firstId = 0,
): Promise<number> {
  const before = bench.decided();
  const from = performance.now();
  let offered = 0;
  const offer = async (): Promise<void> => {
    while (offered < count) {
      const size = Math.min(callMessages, count - offered);
      const events = Array.from({ length: size }, (_, n) => ({
        type: "message" as const,
        message: next(firstId + offered + n, Date.now()),
      }));
      offered += size;
      await bench.runtime.ingest("telegram", "default", events);
    }
  };
  await Promise.all(Array.from({ length: callsInFlight }, offer));
  while (bench.decided() - before < count) await new Promise((resolve) => setImmediate(resolve));
  return (count * 1_000) / (performance.now() - from);
}
