/**
 * Runs turns on agents, in a worker host or on the main thread. It reports in batches, one per
 * tick; reports take effect once they are journalled. A report that changes nothing by itself is
 * sent with the next one of its turn. Turns of one runner share open agents and nothing else.
 */

import { LRUCache } from "lru-cache";
import { secretValues } from "../../domain/config/index.ts";
import { atMost, limits } from "../../domain/limits.ts";
import type { AgentDriver, Clock, Log, Scheduler } from "../../domain/ports/index.ts";
import { redactSecrets } from "../../domain/redact-secrets.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type {
  AgentFailed,
  AgentReport,
  AgentSpoke,
  AgentToolFailed,
} from "../../machines/events/events.ts";
import type { TurnJob } from "../protocol/host-link.ts";
import type {
  ContextAnswer,
  ContextQuestion,
  TurnDelta,
  TurnDraft,
  TurnReport,
} from "../protocol/host-protocol.ts";
import { TurnAgents } from "./agent-pool.ts";
import type { Fallback, FallbackChange } from "./side-output.ts";
import { TurnAttempt } from "./turn-attempt.ts";

export interface TurnRunnerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly onReports: (reports: readonly TurnReport[]) => void;
  readonly onDelta: (delta: TurnDelta) => void;
  /** Reports the current text of a growing message. */
  readonly onDraft: (draft: TurnDraft) => void;
  /** Asks the main thread. */
  readonly ask: (question: ContextQuestion) => Promise<ContextAnswer>;
  readonly scheduler: Scheduler;
}

export interface TurnRunner {
  readonly running: number;
  /** Counter of agent activity, compared to detect idleness. */
  readonly activity: number;
  run(job: TurnJob): void;
  /** Cancels a turn; its end is reported within 1 s. */
  abort(turnId: string, reason: string): void;
  steer(turnId: string, text: string): boolean;
  watch(conv: number, on: boolean): void;
  /** Drops a turn without a report, as if its thread had died. */
  lose(turnId: string): void;
  /** Cancels all turns and closes the agents; later turns are not started. */
  close(): void;
}

const held: ReadonlySet<AgentReport["type"]> = new Set([
  ...(["agent.started", "agent.message-ended", "agent.tool-failed"] as const),
]);

const messageUnitsMax = 300;
/** Shortest time between two deltas of one turn, ms. */
const deltaMsMin = 100;

export function createTurnRunner(options: TurnRunnerOptions): TurnRunner {
  return new Runner(options);
}

/** A failure of an agent or a tool with the agent's secrets redacted. */
function discreet<Failed extends AgentFailed | AgentToolFailed>(
  event: Failed,
  { agent }: TurnJob,
): Failed {
  const secrets = secretValues({ agents: { driver: agent.config } });
  return { ...event, message: oneLine(redactSecrets(event.message, secrets), messageUnitsMax) };
}

const isFailure = (event: AgentReport): event is AgentFailed | AgentToolFailed =>
  event.type === "agent.failed" || event.type === "agent.tool-failed";

/** Whether a report is for the journal only, so nothing waits for it. */
function isHeld(event: AgentReport, job: TurnJob): boolean {
  if (event.type === "agent.spoke") return !startsTyping(event, job);
  return held.has(event.type);
}

/** Whether the first sign of an answer is what shows typing, which may be shown already. */
function startsTyping({ what }: AgentSpoke, { order, settings }: TurnJob): boolean {
  const { mode } = settings.typing;
  if (mode === "never" || mode === "instant" || order.heartbeat !== undefined) return false;
  if (what === "reasoning") return mode === "thinking";
  const isShown =
    order.chatKind === "direct" || order.room.because.some(({ rule }) => rule === "mention");
  return mode !== "auto" || !isShown;
}

