/**
 * Activity of the last 15 minutes
 * ===============================
 * Counts of messages and engagements, and how long decisions and first answers took. Fixed rings of
 * numbers: counting a message is three additions, whether a page looks or not.
 */
import { Times } from "../../actors/util/quantiles.ts";
import type { Millis } from "../../domain/message.ts";
import type { ActivityView } from "../api-types/rooms.ts";

const barMs = 7_500;
const barCount = 120;
const barsAMinute = 60_000 / barMs;

export class ActivityWindow {
  readonly #messages = new Uint32Array(barCount);
  readonly #engaged = new Uint32Array(barCount);
  readonly #decided = new Times();
  readonly #firstTexts = new Times();
  /** The newest bar, in bars since the epoch. */
  #newest = 0;

  /** A message was decided at `at`. */
  countMessage(at: Millis, engaged: boolean): void {
    const bar = Math.floor(at / barMs);
    this.#turnTo(bar);
    if (bar <= this.#newest - barCount) return;
    const place = bar % barCount;
    this.#messages[place] = (this.#messages[place] as number) + 1;
    if (engaged) this.#engaged[place] = (this.#engaged[place] as number) + 1;
  }

  /** A message that was counted as observed at `at` was engaged after all. */
  engagedLate(at: Millis): void {
    const bar = Math.floor(at / barMs);
    if (bar > this.#newest || bar <= this.#newest - barCount) return;
    const place = bar % barCount;
    this.#engaged[place] = (this.#engaged[place] as number) + 1;
  }

  /** From receipt to decision. */
  decidedIn(ms: number): void {
    this.#decided.add(ms);
  }

  /** From the start of a turn to its first sent part. */
  firstTextAfter(ms: number): void {
    this.#firstTexts.add(ms);
  }

  view(now: Millis): ActivityView {
    this.#turnTo(Math.floor(now / barMs));
    const bars: [number, number][] = [];
    for (let back = barCount - 1; back >= 0; back -= 1) {
      const place = (this.#newest - back + barCount) % barCount;
      bars.push([this.#messages[place] as number, this.#engaged[place] as number]);
    }
    const sum = (list: readonly (readonly [number, number])[], column: 0 | 1) =>
      list.reduce((total, bar) => total + bar[column], 0);
    const all = sum(bars, 0);
    return {
      perMinute: sum(bars.slice(-barsAMinute), 0),
      engagedPercent: all === 0 ? null : Math.round((100 * sum(bars, 1)) / all),
      decidedMsP99: rounded(this.#decided.quantile(0.99)),
      firstWordsMsP50: rounded(this.#firstTexts.quantile(0.5)),
      bars,
      barMs,
    };
  }

  /** Empties the bars between the newest and this one. */
  #turnTo(bar: number): void {
    if (bar <= this.#newest) return;
    const from = Math.max(this.#newest + 1, bar - barCount + 1);
    for (let next = from; next <= bar; next += 1) {
      this.#messages[next % barCount] = 0;
      this.#engaged[next % barCount] = 0;
    }
    this.#newest = bar;
  }
}

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));
