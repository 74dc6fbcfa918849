/**
 * Says things at set times
 * ========================
 * An entry that is due becomes an order under an id of its name and its due time, so it is said once
 * for each due time, whatever ends the process on the way. The last due time that was dealt with is
 * stored; from there the next one follows.
 *
 * Due times are compared with the machine's wall clock, which is looked at again and again, because
 * the clock of the process does not follow when somebody sets it. Of the times that passed
 * meanwhile (no process ran, the machine slept, its clock was set) the latest is said if it is not
 * older than `limits.scheduleLateMsMax`; the rest is skipped, and the list says so.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, Log, MetaWrite, Store, TimerHandle } from "../../domain/ports/index.ts";
import { nextDue, type Schedule } from "../../domain/schedule.ts";
import type { ScheduleEntry, ScheduleRun, Schedules } from "../protocol/schedules.ts";
import type { Speech, SpeechTaken } from "../protocol/speech.ts";

export interface SchedulePorts {
  readonly clock: Clock;
  /** The machine's wall clock, as it is set. */
  readonly wall: () => Millis;
  readonly log: Log;
  readonly store: Pick<Store, "meta">;
  readonly config: () => EarshotConfig;
  readonly keep: (writes: readonly MetaWrite[]) => Promise<void>;
  /** @throws EarshotError EAR_USAGE if its account or agent is not in the config. */
  readonly check: (spec: Schedule) => void;
  readonly say: (speech: Speech) => Promise<SpeechTaken | "conflict">;
  readonly onRun: (name: string, run: ScheduleRun) => void;
}

/** As stored. */
interface State {
  readonly spec: Schedule;
  /** Absent: no agent added it. */
  readonly owner?: string;
  /** The last due time that was dealt with, or when the entry began. */
  anchor: Millis;
  paused: boolean;
  last: ScheduleRun | null;
}
interface Entry extends State {
  readonly origin: ScheduleEntry["origin"];
  busy: boolean;
  /** On the process's clock: the store failed, and it is not tried again before. */
  retryAt: Millis;
}

/** Names of the entries that are not in the config. */
const indexName = "schedules";
const nameOf = (name: string) => `schedule|${name}`;
/** The wall clock is looked at this often, ms. */
const lookMsMax = 30_000;
/** Pause before a store that failed is tried again. */
const retryMs = 1_000;

