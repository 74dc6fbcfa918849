/**
 * Events one at a time
 * ====================
 * Where a conversation is given to another process when one dies, nobody is left who knows which event killed it.
 * So after such an end it is durable which event is stepped next, before it is; one that was being stepped when
 * process after process ended is quarantined, and the conversation goes on without it.
 *
 * This costs a sync for each event, while nothing else of the process is careful. So it is done for what was there when
 * the process began, which has the suspect, and for a few events behind that: a deadline that is due at once, the
 * first report of a turn. An agent that ends each process is given up with its turn.
 */
import { limits } from "../../domain/limits.ts";
import type { MetaWrite, Store } from "../../domain/ports/index.ts";
import { triesOf } from "../protocol/event-codec.ts";
import type { HostEntry } from "../protocol/host-protocol.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import type { Journal } from "./journal.ts";
import type { Culprit } from "./quarantine.ts";
import { createStartGate, type StartGate } from "./start-gate.ts";

/** The event that was stepped last. */
export interface Stepping {
  readonly seq: number;
  /** How many processes had ended at it by then. */
  readonly deaths: number;
}

interface CarefulPorts {
  readonly supervisor: () => Pick<Supervisor, "dispatch" | "settled">;
  /** Does this while no other conversation of the process does: an end has one cause. */
  readonly alone: (step: () => Promise<void>) => Promise<void>;
  /** Resolves when everything written is durable. */
  readonly synced: () => Promise<void>;
  /** Resolves when it is durable. */
  readonly keep: (writes: readonly MetaWrite[]) => Promise<void>;
  readonly quarantine: (culprit: Culprit & { readonly key: string }) => Promise<void>;
  /** What the process before this one stepped last; null: it is not known. */
  readonly before: Stepping | null;
  /** Events that are handed over at the start, besides those that are stored. */
  readonly handedOver: () => number;
}

/** Events behind those that were there. */
const spare = 8;
/** Events that are stepped before others of the process may be careful. */
const togetherMax = 16;

const name = "stepping";
/**
 * An event is the cause when so many processes ended while they stepped it, one after the other. A process that is
 * killed for another reason is stepping something, too: with nodes that are killed every second, one of twenty hits
 * the same event again.
 */
const watchedDeathsMax = () => limits.poisonDeathsMax + 1;

/** Null: no event was being stepped when the process before this one ended, or it is not known. */
export async function readStepping(
  store: Pick<Store, "meta" | "events">,
): Promise<Stepping | null> {
  const value = await store.meta(name);
  if (value === null) return null;
  const stepping = JSON.parse(value) as Stepping;
  const [row] = await store.events([stepping.seq]);
  return row?.code === null ? stepping : null;
}

/** A start gate that is closed at first, and careful where a process may have ended of what comes. */
export function openStartGate(
  careful: RuntimePorts["careful"],
  {
    journal,
    ...ports
  }: Omit<CarefulPorts, "alone" | "synced" | "keep" | "handedOver"> & {
    readonly journal: () => Pick<Journal, "synced" | "keep">;
  },
): StartGate {
  if (careful?.now !== true && ports.before === null) return createStartGate(ports.supervisor);
  return createCarefulStart({
    ...ports,
    alone: careful?.alone ?? ((step) => step()),
    handedOver: careful?.handedOver ?? (() => 0),
    synced: () => journal().synced(),
    keep: (writes) => journal().keep(writes),
  });
}

function createCarefulStart(ports: CarefulPorts): StartGate {
  const { supervisor, keep, quarantine, before } = ports;
  let isOpen = false;
  let isStepping = false;
  /** What was there is done: everything is passed on. */
  let isOver = false;
  let stored = 0;
  let stepped = 0;
  const queue: HostEntry[] = [];
  const isDone = () => stepped >= stored + ports.handedOver() + spare;

  async function step(entry: HostEntry): Promise<void> {
    const { conv, key, seq, event } = entry;
    stepped += 1;
    const deaths = before?.seq === seq ? before.deaths + 1 : 0;
    // One that was in quarantine before has a single chance.
    if (deaths >= (triesOf(event) > 0 ? 1 : watchedDeathsMax())) {
      const error = `${deaths} processes ended while they applied it`;
      return quarantine({ conv, key, seq, error });
    }
    // What the one before it has done is durable with this.
    await keep([{ kind: "meta", name, value: JSON.stringify({ seq, deaths }) }]);
    supervisor().dispatch([entry]);
    await supervisor().settled();
  }

  async function stepSome(): Promise<void> {
    for (let count = 0; count < togetherMax && !isDone(); count += 1) {
      const entry = queue.shift();
      if (entry === undefined) break;
      await step(entry);
    }
    await ports.synced();
  }

  async function stepOn(): Promise<void> {
    if (isStepping || !isOpen) return;
    isStepping = true;
    try {
      while (queue.length > 0 && !isDone()) await ports.alone(stepSome);
      if (!isDone()) return;
      isOver = true;
      const rest = queue.splice(0);
      if (rest.length > 0) supervisor().dispatch(rest);
    } finally {
      isStepping = false;
    }
  }

  return {
    pass(entries) {
      if (isOver) return supervisor().dispatch(entries);
      queue.push(...entries);
      // It rejects only once the journal has stopped: the next process has the events.
      stepOn().catch(() => undefined);
    },
    open(old) {
      stored = old.length;
      queue.unshift(...old);
      isOpen = true;
      stepOn().catch(() => undefined);
    },
    waiting: () => queue.length + (isStepping ? 1 : 0),
  };
}
