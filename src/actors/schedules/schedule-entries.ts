/**
 * The entries of the schedule, as they are stored
 * ===============================================
 * A change is stored before it is known here. Where several nodes share the entries, one that rests on what another
 * node has just changed is not stored: it is made again on what is known then. Changes of a node are made one after
 * the other.
 *
 * A row has the state of one entry, of the config or not; the names of those that are not in the config are in a
 * row of their own.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { MetaWrite } from "../../domain/ports/index.ts";
import type { Schedule } from "../../domain/schedule.ts";
import type {
  ScheduleEntry,
  ScheduleRows,
  ScheduleRun,
  SharedSchedules,
} from "../protocol/schedules.ts";

/** As stored. */
interface State {
  readonly spec: Schedule;
  /** Absent: no agent added it. */
  readonly owner?: string;
  /** The last due time that was dealt with, or when the entry began. */
  readonly anchor: Millis;
  readonly paused: boolean;
  readonly last: ScheduleRun | null;
}

export interface Entry extends State {
  readonly origin: ScheduleEntry["origin"];
}

/** What a change answers, and the entries as they are after it; null: one is gone. */
export interface Change<Answer> {
  readonly answer: Answer;
  readonly sets?: ReadonlyMap<string, Entry | null>;
}

export interface EntriesPorts {
  readonly rows: ScheduleRows;
  /** Instead of `rows`; null: this process has the entries for itself. */
  readonly shared: SharedSchedules | null;
  readonly config: () => EarshotConfig;
  /** Where an entry begins. */
  readonly anchorOf: (spec: Schedule) => Millis;
}

export interface Entries {
  get(name: string): Entry | undefined;
  all(): ReadonlyMap<string, Entry>;
  /** Reads what is stored, and adopts what the config says. */
  load(): Promise<void>;
  /** Entries of the config as they are now; one that changed begins again. */
  adopt(): Promise<void>;
  /** Takes over what others have stored. */
  learn(): void;
  /** Known here alone, until its next change. */
  note(name: string, entry: Entry): void;
  /**
   * Makes a change from what is known by then; it may be made more than once. Resolves when it is stored.
   * @throws EarshotError EAR_STORE_FAILED
   */
  change<Answer>(make: () => Change<Answer>): Promise<Answer>;
}

/** Names of the entries that are not in the config. */
export const indexName = "schedules";
export const rowOf = (name: string): string => `schedule|${name}`;
/** A change is made so often before it fails. */
const triesMax = 20;

export const isSame = (one: Schedule, other: Schedule): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export function createEntries({ rows: own, shared, config, anchorOf }: EntriesPorts): Entries {
  const rows = shared ?? own;
  const entries = new Map<string, Entry>();
  let last: Promise<unknown> = Promise.resolve();

  function writesOf(sets: ReadonlyMap<string, Entry | null>): readonly MetaWrite[] {
    const writes = [...sets].map(([name, entry]) => ({
      kind: "meta" as const,
      name: rowOf(name),
      value: entry === null ? "" : textOf(entry),
    }));
    const after = new Map<string, Entry | null>([...entries, ...sets]);
    const before = JSON.stringify(addedIn(entries));
    const value = JSON.stringify(addedIn(after));
    return before === value ? writes : [...writes, { kind: "meta", name: indexName, value }];
  }

  function apply(sets: ReadonlyMap<string, Entry | null>): void {
    for (const [name, entry] of sets)
      if (entry === null) entries.delete(name);
      else entries.set(name, entry);
  }

  async function makeChange<Answer>(make: () => Change<Answer>): Promise<Answer> {
    for (let tries = 1; tries <= triesMax; tries += 1) {
      const basis = rows.basis();
      const { answer, sets = new Map() } = make();
      if (sets.size === 0) return answer;
      if (await rows.keep(writesOf(sets), basis)) {
        apply(sets);
        return answer;
      }
    }
    throw new EarshotError(
      "EAR_STORE_FAILED",
      "Cannot change the schedule: other nodes change the same at the same time. Try it again.",
    );
  }

  function change<Answer>(make: () => Change<Answer>): Promise<Answer> {
    const turn = last.then(() => makeChange(make));
    last = turn.catch(() => undefined);
    return turn;
  }

  async function adopt(): Promise<void> {
    const names = config().schedule.map(({ name }) => name);
    const read = await Promise.all(names.map((name) => rows.row(rowOf(name))));
    const found = new Map(names.map((name, place) => [name, read[place] ?? null] as const));
    const stored = (name: string) =>
      stateIn(shared?.all().get(rowOf(name)) ?? found.get(name) ?? null);
    await change(() => {
      const specs = new Map(config().schedule.map((spec) => [spec.name, spec]));
      for (const [name, { origin }] of entries)
        if (origin === "config" && !specs.has(name)) entries.delete(name);
      const sets = new Map<string, Entry>();
      for (const [name, spec] of specs) {
        const before = entries.get(name) ?? stored(name);
        const isKnown = before !== null && isSame(before.spec, spec);
        if (isKnown) entries.set(name, { ...before, origin: "config" });
        else {
          const begun = { spec, anchor: anchorOf(spec), paused: false, last: null };
          sets.set(name, { ...begun, origin: "config" });
        }
      }
      return { answer: null, sets };
    });
  }

  function learn(): void {
    if (shared === null) return;
    const all = shared.all();
    const specs = new Map(config().schedule.map((spec) => [spec.name, spec]));
    const added = new Set(namesIn(all.get(indexName) ?? null));
    for (const [name, { origin }] of entries)
      if (origin !== "config" && !added.has(name)) entries.delete(name);
    for (const name of [...added, ...specs.keys()]) {
      const state = stateIn(all.get(rowOf(name)) ?? null);
      if (state === null) continue;
      const spec = specs.get(name);
      if (spec === undefined) entries.set(name, { ...state, origin: originOf(state) });
      // A node with another config stores others; what this one says is in its own.
      else if (isSame(state.spec, spec)) entries.set(name, { ...state, origin: "config" });
    }
  }

  return {
    get: (name) => entries.get(name),
    all: () => entries,
    adopt,
    learn,
    note: (name, entry) => void entries.set(name, entry),
    change,
    async load() {
      for (const name of namesIn(await rows.row(indexName))) {
        const state = stateIn(await rows.row(rowOf(name)));
        if (state !== null) entries.set(name, { ...state, origin: originOf(state) });
      }
      await adopt();
    },
  };
}

const addedIn = (entries: ReadonlyMap<string, Entry | null>): readonly string[] =>
  [...entries].flatMap(([name, entry]) =>
    entry === null || entry.origin === "config" ? [] : [name],
  );

const originOf = ({ owner }: State): Entry["origin"] => (owner === undefined ? "added" : "agent");
const namesIn = (value: string | null) => JSON.parse(value ?? "[]") as readonly string[];
const stateIn = (value: string | null): State | null =>
  value === null || value === "" ? null : (JSON.parse(value) as State);
const textOf = ({ spec, owner, anchor, paused, last }: State): string =>
  JSON.stringify({
    spec,
    ...(owner === undefined ? {} : { owner }),
    anchor,
    paused,
    last,
  } satisfies State);
