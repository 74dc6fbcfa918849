/**
 * Keeps unsnapshotted events few and the journal bounded while the runtime is idle. It computes and
 * writes the record of a conversation that has gone quiet, so a start has little to read, and
 * deletes rows past the retention that every record covers, a slice at a time. A conversation that
 * is never quiet has an event a round at least, and its host writes a record every 64 events: it
 * holds rows back for half an hour at most, and a start has that many to read.
 */
import type { EarshotError } from "../../domain/errors.ts";
import type {
  Clock,
  Log,
  Scheduler,
  Store,
  StoreWrite,
  TimerHandle,
} from "../../domain/ports/index.ts";
import { nextTurn } from "../util/scheduling.ts";
import type { Configs } from "./config-versions.ts";
import type { Journal } from "./journal.ts";
import { replayConversation } from "./replayed-conversation.ts";

export interface CheckpointerPorts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly store: Store;
  readonly journal: Journal;
  readonly configs: Configs;
}

export interface Checkpointer {
  start(): void;
  /** Runs one round now; resolves to the number of records written. */
  round(): Promise<number>;
  /** Stores up to where records cover everything: the next start looks from there on. */
  mark(): Promise<void>;
  /** Conversations with events after their record, as of the last round. */
  dirty(): number;
  stop(): void;
}

const periodMs = 30_000;
const dirtyLookedAtMax = 10_000;
/** Conversations computed, and rows deleted, between two turns of the event loop. */
const foldSlice = 8;
const pruneSlice = 1_000;
const pruneSlicesMax = 100;
/** Until more of them are deleted when that many were not all: more may be said than one round deletes. */
const pruneAgainMs = 1_000;

export function createCheckpointer({
  clock,
  scheduler,
  log,
  store,
  journal,
  configs,
}: CheckpointerPorts): Checkpointer {
  let timer: TimerHandle | null = null;
  let stopped = false;
  /**
   * The last journal number of the previous round: conversations without newer events are quiet.
   */
  let quietSince = 0;
  let dirty = 0;
  /** The last round left rows that are too old. */
  let isBehind = false;

  /** The record of a conversation as of its last event; null while an event is in progress. */
  async function recordOf(conv: number): Promise<StoreWrite | null> {
    const row = await store.conversation(conv);
    if (row === null) return null;
    const tail = await store.tail(conv, row.recordSeq);
    const last = tail.at(-1);
    if (last === undefined || tail.some(({ code }) => code === null)) return null;
    await configs.load(tail.map(({ cfg }) => cfg));
    const { key, record: from } = row;
    const version = tail[0]?.cfg ?? configs.version();
    const { conversation, step } = await replayConversation(configs, {
      key,
      record: from,
      version,
    });
    for (const event of tail) step(event);
    const record = conversation.record();
    conversation.stop();
    return { kind: "checkpoint", conv, recordSeq: last.seq, epoch: row.epoch, record };
  }

  async function fold(): Promise<number> {
    const found = await store.dirty(dirtyLookedAtMax);
    const lastSeq = await store.lastSeq();
    const quiet = found.filter(({ last }) => last <= quietSince);
    quietSince = lastSeq;
    let written = 0;
    for (let at = 0; at < quiet.length && !stopped; at += foldSlice) {
      const writes: StoreWrite[] = [];
      for (const { conv } of quiet.slice(at, at + foldSlice)) {
        const write = await recordOf(conv).catch((error: unknown) => {
          log("warn", "sweep.skipped", { conv, error: String(error) });
          return null;
        });
        if (write !== null) writes.push(write);
      }
      await journal.keep(writes);
      written += writes.length;
      await nextTurn(scheduler);
    }
    dirty = found.length - written;
    return written;
  }

  async function prune(): Promise<void> {
    isBehind = false;
    const before = clock.now() - configs.current().messages.dedupe.retentionMs;
    for (let slice = 0; slice < pruneSlicesMax && !stopped; slice += 1) {
      if ((await store.prune(before, pruneSlice)) < pruneSlice) return;
      await nextTurn(scheduler);
    }
    isBehind = true;
  }

  async function round(): Promise<number> {
    if (journal.failing() !== null) return 0;
    const written = await fold();
    if (stopped) return written;
    await mark();
    await prune();
    return written;
  }

  async function mark(): Promise<void> {
    if (journal.failing() !== null) return;
    const value = String(await store.lowWater());
    await journal.keep([{ kind: "meta", name: "sweptSeq", value }]);
  }

  function arm(): void {
    if (stopped) return;
    const [work, waitMs] = isBehind ? [prune, pruneAgainMs] : [round, periodMs];
    timer = clock.setTimer(clock.now() + waitMs, () => {
      work()
        .catch((error: EarshotError) => log("warn", "sweep.failed", { error: String(error) }))
        .finally(arm);
    });
  }

  return {
    start: arm,
    round,
    mark,
    dirty: () => dirty,
    stop() {
      stopped = true;
      if (timer !== null) clock.clearTimer(timer);
    },
  };
}
