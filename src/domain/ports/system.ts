/**
 * Time, ids, randomness, digests and the log
 * ==========================================
 * The ports that everything may need; there is no other way to read the clock, make an id, draw a
 * random number, hash or write a log line.
 */
import type { Millis } from "../message.ts";

/** A timer that has not fired yet. */
export interface TimerHandle {
  readonly at: Millis;
}

/**
 * Wall time and timers. Simulations advance their clock explicitly
 * (actors/simulation/simulated-clock.ts).
 */
export interface Clock {
  /** ms since the epoch. */
  now(): Millis;
  /** ms since an arbitrary start; monotonic. For durations. */
  monotonic(): Millis;
  /** Calls `fire` once, not before `at`. */
  setTimer(at: Millis, fire: () => void): TimerHandle;
  /**
   * Calls `fire` once, after `ms` that this process had: for a limit on the silence of others. A
   * time in which the whole process stood still does not count.
   */
  setLimit(ms: Millis, fire: () => void): TimerHandle;
  clearTimer(timer: TimerHandle): void;
}

/** What comes after what runs now, without time passing. */
export interface Scheduler {
  /** Calls `work` once when everything that can run now has run. It must not throw. */
  soon(work: () => void): void;
}

/** Unique, time-ordered ids (26 characters, Crockford base 32). */
export interface Ids {
  /**
   * `about` says what the id is for. In a simulation the same subject gets the same id at the same
   * time, whatever else happens in the program.
   */
  next(about?: string): string;
}

/** Uniform in [0, 1). Seeded in simulations. */
export interface Random {
  /** `about`: what the value is for, as with ids. */
  next(about?: string): number;
}

/**
 * SHA-256 of a text, as 64 hexadecimal digits. For names of files, and to keep a random code without
 * keeping the code; never for words that people choose, which a fast hash does not hide.
 */
export type Digest = (text: string) => string;

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal";
/** Structured log with stable event names: `log("warn", "host.lost", { host: 1 })`. */
export type Log = (
  level: LogLevel,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;
