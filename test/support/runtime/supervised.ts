/**
 * A journal of one array
 * ======================
 * The journal side of the supervisor as a small program: rows with marks in memory, activations
 * read from them as the real one does. Tests look at what was decided, how often, and in which
 * order.
 */

import {
  type Activation,
  type HostEntry,
  type HostResult,
  quarantinedCode,
  type TurnReport,
} from "../../../src/actors/protocol/host-protocol.ts";
import {
  createSupervisor,
  type LostTurn,
  type Supervisor,
  type SupervisorPorts,
} from "../../../src/actors/supervisor/supervisor.ts";
import { eventLoop } from "../../../src/actors/util/scheduling.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { type EarshotConfig, parseConfig } from "../../../src/domain/config/index.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { type Inbound, inboundSchema } from "../../../src/domain/message.ts";
import type { SystemLine } from "../../../src/domain/stream.ts";
import type { Effect } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent, JournalEvent } from "../../../src/machines/events/events.ts";

interface Row {
  readonly entry: HostEntry;
  code: number | null;
  /** How often a result said that it was applied. */
  applied: number;
}

export interface World {
  readonly supervisor: Supervisor;
  readonly rows: readonly Row[];
  readonly effects: { readonly seq: number; readonly effect: Effect }[];
  readonly reports: TurnReport[];
  readonly lost: LostTurn[];
  readonly quarantined: { readonly seq: number; readonly error: string }[];
  readonly status: SystemLine[];
  readonly checkpoints: ReadonlyMap<number, { record: string; recordSeq: number }>;
  /** Activations read from the store. */
  readonly counts: { loads: number };
  /** Until nothing is under way and no turn runs. */
  settled(): Promise<void>;
  /** Makes the next commits fail. */
  failCommits(count: number): void;
  /** Journals an event and gives it to the supervisor. */
  send(key: string, event: JournalEvent): number;
  /** The same for many, dispatched together. */
  sendAll(events: readonly (readonly [string, JournalEvent])[]): void;
  codes(): (number | null)[];
}

export const configOf = (raw: unknown = {}): EarshotConfig => parseConfig(raw);

export function groupKey(name: string): string {
  return `agent:main:webhook:group:${name}`;
}

/** A message of a group chat. */
export function message(
  chat: string,
  id: string,
  text: string,
  more: Partial<Inbound> = {},
): ConversationEvent {
  const parsed = inboundSchema.parse({
    channel: "webhook",
    chat: { id: chat, kind: "group" },
    id,
    author: { id: "ann", name: "Ann" },
    text,
  });
  return {
    type: "message.received",
    at: 1_000_000 + Number(id) * 10,
    seq: 0,
    message: { ...parsed, ...more },
    authority: { commandAuthorized: true, owner: false },
    membership: null,
  };
}

export function createWorld(options: Partial<SupervisorPorts> = {}, config = configOf()): World {
  const rows: Row[] = [];
  const records = new Map<number, { record: string; recordSeq: number }>();
  let failures = 0;
  const world = {
    rows,
    effects: [] as { seq: number; effect: Effect }[],
    reports: [] as TurnReport[],
    lost: [] as LostTurn[],
    quarantined: [] as { seq: number; error: string }[],
    status: [] as SystemLine[],
    checkpoints: records,
    counts: { loads: 0 },
  };
  const mark = (seq: number, code: number) => {
    const row = rows[seq - 1] as Row;
    row.code = code;
    row.applied += 1;
  };
  const commit = async (result: HostResult, entries: readonly HostEntry[]) => {
    await new Promise(setImmediate);
    if (failures > 0) {
      failures -= 1;
      throw new Error("the disk is full");
    }
    const own = new Set(entries.map(({ seq }) => seq));
    entries.forEach(({ seq }, index) => {
      mark(seq, result.codes[index] as number);
    });
    for (const step of result.steps) {
      if (!own.has(step.seq)) mark(step.seq, step.code);
      for (const effect of step.effects) world.effects.push({ seq: step.seq, effect });
    }
    for (const { conv, record, recordSeq } of result.checkpoints)
      records.set(conv, { record, recordSeq });
  };
  const load = async (
    conv: number,
    _key: string,
    beforeSeq: number,
    rebuild?: boolean,
  ): Promise<Activation> => {
    world.counts.loads += 1;
    const found = rebuild ? undefined : records.get(conv);
    const recordSeq = found?.recordSeq ?? 0;
    const tail = rows
      .filter(({ entry }) => entry.conv === conv)
      .filter(
        ({ entry: { seq }, code }) =>
          seq > recordSeq && seq < beforeSeq && code !== quarantinedCode,
      )
      .map(({ entry: { seq, cfg, event }, code }) => ({ seq, cfg, event, applied: code !== null }));
    return { record: found?.record ?? null, recordSeq, tail };
  };
  const supervisor = createSupervisor({
    clock: createSystemClock(),
    log: () => undefined,
    workers: 0,
    scheduler: eventLoop,
    liveConversations: 1_000,
    drivers,
    load,
    effects: () => ({ handle: commit }),
    onTurnReports: (reports) => void world.reports.push(...reports),
    onDelta: () => undefined,
    onDraft: () => undefined,
    ask: async () => "",
    onHostLost: ({ turns }) => void world.lost.push(...turns),
    onQuarantine: ({ seq, error }) => {
      (rows[seq - 1] as Row).code = quarantinedCode;
      world.quarantined.push({ seq, error });
    },
    onStatus: (line) => void world.status.push(line),
    configFor: () => config,
    ...options,
  });
  supervisor.addConfig({ version: 1, config });
  const running = new Set<string>();
  const seen = { reports: 0, lost: 0 };
  const isRunning = () => {
    for (const { turnId, event } of world.reports.slice(seen.reports))
      if (event.type === "agent.ended" || event.type === "agent.failed") running.delete(turnId);
    for (const { turnId } of world.lost.slice(seen.lost)) running.delete(turnId);
    seen.reports = world.reports.length;
    seen.lost = world.lost.length;
    return running.size > 0;
  };
  const run = supervisor.run.bind(supervisor);
  supervisor.run = (order) => {
    isRunning();
    running.add(order.turnId);
    run(order);
  };
  const journal = (key: string, event: JournalEvent): HostEntry => {
    const seq = rows.length + 1;
    const numbered = "seq" in event ? { ...event, seq } : event;
    const entry: HostEntry = { conv: hash52(key), key, seq, cfg: 1, event: numbered };
    rows.push({ entry, code: null, applied: 0 });
    return entry;
  };
  return Object.assign(world, {
    supervisor,
    settled: async () => {
      do await supervisor.settled();
      while (isRunning());
    },
    failCommits: (count: number) => {
      failures = count;
    },
    send: (key: string, event: JournalEvent) => {
      const entry = journal(key, event);
      supervisor.dispatch([entry]);
      return entry.seq;
    },
    sendAll: (events: readonly (readonly [string, JournalEvent])[]) => {
      supervisor.dispatch(events.map(([key, event]) => journal(key, event)));
    },
    codes: () => rows.map(({ code }) => code),
  });
}