class Runner implements TurnRunner {
  readonly #options: TurnRunnerOptions;
  readonly #agents: TurnAgents;
  readonly #runs = new Map<string, TurnAttempt>();
  readonly #watched = new Set<number>();
  /** Fallbacks that answered the latest turn of their conversation, by key. */
  readonly #fallbacks = new LRUCache<string, Fallback>(atMost(limits.fallbacksKnownMax));
  #reports: TurnReport[] = [];
  #flushing = false;
  #activity = 0;
  #closed = false;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
    this.#agents = new TurnAgents(options.clock, options.log, options.drivers);
  }

  /** Logs once when another model begins to answer in a conversation, and when that is over. */
  #noteModel({ order, agent }: TurnJob, fallback: Fallback | null): FallbackChange | null {
    const { key, turnId } = order;
    const before = this.#fallbacks.get(key);
    if (fallback === null) {
      if (before === undefined) return null;
      this.#fallbacks.delete(key);
      this.#options.log("info", "agent.fallback-over", { key, turnId, model: before.from });
      return { kind: "over", model: before.from };
    }
    this.#fallbacks.set(key, fallback);
    if (before?.to === fallback.to) return null;
    const why = redactSecrets(fallback.why, secretValues({ agents: { driver: agent.config } }));
    const { from, to } = fallback;
    this.#options.log("warn", "agent.fallback", { key, turnId, from, to, why });
    return { kind: "fallback", to, why };
  }

  get running(): number {
    return this.#runs.size;
  }

  get activity(): number {
    return this.#activity;
  }

  run(job: TurnJob): void {
    // A turn being prepared at shutdown is found again at the next start.
    if (this.#closed) return;
    const { conv, key, turnId, attempt, watched } = job.order;
    const lease = this.#agents.lease(job.agent);
    if (watched) this.#watched.add(conv);
    let n = 0;
    let kept: TurnReport[] = [];
    const run: TurnAttempt = new TurnAttempt(job, {
      clock: this.#options.clock,
      port: lease.port,
      report: (reported) => {
        const event = isFailure(reported) ? discreet(reported, job) : reported;
        if (event.type === "agent.failed") this.#notify(key, turnId, event);
        kept.push({ conv, key, turnId, n, attempt, event });
        n += 1;
        this.#activity += 1;
        if (isHeld(event, job)) return;
        this.#report(kept);
        kept = [];
      },
      onText: this.#deltas(job, () => this.#runs.get(turnId) === run),
      ask: (tool, input) => this.#options.ask({ conv, key, turnId, tool, input }),
      onDraft: (index, text) => {
        this.#activity += 1;
        this.#options.onDraft({ conv, key, turnId, index, text });
      },
      onModel: (fallback) => this.#noteModel(job, fallback),
      onRefused: (why) => this.#options.log("warn", "agent.media-refused", { key, turnId, why }),
      onActivity: () => {
        this.#activity += 1;
      },
      scheduler: this.#options.scheduler,
    });
    this.#runs.get(turnId)?.lose();
    this.#runs.set(turnId, run);
    void run.go().then(() => {
      if (this.#runs.get(turnId) === run) this.#runs.delete(turnId);
      this.#activity += 1;
      lease.release();
    });
  }

  abort(turnId: string, reason: string): void {
    this.#runs.get(turnId)?.abort(reason);
  }

  steer(turnId: string, text: string): boolean {
    return this.#runs.get(turnId)?.steer(text) ?? false;
  }

  watch(conv: number, on: boolean): void {
    if (on) this.#watched.add(conv);
    else this.#watched.delete(conv);
  }

  lose(turnId: string): void {
    this.#runs.get(turnId)?.lose();
    this.#runs.delete(turnId);
    this.#reports = this.#reports.filter((report) => report.turnId !== turnId);
  }

  close(): void {
    this.#closed = true;
    for (const turnId of [...this.#runs.keys()]) this.lose(turnId);
    this.#agents.closeAll();
  }

  /** The reason of a failure is only logged: the room just learns that it failed. */
  #notify(key: string, turnId: string, { code, message }: AgentFailed): void {
    this.#options.log("warn", "agent.failed", { key, turnId, code, error: message });
  }

  #report(reports: readonly TurnReport[]): void {
    this.#reports.push(...reports);
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      const reports = this.#reports;
      this.#reports = [];
      if (reports.length > 0) this.#options.onReports(reports);
    });
  }

  /**
   * Shows what was said so far, at most ten times a second. An answer that is whole before others
   * have had their turn is shown by its messages alone.
   */
  #deltas(job: TurnJob, isRunning: () => boolean): (visible: string) => void {
    const { conv, key, turnId } = job.order;
    const { clock, onDelta, scheduler } = this.#options;
    let last = Number.NEGATIVE_INFINITY;
    let visible = "";
    return (text) => {
      visible = text;
      if (!this.#watched.has(conv) || clock.monotonic() - last < deltaMsMin) return;
      last = clock.monotonic();
      scheduler.soon(() => {
        if (isRunning()) onDelta({ conv, key, turnId, text: visible });
      });
    };
  }
}
