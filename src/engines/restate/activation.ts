/**
 * A conversation that is active on this node
 * ==========================================
 * A runtime of its own, on a store that holds the rows of the one conversation. What it wants to be durable is
 * durable once Restate has stored the rows that have changed: `changes` gives them, `stored` says so. Whatever
 * ended its predecessor, it starts as every runtime does, from what was stored.
 *
 * It rests when nothing is under way and nothing is due soon; its record is written, and it may be ended. When
 * Restate has given the conversation to another node, it is cut off: nothing that it still does is stored or sent.
 */
import {
  type AdmittedEvent,
  type ConversationName,
  conversationOf,
} from "../../actors/protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../../actors/protocol/runtime.ts";
import { createEndingClock } from "../../actors/util/ending-clock.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, KeptRow, KeptStore, Log, Numbers, Store } from "../../domain/ports/index.ts";
import type { ActiveRows } from "./feed/node-mirror.ts";
import type { NodeNumbers } from "./numbers/node-numbers.ts";
import type { Offered, OfferedEvent, OfferedOrder } from "./wire.ts";

export interface ActivationPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** ms; `lookMs` is how often it is looked at. @default those of `limits` */
  readonly times?: { readonly lookMs: Millis; readonly restMs: Millis };
  /** How long rows are kept that records cover, ms. */
  readonly retentionMs: () => Millis;
  /** Opens a store with these rows, which numbers those that come. */
  readonly open: (rows: readonly KeptRow[], numbers: Numbers) => KeptStore;
  /** Gets what becomes of its rows. */
  readonly rows: ActiveRows;
  /** Numbers of rows that no other node gives. */
  readonly numbers: NodeNumbers;
  /**
   * Creates the runtime of a conversation. It must still be started. `again`: nodes before this one may have died of
   * what it does; the number of events that are handed over first. Null: none has.
   */
  readonly create: (
    key: string,
    own: Pick<RuntimePorts, "store" | "clock" | "log" | "numbers">,
    again: (() => number) | null,
  ) => ActiveRuntime;
}

/** What an activation uses of its runtime. */
export type ActiveRuntime = Pick<
  Runtime,
  "start" | "stop" | "isSettled" | "passivateAll" | "status" | "deliver" | "carryOut"
>;

/** What is to be stored next. */
export interface Work {
  readonly changes: readonly KeptRow[];
  /** Nothing is under way. */
  readonly rests: boolean;
  /** An attempt of the call says only that it begins. */
  readonly begins?: boolean;
  /**
   * How much of what it was handed over it knew of then: what came while this was being stored is still under way.
   * Absent: a node of an older version did it.
   */
  readonly heard?: number;
  /** When it must be active again, ms since the epoch; null: when somebody speaks. */
  readonly dueAt: Millis | null;
  /** When rows that it has are too old, ms since the epoch. Absent or null: it has none. */
  readonly pruneAt?: Millis | null;
}

export interface Activation {
  /** What the inbox hands over, in order; an event or an order that the conversation has is recognised. */
  take(offered: readonly Offered[]): void;
  /**
   * Resolves when there is something to store or it rests.
   * @throws EarshotError what a start throws; it may be called again.
   */
  next(): Promise<Work>;
  /** The last result of `next` is durable. Answers whether that was all. */
  stored(): boolean;
  /** Lets turns and sends finish for at most `ms`, and ends it when what they did is stored. */
  drain(ms: Millis): Promise<void>;
  /** Cuts it off; resolves when its runtime has ended. */
  end(): Promise<void>;
}

/** Rows that are deleted in one transaction. */
const pruneSlice = 1_000;
const defaultTimes = { lookMs: engineLimits.lookMs, restMs: engineLimits.restMs };

