/**
 * News of a node
 * ==============
 * Collects what is stored here and reports it to the other nodes in one call after the other, at most some times a second. A
 * call that fails is made again without the rows, which the others ask for then.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import type { IngressCall } from "../calls/ingress-call.ts";
import { type Batch, feedKey, feedService, type News, type Note } from "./wire.ts";

export interface PublisherPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Of this process only. */
  readonly boot: string;
  /** Called before each call. */
  readonly onTick: () => void;
}

export interface Publisher {
  news(news: News): void;
  line(line: Batch["lines"][number]): void;
  /** One that cannot be reported is lost. */
  note(note: Note): void;
  /** The same. */
  frame(frame: Batch["frames"][number]): void;
  /**
   * Reports the rest and ends; resolves when the others know, or cannot be reached. The last node that stops is not
   * answered: there is nobody that Restate could ask.
   */
  stop(): Promise<void>;
}

/** After a failure. */
const retryMs: Millis = 1_000;

export function createPublisher({ clock, log, call, boot, onTick }: PublisherPorts): Publisher {
  let news: News[] = [];
  let lines: Batch["lines"][number][] = [];
  let notes: Note[] = [];
  let frames: Batch["frames"][number][] = [];
  let isReachable = true;
  const stopping = new AbortController();
  /** Ends the call under way. */
  const last = new AbortController();
  let running: Promise<void> | null = null;

  /** What one call carries; the rest stays. */
  function take(): Batch {
    let units = 0;
    let count = 0;
    for (const one of news) {
      units += unitsOf(one);
      if (count > 0 && units > engineLimits.feedUnitsMax) break;
      count += 1;
    }
    const taken = news.splice(0, count);
    const all = { news: taken.map(short), lines, notes, frames };
    lines = [];
    notes = [];
    frames = [];
    return all;
  }

  async function publish(): Promise<void> {
    const batch = take();
    try {
      const own = AbortSignal.timeout(engineLimits.callMsMax);
      const signal = AbortSignal.any([own, last.signal]);
      await call(`${feedService}/${feedKey}/publish`, { boot, ...batch }, { signal });
      if (!isReachable) log("info", "feed.working");
      isReachable = true;
    } catch (error) {
      if (isReachable && !stopping.signal.aborted)
        log("warn", "feed.unreachable", { error: String(error) });
      isReachable = false;
      // In their order: the last says how far each conversation is.
      const last = new Map([...batch.news, ...news].map(({ key, revision }) => [key, revision]));
      news = [...last].map(([key, revision]) => ({ key, revision, rows: null }));
    }
  }

  const isWaiting = () => news.length + lines.length + notes.length + frames.length > 0;

  async function run(): Promise<void> {
    while (isWaiting()) {
      await pauseFor(clock, isReachable ? engineLimits.feedMs : retryMs, stopping.signal);
      onTick();
      await publish();
      if (stopping.signal.aborted) return;
    }
  }

  function arm(): void {
    if (running !== null || stopping.signal.aborted) return;
    running = run().finally(() => {
      running = null;
      if (isWaiting()) arm();
    });
  }

  return {
    news(one) {
      news.push(one);
      arm();
    },
    line(one) {
      if (lines.length < engineLimits.feedLinesMax) lines.push(one);
      arm();
    },
    note(one) {
      if (notes.length < engineLimits.feedNotesMax) notes.push(one);
      arm();
    },
    frame(one) {
      if (frames.length < engineLimits.feedFramesMax) frames.push(one);
      arm();
    },
    async stop() {
      stopping.abort();
      const end = clock.setTimer(clock.now() + engineLimits.feedLastMs, () => last.abort());
      await running;
      while (isReachable && news.length > 0) await publish();
      clock.clearTimer(end);
    },
  };
}

/** About as many as its JSON has, UTF-16 units. */
function unitsOf({ rows }: News): number {
  let units = 0;
  for (const { row } of rows ?? [])
    for (const value of Object.values(row ?? {}))
      units += typeof value === "string" ? value.length + 16 : 16;
  return units;
}

/** Of a change that is too long for a call, only that there was one. */
const short = (news: News): News =>
  unitsOf(news) > engineLimits.feedUnitsMax ? { ...news, rows: null } : news;
