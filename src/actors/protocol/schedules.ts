/** Things said at set times, for those who list and change them, and where they are stored. */
import type { Millis } from "../../domain/message.ts";
import type { MetaWrite } from "../../domain/ports/index.ts";
import type { Schedule } from "../../domain/schedule.ts";

/** What became of a due time. */
export interface ScheduleRun {
  readonly due: Millis;
  /** `skipped`: too late by then. */
  readonly result: "said" | "skipped" | "failed";
  readonly why?: string;
}

export interface ScheduleEntry {
  readonly name: string;
  /** Of the config, added by a command, or by an agent for its conversation. */
  readonly origin: "config" | "added" | "agent";
  /** Session key of the conversation whose agent added it; null: no agent did. */
  readonly owner: string | null;
  readonly spec: Schedule;
  readonly paused: boolean;
  /** When it is due next; null: paused, or never again. */
  readonly next: Millis | null;
  readonly last: ScheduleRun | null;
}

/** An entry whose last time failed, or whose only time was skipped, until it is paused. */
export interface UnsaidEntry {
  readonly name: string;
  readonly origin: ScheduleEntry["origin"];
  readonly due: Millis;
  readonly why: string;
}

/**
 * "taken": another entry has the name. "over": it would never be due. One that will not be due
 * again is replaced.
 */
export type ScheduleAdded = "added" | "taken" | "full" | "over";

/** What an operator may do. Each change is durable when its promise resolves. */
export interface ScheduleOperator {
  /** Soonest first. */
  list(): readonly ScheduleEntry[];
  unsaid(): readonly UnsaidEntry[];
  /** @throws EarshotError EAR_USAGE if its account or agent is not in the config. */
  add(spec: Schedule): Promise<ScheduleAdded>;
  /** As `add`, for the agent of a conversation: names are its own. */
  addFor(owner: string, spec: Schedule): Promise<ScheduleAdded>;
  /** False: unknown. What falls due during a pause is not said after it. */
  pause(name: string, paused: boolean): Promise<boolean>;
  /** "configured": it is in the config file, and removed there. */
  remove(name: string): Promise<"removed" | "unknown" | "configured">;
  /** Of several nodes, the name of the one that says them; null: this process does, or nobody yet. */
  sayer(): string | null;
}

/** Where entries are stored. */
export interface ScheduleRows {
  row(name: string): Promise<string | null>;
  /**
   * Stores these; resolves when they are durable. An empty value: the row goes. False: nothing was stored, as
   * another node has changed one of them since `basis`, and what it changed is known now.
   * @throws EarshotError EAR_STORE_FAILED
   */
  keep(writes: readonly MetaWrite[], basis: number): Promise<boolean>;
  /** Which state of the rows is known. */
  basis(): number;
}

/** The same, shared by several nodes, one of which says the entries. */
export interface SharedSchedules extends ScheduleRows {
  /** All rows by their names, as they are known here. */
  all(): ReadonlyMap<string, string>;
  /** Learns what others have changed until now. @throws EarshotError EAR_STORE_FAILED */
  refresh(): Promise<void>;
  /** Whether this node says them. */
  isOurs(): boolean;
  sayer(): string | null;
  /** `changed` is called when a row has changed elsewhere, or another node says them. */
  follow(changed: () => void): void;
}

export interface Schedules extends ScheduleOperator {
  /** Reads what is stored. */
  load(): Promise<void>;
  start(): void;
  /** Applies a changed config. */
  retune(): Promise<void>;
  /** How many entries are being said. */
  busy(): number;
  stop(): void;
}