/** @param isAgain nodes before this one may have died of what it does */
export function activate(
  key: string,
  rows: readonly KeptRow[],
  isAgain: boolean,
  ports: ActivationPorts,
): Activation {
  const { clock, times = defaultTimes } = ports;
  /** What it fails at once it is cut off is no failure of the node. */
  const log: Log = (...line) => {
    if (!isOver) ports.log(...line);
  };
  const own = createEndingClock(clock);
  const name = conversationOf(key);
  const kept = ports.open(rows, ports.numbers);
  let isOver = false;
  let isDraining = false;
  let isStarted = false;
  /** How much it took first; null: nothing yet. */
  let first: number | null = null;
  let failure: unknown = null;
  /** Those that wait for rows to be stored, and those whose rows are being stored; null: none are. */
  let waiting: { readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  let storing: typeof waiting | null = null;
  let rested: Pick<Work, "dueAt" | "pruneAt"> | null = null;
  let look: (() => void) | null = null;
  /** Rows that have changed since the last `next`, by table and name. */
  const changed = new Map<string, KeptRow>();

  const over = () =>
    new EarshotError(
      "EAR_STATE_LOCKED",
      `Cannot go on with ${key}: another node has the conversation. Nothing is stored or sent here.`,
    );

  /** Where a start could not go on with what was there: nobody would ever apply it, as nothing is due. */
  const left = (count: number) =>
    new EarshotError(
      "EAR_HOST_LOST",
      `Cannot let ${key} rest: ${count} of its events are not applied. Its call is made again, from what is stored.`,
    );

  const touched = () => {
    changes += 1;
    rested = null;
  };

  const sync = () =>
    new Promise<void>((done, failed) => {
      if (isOver) return failed(over());
      noteChanges();
      // A piece of work costs a trip to Restate: none is made of what is stored, or being stored.
      if (changed.size > 0) {
        waiting.push({ done, failed });
        look?.();
      } else if (storing === null) done();
      else storing.push({ done, failed });
    });
  const store: Store = Object.create(kept, {
    commit: {
      async value(...[writes, until = "durable"]: Parameters<Store["commit"]>) {
        if (isOver) throw over();
        const answers = await kept.commit(writes, "ordered");
        noteChanges();
        touched();
        // What a start writes is stored with the first thing that somebody waits for.
        if (until === "durable" && isStarted) await sync();
        return answers;
      },
    },
    sync: { value: sync },
    syncsItself: { value: false },
    close: { value: async () => undefined },
  }) as Store;
  function noteChanges(): void {
    const rows = kept.changes();
    for (const row of rows) changed.set(`${row.table} ${row.id}`, row);
    if (!isOver) ports.rows.changed(key, rows);
  }
  function takeChanges(): readonly KeptRow[] {
    const rows = [...changed.values()];
    changed.clear();
    return rows;
  }
  const { numbers } = ports;
  const again = isAgain ? () => first ?? 0 : null;
  const runtime = ports.create(key, { store, clock: own, log, numbers }, again);

  /** What was taken before has been delivered. */
  let delivered: Promise<void> = Promise.resolve();
  /** What was taken and is not delivered or carried out yet. */
  let underWay = 0;
  let heard = 0;
  /** Counts what was taken and what was written. */
  let changes = 0;

  const started = runtime.start().then(
    () => {
      isStarted = true;
      watch();
    },
    (error: unknown) => {
      failure = error;
      look?.();
    },
  );

  /** Looks from time to time whether it rests. */
  function watch(quietSince: Millis | null = null): void {
    own.setTimer(clock.now() + times.lookMs, () => {
      rest(quietSince).catch((error: unknown) => {
        log("warn", "engine.rest", { key, error: String(error) });
        watch();
      });
    });
  }
  async function rest(quietSince: Millis | null): Promise<void> {
    if (rested !== null) return watch(quietSince);
    const now = clock.now();
    if (!(await isQuiet())) return watch();
    const since = quietSince ?? now;
    if (now - since < times.restMs) return watch(since);
    await runtime.passivateAll();
    // Not awaited: what is being stored may take long where the server is slow or gone.
    if (!(await runtime.isSettled())) return watch(since);
    const pruneAt = await prune();
    const before = changes;
    const at = await dueAt();
    const unapplied = await kept.unapplied(0, Number.MAX_SAFE_INTEGER);
    if ((await isQuiet()) && before === changes) {
      if (unapplied.length > 0) failure = left(unapplied.length);
      else rested = { dueAt: at, pruneAt };
      look?.();
    }
    if (failure === null) watch();
  }

  /** Deletes rows that are too old. Resolves to when those that are left will be; null: there are none. */
  async function prune(): Promise<Millis | null> {
    const now = clock.now();
    const before = now - ports.retentionMs();
    while ((await kept.prune(before, pruneSlice)) === pruneSlice);
    noteChanges();
    const [row] = await kept.scan(0, 1);
    const [sent] = await kept.outboxByState(["sent", "dead", "expired"], 1);
    return row === undefined && sent === undefined ? null : now + ports.retentionMs();
  }

  async function isQuiet(): Promise<boolean> {
    const { turns, outbox } = runtime.status();
    const here = underWay + waiting.length + (storing?.length ?? 0);
    if (turns.running + turns.waiting + here > 0) return false;
    if ((outbox.pending ?? 0) + (outbox.sending ?? 0) + (outbox.waiting ?? 0) > 0) return false;
    const next = await dueAt();
    return next === null || next > clock.now() + times.restMs;
  }
  async function dueAt(): Promise<Millis | null> {
    const [deadline] = await kept.deadlines();
    const [beat] = runtime.status().heartbeats;
    const due = [deadline, beat].flatMap((next) => next?.at ?? []);
    return due.length === 0 ? null : Math.min(...due);
  }

  async function deliver(events: readonly OfferedEvent[]): Promise<void> {
    try {
      await runtime.deliver(events.map((one) => newEventOf(one, name)));
    } catch (error) {
      // Its conversation is stepped elsewhere, or the start failed: there they come again.
      log("warn", "engine.undelivered", { key, error: String(error) });
    } finally {
      underWay -= 1;
    }
  }

  async function carryOut({ id, action }: OfferedOrder): Promise<void> {
    try {
      await runtime.carryOut({ id, key, action });
    } catch (error) {
      // As above.
      log("warn", "engine.undelivered", { key, error: String(error) });
    } finally {
      underWay -= 1;
    }
  }

  async function end(): Promise<void> {
    if (isOver) return;
    isOver = true;
    // A stop that waits for what is under way would wait for ever without its clock; it stores nothing any more.
    if (!isDraining) own.end();
    look?.();
    for (const { failed } of [...waiting.splice(0), ...(storing ?? [])]) failed(over());
    storing = null;
    await started;
    await runtime.stop();
    own.end();
    await kept.close();
  }

  return {
    take(offered) {
      touched();
      heard += offered.length;
      first ??= offered.length;
      const groups = groupsOf(offered);
      underWay += groups.length;
      delivered = delivered.then(async () => {
        await started;
        for (const group of groups)
          if ("order" in group) void carryOut(group.order);
          else await deliver(group.events);
      });
    },
    next: () =>
      new Promise((resolve, reject) => {
        look = () => {
          if (isOver || failure !== null) {
            look = null;
            return reject(isOver ? over() : failure);
          }
          if (waiting.length > 0) {
            storing = waiting;
            waiting = [];
            look = null;
            return resolve({ changes: takeChanges(), rests: false, dueAt: null, heard });
          }
          if (rested === null) return;
          look = null;
          storing = [];
          resolve({ changes: takeChanges(), rests: true, heard, ...rested });
        };
        look();
      }),
    stored() {
      const stored = storing ?? [];
      storing = null;
      for (const { done } of stored) done();
      return changed.size === 0;
    },
    async drain(ms) {
      await started;
      if (isOver) return;
      isDraining = true;
      await runtime.stop({ drainMs: ms });
      await end();
    },
    end,
  };
}

/** Events that follow each other, and orders. */
function groupsOf(
  offered: readonly Offered[],
): readonly ({ readonly events: OfferedEvent[] } | { readonly order: OfferedOrder })[] {
  const groups: ({ readonly events: OfferedEvent[] } | { readonly order: OfferedOrder })[] = [];
  for (const one of offered) {
    const last = groups.at(-1);
    if ("order" in one) groups.push(one);
    else if (last !== undefined && "events" in last) last.events.push(one);
    else groups.push({ events: [one] });
  }
  return groups;
}

function newEventOf(
  { identity, sentAt, messageId, event }: OfferedEvent,
  name: ConversationName,
): AdmittedEvent {
  return { name, event, identity: { identity, sentAt, messageId } };
}
