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
 *
 * Of several nodes one says them. It looks at what the others have changed before it says something, and what it has
 * said when it dies is known by its id, so the next one does not say it again.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, Log, TimerHandle } from "../../domain/ports/index.ts";
import { nextDue, type Schedule } from "../../domain/schedule.ts";
import type {
  ScheduleAdded,
  ScheduleRows,
  ScheduleRun,
  Schedules,
  SharedSchedules,
} from "../protocol/schedules.ts";
import type { Speech, SpeechTaken } from "../protocol/speech.ts";
import { type Change, createEntries, type Entry, isSame } from "./schedule-entries.ts";

export interface SchedulePorts {
  readonly clock: Clock;
  /** The machine's wall clock, as it is set. */
  readonly wall: () => Millis;
  readonly log: Log;
  readonly rows: ScheduleRows;
  /** Instead of `rows`; null: this process has the entries for itself. */
  readonly shared: SharedSchedules | null;
  readonly config: () => EarshotConfig;
  /** @throws EarshotError EAR_USAGE if its account or agent is not in the config. */
  readonly check: (spec: Schedule) => void;
  readonly say: (speech: Speech) => Promise<SpeechTaken | "conflict">;
  readonly onRun: (name: string, run: ScheduleRun) => void;
}

/** The wall clock is looked at this often, ms. */
const lookMsMax = 30_000;
/** Pause before a store that failed is tried again. */
const retryMs = 1_000;

export function createSchedules(ports: SchedulePorts): Schedules {
  const { clock, wall, log, shared } = ports;
  /** One moment may have passed just before; a cron line begins now. */
  const anchorOf = ({ cron }: Schedule): Millis => (cron === undefined ? 0 : wall());
  const entries = createEntries({ ...ports, anchorOf });
  /** Names of those that are being said. */
  const busy = new Set<string>();
  /** On the process's clock: the store failed, and they are not tried again before. */
  const retryAt = new Map<string, Millis>();
  let timer: TimerHandle | null = null;
  let started = false;
  let stopped = false;

  const isOurs = () => shared === null || shared.isOurs();

  function dueOf({ spec, anchor, paused }: Entry): Millis | null {
    return paused ? null : nextDue(spec, anchor);
  }

  /** It was not said, and is never due again. */
  const isDone = (name: string, { spec, anchor }: Entry) =>
    !busy.has(name) && nextDue(spec, anchor) === null;

  function arm(): void {
    if (timer !== null) clock.clearTimer(timer);
    timer = null;
    if (!started || stopped || !isOurs()) return;
    const now = wall();
    const steady = clock.now();
    const waits = [...entries.all()].flatMap(([name, entry]) => {
      const due = busy.has(name) ? null : dueOf(entry);
      return due === null ? [] : [Math.max(due - now, (retryAt.get(name) ?? 0) - steady)];
    });
    if (waits.length === 0) return;
    const waitMs = Math.max(1, Math.min(lookMsMax, ...waits));
    timer = clock.setTimer(steady + waitMs, look);
  }

  function look(): void {
    const now = wall();
    if (started && !stopped && isOurs())
      for (const [name, entry] of entries.all()) {
        // The wall clock was set back: what was said by it is known by its id.
        if (entry.anchor > now + limits.scheduleLateMsMax)
          entries.note(name, { ...entry, anchor: now });
        const due = dueOf(entries.get(name) ?? entry);
        const isReady = !busy.has(name) && (retryAt.get(name) ?? 0) <= clock.now();
        if (isReady && due !== null && due <= now) void meet(name);
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

  async function meet(name: string): Promise<void> {
    busy.add(name);
    retryAt.delete(name);
    try {
      await shared?.refresh();
      const now = wall();
      const entry = entries.get(name);
      const first = entry === undefined ? null : dueOf(entry);
      if (entry === undefined || first === null || first > now || !isOurs()) return;
      const due = latest(entry, now);
      const run = await runOf(name, entry, due ?? first, due !== null);
      if (run === null) return again(name);
      const isKnown = await entries.change(() => changeBy(name, entry, due ?? now, run));
      if (isKnown) ports.onRun(name, run);
    } catch (error) {
      // A journal that has stopped rejects, and nodes that share the entries may not reach them.
      log("debug", "event.unsaid", { error: String(error) });
      again(name);
    } finally {
      busy.delete(name);
      arm();
    }
  }

  function again(name: string): void {
    retryAt.set(name, clock.now() + retryMs);
  }

  /** What a run changes; false: the entry is gone, or has begun again. */
  function changeBy(name: string, said: Entry, at: Millis, run: ScheduleRun): Change<boolean> {
    const entry = entries.get(name);
    if (entry === undefined || !isSame(entry.spec, said.spec)) return { answer: false };
    const next = { ...entry, anchor: Math.max(entry.anchor, at), last: run };
    // What was not said stays in the list with its reason.
    const isOver =
      run.result === "said" &&
      entry.origin !== "config" &&
      nextDue(next.spec, next.anchor) === null;
    return { answer: true, sets: new Map([[name, isOver ? null : next]]) };
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

  function put(
    name: string,
    spec: Schedule,
    by: Pick<Entry, "origin" | "owner">,
  ): Change<ScheduleAdded> {
    const before = entries.get(name);
    const isFree = before === undefined || (before.origin === by.origin && isDone(name, before));
    if (!isFree) return { answer: "taken" };
    if (nextDue(spec, wall()) === null) return { answer: "over" };
    if (entries.all().size >= limits.schedulesMax) return { answer: "full" };
    const begun = { spec, anchor: anchorOf(spec), paused: false, last: null };
    return { answer: "added", sets: new Map([[name, { ...begun, ...by }]]) };
  }

  /** Changes what is stored, and then what is waited for. */
  async function changed<Answer>(make: () => Change<Answer>): Promise<Answer> {
    const answer = await entries.change(make);
    arm();
    return answer;
  }

  shared?.follow(() => {
    entries.learn();
    look();
  });

  return {
    load: entries.load,
    start() {
      started = true;
      look();
    },
    async retune() {
      await entries.adopt();
      arm();
    },
    list: () =>
      [...entries.all()]
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
      [...entries.all()].flatMap(([name, entry]) => {
        const { origin, paused, last } = entry;
        const isLost =
          last?.result === "failed" || (last?.result === "skipped" && isDone(name, entry));
        if (paused || last === null || !isLost) return [];
        return [{ name, origin, due: last.due, why: last.why ?? "it was too late" }];
      }),
    async add(spec) {
      ports.check(spec);
      return changed(() => put(spec.name, spec, { origin: "added" }));
    },
    addFor: (owner, spec) =>
      changed(() => {
        const own = [...entries.all().values()].filter((entry) => entry.owner === owner);
        if (own.length >= limits.schedulesOwnMax) return { answer: "full" };
        return put(ownName(owner, spec.name), spec, { origin: "agent", owner });
      }),
    pause: (name, paused) =>
      changed(() => {
        const entry = entries.get(name);
        if (entry === undefined) return { answer: false };
        // What falls due during a pause is not said after it.
        const resumes = entry.paused && !paused;
        const anchor = resumes ? Math.max(entry.anchor, wall()) : entry.anchor;
        return { answer: true, sets: new Map([[name, { ...entry, anchor, paused }]]) };
      }),
    remove: (name) =>
      changed(() => {
        const entry = entries.get(name);
        if (entry === undefined) return { answer: "unknown" };
        if (entry.origin === "config") return { answer: "configured" };
        return { answer: "removed", sets: new Map([[name, null]]) };
      }),
    sayer: () => shared?.sayer() ?? null,
    busy: () => busy.size,
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
