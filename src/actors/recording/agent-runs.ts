/**
 * Agents' runs as scripts, and the outcomes of their sends. Both must precede the message that
 * causes them but are known only later: a placeholder is inserted, and the following lines wait
 * until everything belonging to it has ended. A placeholder that stays open too long is closed with
 * what it has.
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

/** A conversation in rows, and where its last message came from. */
interface SourceMessage {
  readonly conv: number;
  readonly key: string;
  readonly place: Pick<Route, "channel" | "chat" | "thread"> | null;
}

/** Quiet time after a conversation's last turn that completes its placeholder. */
const quietMs = 60_000;
/** A message that engaged and has not started a turn within this time will not. */
const unstartedMs = 30 * 60_000;
/** Longest duration of a turn. */
const runMs = 6 * 3_600_000;
/** Waiting lines; above it the oldest placeholder is closed. */
const waitingMax = 50_000;
const runsPerLineMax = 10_000;
/** A retry within this time keeps the start of the first attempt. */
const againMsMax = 60_000;
/** A send slower than this was delayed by its platform. */
const lateMs = 1_000;

interface Run {
  readonly turnId: string;
  /** A heartbeat turn, which a replay does not produce. */
  readonly unasked: boolean;
  afterMs: number | null;
  /** Start of its first attempt. */
  startedAt: Millis | null;
  steps: ScriptStep[];
  at: Millis;
  /** Offset after the text so far. */
  offset: number;
  ended: boolean;
  /** When its host was lost; null once the next attempt has begun. */
  lostAt: Millis | null;
}

type DeliveryOutcome = "ok" | "fail" | "hang" | "429";
interface Send {
  readonly turnId: string;
  readonly index: number;
  readonly at: Millis;
  outcome: { readonly send: DeliveryOutcome; readonly waitMs: number } | null;
}

/** Placeholder for the scripts of one conversation and the outcomes of its sends. */
interface RunInProgress {
  readonly t: Millis;
  source: SourceMessage | null;
  readonly runs: Run[];
  readonly sends: Send[];
  touchedAt: Millis;
  /** Drafts and their replacements: no platform of a replay can edit. */
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
  /** Conversations with a due heartbeat and no turn from it yet. */
  readonly #beats = new Set<number>();

  put(line: ScenarioLine): void {
    this.#waiting.push(line);
  }

  /** A message engages: reserves a placeholder for its turn's script. */
  engaged(conv: number, t: Millis): void {
    this.#beats.delete(conv);
    const open = this.#runFor(conv, t);
    open.touchedAt = t;
    open.awaits = true;
  }

  /** Records an event that did not come from outside. */
  note(source: SourceMessage, event: ConversationEvent, t: Millis): void {
    const { conv } = source;
    if (event.type === "heartbeat.due" || event.type === "prompt.due") this.#beats.add(conv);
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
      // A notice is no agent's text, but it too waited behind the previous send.
      const { turnId, index } = event;
      const send = sent ?? { turnId, index, at: event.at, outcome: null };
      if (sent === undefined) open.sends.push(send);
      send.outcome = deliveryOutcomeOf(event, Math.max(send.at, open.sentAt));
      open.sentAt = event.at;
      return;
    }
    const open = this.#runFor(conv, t);
    open.source = source;
    open.touchedAt = t;
    let run = open.runs.find(({ turnId }) => turnId === event.turnId);
    if (run === undefined) {
      const unused = takeUnused(open.runs);
      const unasked = this.#beats.delete(conv) || unused?.unasked === true;
      const { turnId } = event;
      const fresh = { afterMs: null, startedAt: null, steps: [], offset: 0, lostAt: null };
      run = { ...fresh, ended: false, turnId, unasked, at: event.at };
      open.runs.push(run);
      open.awaits = false;
    }
    step(run, event);
    if (event.type !== "agent.text") return;
    const { turnId, index, at } = event;
    if (event.draft === undefined && event.edits === undefined)
      open.sends.push({ turnId, index, at, outcome: null });
    else open.shown.add(`${turnId} ${index}`);
  }

  /** The lines that no longer wait. */
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

  #runFor(conv: number, t: Millis): RunInProgress {
    const open = this.#open.get(conv);
    if (open !== undefined && !open.closed && !isOver(open, t)) return open;
    const empty = {
      shown: new Set<string>(),
      sentAt: 0,
      source: null,
      runs: [],
      sends: [],
      awaits: false,
      closed: false,
    };
    const started: RunInProgress = { ...empty, t, touchedAt: t };
    this.#open.set(conv, started);
    this.#waiting.push(started);
    return started;
  }

  *#close(item: ScenarioLine | RunInProgress): Generator<ScenarioLine> {
    if (!isComplete(item)) {
      yield item;
      return;
    }
    item.closed = true;
    const { source, t } = item;
    if (source === null) return;
    if (this.#open.get(source.conv) === item) this.#open.delete(source.conv);
    const { key, place } = source;
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
    sends.every(({ outcome }) => outcome !== null);
  return now - touchedAt > (isDone ? quietMs : runMs);
}

