/**
 * Runs of a recording
 * ===================
 * What agents did, as scripts, and what became of their answers, as fates of sends. Both have to
 * stand before the message that leads to them, and are known only later: a place is kept there, and
 * the lines behind it wait until everything that belongs into it has ended. A place that stays open
 * too long is closed with what it has.
 */
import { parseSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { ScriptedRun, ScriptStep } from "../../domain/scenario/script.ts";
import type {
  AgentFailed,
  AgentStarted,
  AgentText,
  ConversationEvent,
} from "../../machines/events/events.ts";

/** A conversation as rows name it, and where it was last spoken in. */
interface HeardMessage {
  readonly conv: number;
  readonly key: string;
  readonly place: Pick<Route, "channel" | "chat" | "thread"> | null;
}

/** Nothing has happened in a conversation for so long after its last turn: its place is complete. */
const quietMs = 60_000;
/** A message that engaged and has not led to a turn by then will not. */
const unstartedMs = 30 * 60_000;
/** A turn lasts no longer than that. */
const runMs = 6 * 3_600_000;
/** Lines that wait; the oldest place is closed beyond. */
const waitingMax = 50_000;
const runsPerLineMax = 10_000;
/** A turn that was tried again within so long counts from its first try. */
const againMsMax = 60_000;
/** A send that took so long was told to wait by its platform. */
const lateMs = 1_000;

interface Run {
  readonly turnId: string;
  /** Nobody asked for it, and a replay will not make it. */
  readonly unasked: boolean;
  afterMs: number | null;
  /** When its first try began. */
  startedAt: Millis | null;
  steps: ScriptStep[];
  at: Millis;
  /** End of the text so far, in the agent's own words. */
  offset: number;
  ended: boolean;
  /** When its host went away; another try has not begun. */
  lostAt: Millis | null;
}

type DeliveryOutcome = "ok" | "fail" | "hang" | "429";
interface Send {
  readonly turnId: string;
  readonly index: number;
  readonly at: Millis;
  outcome: { readonly send: DeliveryOutcome; readonly waitMs: number } | null;
}

/** Where the scripts of one conversation stand, and the fates of what it sent. */
interface RunInProgress {
  readonly t: Millis;
  heard: HeardMessage | null;
  readonly runs: Run[];
  readonly sends: Send[];
  touchedAt: Millis;
  /** Drafts and what replaced them: no platform of a replay can edit. */
  readonly shown: Set<string>;
  /** When the last send ended, ms since the epoch. */
  sentAt: Millis;
  /** A message engaged, and its turn has not begun. */
  awaits: boolean;
  closed: boolean;
}

export class RecordedRuns {
  #waiting: (ScenarioLine | RunInProgress)[] = [];
  readonly #open = new Map<number, RunInProgress>();
  /** Conversations in which a heartbeat was due and no turn has come of it yet. */
  readonly #beats = new Set<number>();

  put(line: ScenarioLine): void {
    this.#waiting.push(line);
  }

  /** A message engages: its turn's script has its place here. */
  engaged(conv: number, t: Millis): void {
    this.#beats.delete(conv);
    const kept = this.#keptFor(conv, t);
    kept.touchedAt = t;
    kept.awaits = true;
  }

  /** Anything that did not come from outside. */
  note(heard: HeardMessage, event: ConversationEvent, t: Millis): void {
    const { conv } = heard;
    if (event.type === "heartbeat.due") this.#beats.add(conv);
    if (event.type === "disengage") {
      const run = this.#open.get(conv)?.runs.findLast(({ ended }) => !ended);
      if (run !== undefined) add(run, event.at, { tool: "channel_disengage", input: {} });
    }
    if (event.type === "host.recovered") {
      const run = this.#open.get(conv)?.runs.findLast(({ ended }) => !ended);
      if (run !== undefined) run.lostAt = event.at;
    }
    if (!("turnId" in event)) return;
    if (event.type === "delivery.sent" || event.type === "delivery.failed") {
      const open = this.#open.get(conv);
      const sent = open?.sends.find(
        ({ turnId, index }) => turnId === event.turnId && index === event.index,
      );
      if (open === undefined || open.shown.has(`${event.turnId} ${event.index}`)) return;
      // A notice is nobody's text. Whatever it is, it waited for its turn behind the one before.
      const { turnId, index } = event;
      const send = sent ?? { turnId, index, at: event.at, outcome: null };
      if (sent === undefined) open.sends.push(send);
      send.outcome = deliveryOutcomeOf(event, Math.max(send.at, open.sentAt));
      open.sentAt = event.at;
      return;
    }
    const kept = this.#keptFor(conv, t);
    kept.heard = heard;
    kept.touchedAt = t;
    let run = kept.runs.find(({ turnId }) => turnId === event.turnId);
    if (run === undefined) {
      const unasked = this.#beats.delete(conv);
      const { turnId } = event;
      const fresh = { afterMs: null, startedAt: null, steps: [], offset: 0, lostAt: null };
      run = { ...fresh, ended: false, turnId, unasked, at: event.at };
      kept.runs.push(run);
      kept.awaits = false;
    }
    step(run, event);
    if (event.type !== "agent.text") return;
    const { turnId, index, at } = event;
    if (event.draft === undefined && event.edits === undefined)
      kept.sends.push({ turnId, index, at, outcome: null });
    else kept.shown.add(`${turnId} ${index}`);
  }

  /** The lines that wait for nothing any more. */
  *ready(now: Millis): Generator<ScenarioLine> {
    let done = 0;
    for (const item of this.#waiting) {
      const waits = isComplete(item) && !item.closed && !isOver(item, now);
      if (waits && this.#waiting.length - done <= waitingMax) break;
      yield* this.#close(item);
      done += 1;
    }
    if (done > 0) this.#waiting = this.#waiting.slice(done);
  }

  *finish(): Generator<ScenarioLine> {
    for (const item of this.#waiting) yield* this.#close(item);
    this.#waiting = [];
  }

  #keptFor(conv: number, t: Millis): RunInProgress {
    const open = this.#open.get(conv);
    if (open !== undefined && !open.closed && !isOver(open, t)) return open;
    const nothing = {
      shown: new Set<string>(),
      sentAt: 0,
      heard: null,
      runs: [],
      sends: [],
      awaits: false,
      closed: false,
    };
    const kept: RunInProgress = { ...nothing, t, touchedAt: t };
    this.#open.set(conv, kept);
    this.#waiting.push(kept);
    return kept;
  }

  *#close(item: ScenarioLine | RunInProgress): Generator<ScenarioLine> {
    if (!isComplete(item)) {
      yield item;
      return;
    }
    item.closed = true;
    const { heard, t } = item;
    if (heard === null) return;
    if (this.#open.get(heard.conv) === item) this.#open.delete(heard.conv);
    const { key, place } = heard;
    const runs = item.runs.filter(({ unasked }) => !unasked).map(scriptOf);
    const { agentId } = parseSessionKey(key);
    for (let from = 0; from < runs.length; from += runsPerLineMax)
      yield { t, agent: { agentId, key, runs: runs.slice(from, from + runsPerLineMax) } };
    if (place !== null) yield* deliveryOutcomes(item.sends, place, t);
  }
}

const isComplete = (item: ScenarioLine | RunInProgress): item is RunInProgress =>
  "touchedAt" in item;

function isOver({ runs, sends, touchedAt, awaits }: RunInProgress, now: Millis): boolean {
  if (awaits || runs.length === 0) return now - touchedAt > unstartedMs;
  const isDone =
    runs.every(({ ended, lostAt }) => ended || lostAt !== null) &&
    sends.every(({ outcome: fate }) => fate !== null);
  return now - touchedAt > (isDone ? quietMs : runMs);
}

/** What the event adds to the script of its run. */
function step(run: Run, event: Extract<ConversationEvent, { turnId: string }>): void {
  switch (event.type) {
    case "agent.started":
      begin(run, event);
      break;
    case "agent.text":
      if (event.aside === undefined && event.draft === undefined) say(run, event);
      break;
    case "agent.tool":
      add(run, event.at, { tool: event.name, input: { ...event.input } });
      break;
    case "skip":
      if (!used(run, "skip_response")) add(run, event.at, { tool: "skip_response", input: {} });
      break;
    case "agent.message-ended":
      add(run, event.at, { messageEnd: true });
      break;
    case "agent.ended":
      pause(run, event.at);
      run.ended = true;
      break;
    case "agent.failed":
      add(run, event.at, endOf(event));
      run.ended = true;
      break;
    default:
      break;
  }
}

/**
 * Another try says again what the first one said, and ends when it did: only one that came long
 * after is given its own time, because an agent that is silent for so long is not waited for. A
 * first try that was lost before it said anything left no row: it began when its slot was granted.
 */
function begin(run: Run, { at, attempt }: AgentStarted): void {
  const first = run.startedAt ?? (attempt > 1 ? run.at : at);
  run.startedAt = at - first > againMsMax ? at : first;
  Object.assign(run, { afterMs: null, steps: [], offset: 0, ended: false, lostAt: null });
  run.at = run.startedAt;
}

const used = ({ steps }: Run, tool: string) =>
  steps.some((step) => "tool" in step && step.tool === tool);

/** A block with as much space before it as the agent left there. */
function say(run: Run, { text, from, to, at }: AgentText): void {
  const gap = Math.max(0, Math.min(from - run.offset, 8));
  const space = run.offset === 0 ? "" : gap >= 2 ? "\n\n" : " ".repeat(gap);
  for (let start = 0; start < text.length; start += limits.agentEventUnitsMax - 8) {
    const part = text.slice(start, start + limits.agentEventUnitsMax - 8);
    add(run, at, { text: start === 0 ? space + part : part });
  }
  run.offset = Math.max(run.offset, to);
}

function endOf({ code, message }: AgentFailed): ScriptStep {
  if (code === "error" || code === "too-long" || code === "host-lost") return { error: message };
  // A time-out, an abort: the agent itself was still at it.
  return { hang: true };
}

function add(run: Run, at: Millis, what: ScriptStep): void {
  pause(run, at);
  run.steps.push(what);
}

function pause(run: Run, at: Millis): void {
  const waitMs = Math.min(Math.max(0, at - run.at), 86_400_000);
  run.at = Math.max(run.at, at);
  if (run.afterMs === null) run.afterMs = waitMs;
  else if (waitMs > 0) run.steps.push({ waitMs });
}

/** A run that has not ended by the end of the recording goes on for ever. */
function scriptOf(run: Run): ScriptedRun {
  if (!run.ended && run.lostAt !== null) {
    add(run, run.lostAt, { error: "its host went away" });
    run.ended = true;
  }
  const { afterMs, steps, ended } = run;
  return { afterMs: afterMs ?? 0, steps: ended ? steps : [...steps, { hang: true }] };
}

function deliveryOutcomeOf(
  event: Extract<ConversationEvent, { type: "delivery.sent" | "delivery.failed" }>,
  sentAt: Millis,
): NonNullable<Send["outcome"]> {
  const tookMs = Math.min(event.at - sentAt, 86_400_000);
  // A first block that came so late was asked to wait; later ones may have paused by themselves.
  const waitMs = event.index === 0 && tookMs >= lateMs ? tookMs : 0;
  if (event.type === "delivery.sent") return { send: "ok", waitMs };
  // What expired waited for a platform that was not ready for it.
  const send = { dead: "fail", "in-doubt": "hang", expired: "429" } as const;
  return { send: send[event.status], waitMs };
}

/** Orders for a chat's sends up to the last that went wrong; what is not ordered goes well. */
function* deliveryOutcomes(
  sends: readonly Send[],
  { channel, chat, thread }: NonNullable<HeardMessage["place"]>,
  t: Millis,
): Generator<ScenarioLine> {
  const last = sends.findLastIndex(
    ({ outcome: fate }) => fate !== null && (fate.send !== "ok" || fate.waitMs > 0),
  );
  const where = { channel, chat: chat.id, ...(thread === null ? {} : { thread: thread.id }) };
  const order = (send: DeliveryOutcome, retryAfterMs: Millis): ScenarioLine => ({
    t,
    platform: { ...where, send, retryAfterMs, count: 1 },
  });
  for (const { outcome: fate } of sends.slice(0, last + 1)) {
    const { send, waitMs } = fate ?? { send: "ok" as const, waitMs: 0 };
    const mayBeLate = send === "ok" || send === "fail";
    if (mayBeLate && waitMs > 0) yield order("429", waitMs);
    yield order(send, send === "429" ? Math.max(waitMs, 1_000) : 1_000);
  }
}