export function createSchedules(ports: SchedulePorts): Schedules {
  const { clock, wall, log } = ports;
  const entries = new Map<string, Entry>();
  let timer: TimerHandle | null = null;
  let started = false;
  let stopped = false;

  const writeOf = (name: string, { spec, owner, anchor, paused, last }: State): MetaWrite => ({
    kind: "meta",
    name: nameOf(name),
    value: JSON.stringify({
      spec,
      ...(owner === undefined ? {} : { owner }),
      anchor,
      paused,
      last,
    } satisfies State),
  });
  const gone = (name: string): MetaWrite => ({ kind: "meta", name: nameOf(name), value: "" });
  function index(): MetaWrite {
    const names = [...entries].flatMap(([name, { origin }]) => (origin === "config" ? [] : [name]));
    return { kind: "meta", name: indexName, value: JSON.stringify(names) };
  }

  async function stored(name: string): Promise<State | null> {
    const value = await ports.store.meta(nameOf(name));
    return value === null || value === "" ? null : (JSON.parse(value) as State);
  }

  /** Entries of the config as they are now; one that changed begins again. */
  async function adopt(): Promise<void> {
    const { schedule } = ports.config();
    const names = new Set(schedule.map(({ name }) => name));
    for (const [name, { origin }] of entries)
      if (origin === "config" && !names.has(name)) entries.delete(name);
    for (const spec of schedule) {
      const { name } = spec;
      const before = entries.get(name) ?? (await stored(name));
      const same = before !== null && JSON.stringify(before.spec) === JSON.stringify(spec);
      if (same && before !== null && "origin" in before && before.origin === "config") continue;
      const begun = { spec, anchor: anchorOf(spec), paused: false, last: null };
      const entry: Entry = {
        ...(same && before !== null ? before : begun),
        origin: "config",
        busy: false,
        retryAt: 0,
      };
      entries.set(name, entry);
      if (!same) await ports.keep([writeOf(name, entry)]);
    }
  }

  /** One moment may have passed just before; a cron line begins now. */
  const anchorOf = ({ cron }: Schedule): Millis => (cron === undefined ? 0 : wall());

  async function load(): Promise<void> {
    const names = JSON.parse((await ports.store.meta(indexName)) ?? "[]") as string[];
    for (const name of names) {
      const state = await stored(name);
      if (state !== null) {
        const origin = state.owner === undefined ? "added" : "agent";
        entries.set(name, { ...state, origin, busy: false, retryAt: 0 });
      }
    }
    await adopt();
  }

  function dueOf({ spec, anchor, paused }: Entry): Millis | null {
    return paused ? null : nextDue(spec, anchor);
  }

  /** It was not said, and is never due again. */
  const isDone = ({ spec, anchor, busy }: Entry) => !busy && nextDue(spec, anchor) === null;

  function arm(): void {
    if (timer !== null) clock.clearTimer(timer);
    timer = null;
    if (!started || stopped) return;
    const now = wall();
    const steady = clock.now();
    const waits = [...entries.values()].flatMap((entry) => {
      const due = entry.busy ? null : dueOf(entry);
      return due === null ? [] : [Math.max(due - now, entry.retryAt - steady)];
    });
    if (waits.length === 0) return;
    const waitMs = Math.max(1, Math.min(lookMsMax, ...waits));
    timer = clock.setTimer(steady + waitMs, look);
  }

  function look(): void {
    const now = wall();
    for (const [name, entry] of entries) {
      // The wall clock was set back: what was said by it is known by its id.
      if (entry.anchor > now + limits.scheduleLateMsMax) entry.anchor = now;
      const due = dueOf(entry);
      const isReady = !entry.busy && entry.retryAt <= clock.now();
      if (isReady && due !== null && due <= now) void meet(name, entry, due, now);
    }
    arm();
  }

  /** The latest due time that may still be said; null: none. */
  function latest({ spec, anchor }: Entry, now: Millis): Millis | null {
    let found: Millis | null = null;
    let after = Math.max(anchor, now - limits.scheduleLateMsMax - 1);
    for (;;) {
      const due = nextDue(spec, after);
      if (due === null || due > now) return found;
      found = due;
      after = due;
    }
  }

  async function meet(name: string, entry: Entry, first: Millis, now: Millis): Promise<void> {
    entry.busy = true;
    try {
      const due = latest(entry, now);
      const run = await runOf(name, entry, due ?? first, due !== null);
      if (run === null) entry.retryAt = clock.now() + retryMs;
      if (run === null || entries.get(name) !== entry) return;
      entry.anchor = due ?? now;
      entry.last = run;
      // What was not said stays in the list with its reason.
      const isOver = run.result === "said" && entry.origin !== "config" && dueOf(entry) === null;
      if (isOver) entries.delete(name);
      await ports.keep(isOver ? [gone(name), index()] : [writeOf(name, entry)]);
      ports.onRun(name, run);
    } catch (error) {
      // Only a stopped journal rejects: the entry is due again at the next start.
      log("debug", "event.unsaid", { error: String(error) });
    } finally {
      entry.busy = false;
      arm();
    }
  }

  /** Null: the store fails, and it is tried again. */
  async function runOf(
    name: string,
    { spec, owner }: Entry,
    due: Millis,
    timely: boolean,
  ): Promise<ScheduleRun | null> {
    if (!timely) {
      log("warn", "schedule.skipped", { name, due: new Date(due).toISOString() });
      return { due, result: "skipped" };
    }
    try {
      await ports.say(speechOf(name, spec, due, owner !== undefined));
      return { due, result: "said" };
    } catch (error) {
      if (stopped) return null;
      if (error instanceof EarshotError && error.disposition === "retry") return null;
      const why = error instanceof Error ? error.message : String(error);
      log("error", "schedule.failed", { name, error: why });
      return { due, result: "failed", why };
    }
  }

  async function put(name: string, spec: Schedule, by: Pick<Entry, "origin" | "owner">) {
    const before = entries.get(name);
    const isFree = before === undefined || (before.origin === by.origin && isDone(before));
    if (!isFree) return "taken";
    if (nextDue(spec, wall()) === null) return "over";
    if (entries.size >= limits.schedulesMax) return "full";
    const anchor = anchorOf(spec);
    const entry: Entry = {
      spec,
      anchor,
      paused: false,
      last: null,
      busy: false,
      retryAt: 0,
      ...by,
    };
    entries.set(name, entry);
    await ports.keep([writeOf(name, entry), index()]);
    arm();
    return "added";
  }

  return {
    load,
    start() {
      started = true;
      look();
    },
    async retune() {
      await adopt();
      arm();
    },
    list: () =>
      [...entries.entries()]
        .map(([name, entry]) => ({
          name,
          origin: entry.origin,
          owner: entry.owner ?? null,
          spec: entry.spec,
          paused: entry.paused,
          next: dueOf(entry),
          last: entry.last,
        }))
        .sort((a, b) => (a.next ?? Infinity) - (b.next ?? Infinity)),
    unsaid: () =>
      [...entries].flatMap(([name, entry]) => {
        const { origin, paused, last } = entry;
        const isLost = last?.result === "failed" || (last?.result === "skipped" && isDone(entry));
        if (paused || last === null || !isLost) return [];
        return [{ name, origin, due: last.due, why: last.why ?? "it was too late" }];
      }),
    async add(spec) {
      ports.check(spec);
      return put(spec.name, spec, { origin: "added" });
    },
    async addFor(owner, spec) {
      const own = [...entries.values()].filter((entry) => entry.owner === owner);
      if (own.length >= limits.schedulesOwnMax) return "full";
      return put(ownName(owner, spec.name), spec, { origin: "agent", owner });
    },
    async pause(name, paused) {
      const entry = entries.get(name);
      if (entry === undefined) return false;
      // What falls due during a pause is not said after it.
      if (entry.paused && !paused) entry.anchor = Math.max(entry.anchor, wall());
      entry.paused = paused;
      await ports.keep([writeOf(name, entry)]);
      arm();
      return true;
    },
    async remove(name) {
      const entry = entries.get(name);
      if (entry === undefined) return "unknown";
      if (entry.origin === "config") return "configured";
      entries.delete(name);
      await ports.keep([gone(name), index()]);
      arm();
      return "removed";
    },
    busy: () => [...entries.values()].filter(({ busy }) => busy).length,
    stop() {
      stopped = true;
      arm();
    },
  };
}

/** The name of an agent's entry, which no entry of another conversation can have. */
const ownName = (owner: string, name: string) => `${hash52(owner).toString(36)} ${name}`;

function speechOf(
  name: string,
  { to, agent, text, prompt, name: shown }: Schedule,
  due: Millis,
  own: boolean,
): Speech {
  const { id, kind } = to.chat;
  return {
    id: `schedule|${name}|${new Date(due).toISOString()}`,
    place: { ...to, chat: { id, ...(kind === undefined ? {} : { kind }) } },
    ...(agent === undefined ? {} : { agentId: agent }),
    text: text ?? prompt ?? "",
    turn: prompt !== undefined,
    replyTo: null,
    by: own ? `a note that you left yourself: ${shown}` : `schedule ${shown}`,
  };
}
