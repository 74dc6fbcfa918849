/**
 * One step of a conversation in Restate, without Restate
 * ======================================================
 * Pure but for `plan`: what is kept and what has come in; what is kept next, which calls are due later, and
 * what must be performed. Restate stores the result before anything is built on it, so that a node of another
 * version, or with another config, that takes over goes on from the same result.
 */
import { type BatchStepper, type SteppedBatch, stepBatch } from "../../actors/host/step-batch.ts";
import { conversationOf, numbered } from "../../actors/protocol/event-codec.ts";
import type { HostStep } from "../../actors/protocol/host-protocol.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { DeadlineWrite, OutboxRow, OutboxWrite, RunWrite } from "../../domain/ports/index.ts";
import { passedId } from "../../machines/conversation/agent-relay.ts";
import type { OfferedEvent, Stepped } from "./wire.ts";

/** The rows of a conversation that its object keeps. */
export type KeptWrite = DeadlineWrite | OutboxWrite | RunWrite;

export type Deadlines = Readonly<Record<string, Millis>>;

/** What a conversation keeps, under these names. */
export interface Kept {
  readonly head: { readonly seq: number; readonly record: string | null };
  /** The latest events, by the hash of their identity, oldest first. */
  readonly seen: readonly number[];
  readonly deadlines: Deadlines;
  readonly outbox: Readonly<Record<string, OutboxRow>>;
  readonly runs: boolean;
}

export interface Advance {
  readonly stepped: Stepped;
  readonly next: Kept;
  /** Calls of `due` that must come, each not before its time. */
  readonly timers: readonly { readonly id: string; readonly at: Millis; readonly inMs: number }[];
  /** Conversations of other agents that must know that one of them has ended. */
  readonly passed: readonly { readonly key: string; readonly offered: OfferedEvent }[];
  readonly steps: readonly HostStep[];
  readonly rejected: SteppedBatch["rejected"];
}

export interface AdvancePorts extends BatchStepper {
  /** The rows of steps, in order. */
  readonly plan: (steps: readonly HostStep[]) => readonly KeptWrite[];
}

export const nothingKept: Kept = {
  head: { seq: 0, record: null },
  seen: [],
  deadlines: {},
  outbox: {},
  runs: false,
};

const hashOf = ({ identity, sentAt }: OfferedEvent) => hash52(`${sentAt}|${identity}`);

/** The numbers that events get; 0 for one that is known, or comes a second time among them. */
export function numbersFor({ head, seen }: Kept, offered: readonly OfferedEvent[]): number[] {
  const known = new Set(seen);
  let { seq } = head;
  return offered.map((one) => {
    const hash = hashOf(one);
    if (known.has(hash)) return 0;
    known.add(hash);
    seq += 1;
    return seq;
  });
}

/**
 * Steps a conversation over what was offered. `now`: the node's clock, for how long a deadline is away.
 * @throws EarshotError EAR_RECORD_INVALID when a newer version wrote the record: another node can read it.
 */
export function advance(
  key: string,
  kept: Kept,
  offered: readonly OfferedEvent[],
  now: Millis,
  ports: AdvancePorts,
): Advance {
  const numbers = numbersFor(kept, offered);
  const fresh = offered.flatMap(({ cfg, event }, place) => {
    const seq = numbers[place] ?? 0;
    return seq === 0 ? [] : [{ seq, cfg, event: numbered(event, seq) }];
  });
  const { record, codes, steps, rejected } = stepBatch(
    { key, record: kept.head.record, events: fresh },
    ports,
  );
  const codeOf = new Map(fresh.map(({ seq }, place) => [seq, codes[place] ?? 0]));
  const rows = keep(kept, conversationOf(key).conv, ports.plan(steps));
  const hashes = offered.filter((_, place) => numbers[place] !== 0).map(hashOf);
  return {
    stepped: numbers.map((seq) => ({ seq, code: codeOf.get(seq) ?? 0 })),
    next: {
      ...rows,
      head: { seq: kept.head.seq + fresh.length, record },
      seen: [...kept.seen, ...hashes].slice(-limits.engineSeenMax),
    },
    timers: Object.entries(rows.deadlines)
      .filter(([id, at]) => kept.deadlines[id] !== at)
      .map(([id, at]) => ({ id, at, inMs: Math.max(0, at - now) })),
    passed: steps.flatMap((step) => passedBy(step, fresh[0]?.cfg ?? 0)),
    steps,
    rejected,
  };
}

/** The rows once these writes are made. Deadlines of other conversations are not theirs to keep. */
function keep(kept: Kept, conv: number, writes: readonly KeptWrite[]) {
  const deadlines = new Map(Object.entries(kept.deadlines));
  const outbox = new Map(Object.entries(kept.outbox));
  let { runs } = kept;
  for (const write of writes)
    if (write.kind === "outbox") outbox.set(write.row.id, write.row);
    else if (write.kind === "run") runs = write.row !== null;
    else if (write.conv === conv) {
      const { id, at, onlyAt } = write;
      if (at !== null) deadlines.set(id, at);
      else if (onlyAt === undefined || onlyAt === deadlines.get(id)) deadlines.delete(id);
    }
  return {
    deadlines: Object.fromEntries(deadlines),
    outbox: Object.fromEntries(outbox),
    runs,
  };
}

/** A relay is passed on by an event of each agent behind, as a deadline of theirs that is due. */
function passedBy({ effects, at }: HostStep, cfg: number): Advance["passed"] {
  return effects.flatMap((effect) => {
    if (effect.type !== "relay.pass") return [];
    const id = passedId(effect.token, effect.place);
    return effect.to.map((key) => ({ key, offered: dueEvent({ id, at }, at, cfg) }));
  });
}

/** The event of a deadline that was due at `due`; its time is never before that. */
export function dueEvent(
  { id, at: due }: { readonly id: string; readonly at: Millis },
  now: Millis,
  cfg: number,
): OfferedEvent {
  const event = { type: "deadline.due", at: Math.max(now, due), id } as const;
  return { identity: `deadline|${id}|${due}`, sentAt: 0, cfg, event };
}

/** What is kept once a deadline has come. Its row goes with the event. */
export function withoutDeadline(kept: Kept, id: string): Kept {
  const { [id]: _, ...deadlines } = kept.deadlines;
  return { ...kept, deadlines };
}