/** Another turn begins: a slot before it that began none came when nothing waited any more. */
function takeUnused(runs: Run[]): Run | undefined {
  const last = runs.at(-1);
  if (last === undefined || last.ended || last.lostAt !== null) return undefined;
  return last.startedAt === null && last.steps.length === 0 ? runs.pop() : undefined;
}

/** Adds an event to the script of its run. */
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
    case "agent.steered":
      add(run, event.at, { steer: true });
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
 * A retry repeats the first attempt's output; only a retry that came much later gets its own start,
 * because no agent stays silent for so long. A first attempt lost before any output left no row: it
 * began when its slot was granted.
 */
function begin(run: Run, { at, attempt }: AgentStarted): void {
  const first = run.startedAt ?? (attempt > 1 ? run.at : at);
  // A first report is journalled with the next ones, so what was steered by then stands before it.
  const steps = run.startedAt === null ? run.steps.filter((step) => "steer" in step) : [];
  run.startedAt = at - first > againMsMax ? at : first;
  Object.assign(run, { afterMs: null, steps, offset: 0, ended: false, lostAt: null });
  run.at = run.startedAt;
}

const used = ({ steps }: Run, tool: string) =>
  steps.some((step) => "tool" in step && step.tool === tool);

/**
 * A block, with the blanks that the agent left before it. A file and choices are a message of their own
 * with their text: a replay has neither the file nor a platform that shows buttons.
 */
function say(run: Run, { text, from, to, at, target, media, choices }: AgentText): void {
  if (media !== undefined || choices !== undefined) {
    add(run, at, { tool: "channel_reply", input: { text: `${tagOf(target)}${text}` } });
    run.offset = Math.max(run.offset, to);
    return;
  }
  const gap = Math.max(0, Math.min(from - run.offset, 8));
  const space = run.offset === 0 ? "" : gap >= 2 ? "\n\n" : " ".repeat(gap);
  if (target !== undefined) add(run, at, { text: tagOf(target) });
  for (let start = 0; start < text.length; start += limits.agentEventUnitsMax - 8) {
    const part = text.slice(start, start + limits.agentEventUnitsMax - 8);
    add(run, at, { text: start === 0 ? space + part : part });
  }
  run.offset = Math.max(run.offset, to);
}

/** The tag before what replies to a message; empty: the message that the turn answers. */
function tagOf(target: string | undefined): string {
  if (target === undefined) return "";
  return target === "" ? "[[reply_to_current]]" : `[[reply_to:${target}]]`;
}

function endOf({ code, message }: AgentFailed): ScriptStep {
  if (code === "error" || code === "too-long" || code === "host-lost") return { error: message };
  // Timeout or abort: the agent itself was still running.
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

/** A run without an end in the recording never ends. */
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
  // A late first block was delayed by the platform; later blocks may have paused on purpose.
  const waitMs = event.index === 0 && tookMs >= lateMs ? tookMs : 0;
  if (event.type === "delivery.sent") return { send: "ok", waitMs };
  // An expired send waited for a platform that was not ready.
  const send = { dead: "fail", "in-doubt": "hang", expired: "429" } as const;
  return { send: send[event.status], waitMs };
}

/** Outcomes of a chat's sends up to the last failure; later sends succeed by default. */
function* deliveryOutcomes(
  sends: readonly Send[],
  { channel, chat, thread }: NonNullable<SourceMessage["place"]>,
  t: Millis,
): Generator<ScenarioLine> {
  const last = sends.findLastIndex(
    ({ outcome }) => outcome !== null && (outcome.send !== "ok" || outcome.waitMs > 0),
  );
  const where = { channel, chat: chat.id, ...(thread === null ? {} : { thread: thread.id }) };
  const order = (send: DeliveryOutcome, retryAfterMs: Millis): ScenarioLine => ({
    t,
    platform: { ...where, send, retryAfterMs, count: 1 },
  });
  for (const { outcome } of sends.slice(0, last + 1)) {
    const { send, waitMs } = outcome ?? { send: "ok" as const, waitMs: 0 };
    const mayBeLate = send === "ok" || send === "fail";
    if (mayBeLate && waitMs > 0) yield order("429", waitMs);
    yield order(send, send === "429" ? Math.max(waitMs, 1_000) : 1_000);
  }
}
