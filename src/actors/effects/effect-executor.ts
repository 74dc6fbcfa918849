/**
 * What a host answers is written in one commit (marks, records, rows) and only then happens: timers,
 * turn slots, sends, turns, and the lines of the event stream, in the order of the journal. What leaves
 * the process waits until it is durable: the outbox and the turns see to that, a command waits here.
 * A result of nothing but decisions does not wait: its marks go with the next commit, and after a
 * crash before that the same decisions are made again. If the host dies meanwhile, its successor
 * gets them as `unmarked`, so that each is published once.
 */
import { decodeVerdict } from "../../domain/decision.ts";
import type { Clock, Log, StoreWrite } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { Placed } from "../../machines/batching/chats.ts";
import type { Effect, MessageRef } from "../../machines/events/effects.ts";
import type { JudgeAnswered, MessageReceived } from "../../machines/events/events.ts";
import type { Typing } from "../channels/typing-indicators.ts";
import type { Approvals } from "../commands/approvals.ts";
import type { CommandExecutor } from "../commands/command-executor.ts";
import type { Deadlines } from "../journal/deadlines.ts";
import { relayDeadlines } from "../journal/deadlines.ts";
import type { Journal } from "../journal/journal.ts";
import type { Quarantine } from "../journal/quarantine.ts";
import type { Judges } from "../judge/judge.ts";
import type { Outbox } from "../outbox/types.ts";
import type { TurnSlots } from "../protocol/conversation-summary.ts";
import {
  type Forgotten,
  type HostEntry,
  type HostResult,
  type HostStep,
  quarantinedCode,
} from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { Effects } from "../protocol/supervisor.ts";
import type { Sessions } from "../sessions/session-registry.ts";
import type { FiledLine, TranscriptFiles } from "../sessions/transcript-files.ts";
import type { MessageLine } from "../sessions/turn-session.ts";
import type { Media } from "../turns/media.ts";
import type { TurnStarter } from "../turns/turn-starter.ts";
import { composableTurns } from "./composable-turns.ts";
import { canShow, type PlanContext, planStep, type StepPlan } from "./effect-planner.ts";
import {
  agentEndLine,
  agentStartLine,
  answersCommand,
  decisionLine,
  reactLine,
  rowReactLine,
} from "./event-stream.ts";
import { byEvent, reportDropped, reportForgotten } from "./forgotten-messages.ts";
import { prepareTurns } from "./prepare-turns.ts";
import { stopWrites } from "./stop-writes.ts";

export interface EffectPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly timers: Deadlines;
  readonly slots: TurnSlots;
  readonly outbox: Outbox;
  readonly typing: Typing;
  readonly sessions: Sessions;
  readonly projection: Pick<TranscriptFiles, "write">;
  readonly turns: TurnStarter;
  /** The last applied event of each conversation whose mark is not durable yet. */
  readonly unmarked: Map<number, number>;
  readonly directory: Pick<OutboundDirectory, "refreshMembership" | "outbound">;
  readonly settings: (key: string) => ConversationSettings;
  readonly agentOf: (key: string) => string;
  /**
   * The event of a journal row, for decisions made while a conversation caught up with its journal.
   */
  readonly eventOf: (seq: number) => Promise<MessageReceived | JudgeAnswered | null>;
  /** The message with that platform id in a conversation. */
  readonly messageOf: (conv: number, asked: Placed) => Promise<MessageReceived | null>;
  /** The texts of messages, as a transcript has them. */
  readonly textsOf: (
    refs: readonly MessageRef[],
    conv: number | null,
  ) => Promise<readonly MessageLine[]>;
  readonly media: Pick<Media, "engaged">;
  readonly commands: CommandExecutor;
  readonly approvals: Pick<Approvals, "ended">;
  readonly judges: Pick<Judges, "ask">;
  readonly quarantine: Pick<Quarantine, "note">;
  readonly events: Pick<RuntimeEvents, "emit">;
  readonly live: boolean;
  /** Called when transcript lines are in their files and nothing of them is published yet. */
  readonly onPoint?: (point: "after-lines") => void;
}

/** One applied event: its verdict, and whether it had other effects. */
interface Applied {
  readonly seq: number;
  readonly conv: number;
  readonly key: string;
  readonly code: number;
  readonly message: MessageReceived | null;
  /** The message was decided before, and a judge has said otherwise now. */
  readonly again?: true;
  readonly plan: StepPlan | null;
  /** What it pushed out of the memory; null: nothing. */
  readonly forgotten: readonly Forgotten[] | null;
}

export function createEffects(ports: EffectPorts): Effects {
  const { clock, journal } = ports;
  const { emit } = ports.events;

  async function handle(result: HostResult, entries: readonly HostEntry[]): Promise<void> {
    reportToRooms(result, entries);
    const applied = await appliedEvents(ports, result, entries);
    const writes: StoreWrite[] = applied.map(({ seq, code }) => ({ kind: "applied", seq, code }));
    if (result.rejected.length > 0) writes.push(...(await ports.quarantine.note(result.rejected)));
    const plans = applied.map(({ plan }) => plan);
    for (const plan of plans) if (plan !== null) writes.push(...plan.writes);
    writes.push(...stopWrites(ports.outbox, plans));
    for (const { conv, recordSeq, record } of result.checkpoints) {
      writes.push({ kind: "checkpoint", conv, recordSeq, epoch: result.epoch, record });
    }
    if (writes.length === 0) return;
    for (const { plan } of applied) if (plan !== null) disarm(plan.step);
    const stored = journal.keep(writes, applied.some(actsOutside) ? "durable" : "ordered");
    for (const { plan } of applied) if (plan !== null) requestSlots(plan.step);
    for (const [effect, step] of composableTurns(applied)) ports.turns.prepare(effect, step);
    if (result.steps.length > 0 || result.checkpoints.length > 0) await stored;
    else void mark(applied, stored);
    const lines = applied.flatMap((event) => filedLines(event));
    if (lines.length > 0) {
      await ports.projection.write(lines);
      ports.onPoint?.("after-lines");
    }
    for (const event of applied) act(event);
  }

  /**
   * Whether it acts outside once this returns. Turns and the outbox wait for a sync by themselves, and
   * a reaction or an indicator may be shown twice.
   */
  const actsOutside = ({ plan }: Applied) =>
    plan?.step.effects.some(({ type }) => type === "command") === true;

  /** Reports changes that a list of rooms would not see otherwise. */
  function reportToRooms({ passivated }: HostResult, entries: readonly HostEntry[]): void {
    for (const conv of passivated) emit.changed?.(conv);
    const { edited } = emit;
    if (edited === undefined) return;
    for (const { conv, event } of entries)
      if (event.type === "message.edited") edited(conv, event.edit, event.edit.text);
      else if (event.type === "message.deleted") edited(conv, event.deletion, null);
  }

  function filedLines({ key, plan }: Applied): FiledLine[] {
    return (plan?.lines ?? []).map((line) => ({ agentId: ports.agentOf(key), line }));
  }

  /** Keeps marks in memory until the store has them. */
  async function mark(applied: readonly Applied[], stored: Promise<void>): Promise<void> {
    const { unmarked } = ports;
    for (const { conv, seq } of applied) unmarked.set(conv, seq);
    try {
      await stored;
    } catch (error) {
      // Only a stopped journal rejects, and then the next start makes the same decisions again.
      ports.log("debug", "marks.lost", { error: String(error) });
    }
    for (const { conv, seq } of applied) if (unmarked.get(conv) === seq) unmarked.delete(conv);
  }

  /** A timer must not fire for a deadline that is being replaced. */
  function disarm({ conv, effects }: HostStep): void {
    for (const effect of effects) {
      if (effect.type === "deadline.set" || effect.type === "deadline.clear") {
        ports.timers.clear(conv, effect.id);
      }
    }
  }

  /**
   * Asks for turn slots as soon as that is queued to be stored: a grant is journalled behind it, then
   * mostly in the same commit. Where the slot of a turn before is still held, `perform` asks again.
   */
  function requestSlots({ conv, key, effects }: HostStep): void {
    if (effects.some(({ type }) => type === "lane.request"))
      ports.slots.request({ conv, key, agentId: ports.agentOf(key) });
  }

  function act({ conv, key, code, message, again, plan, forgotten }: Applied): void {
    emit.applied?.(conv);
    const verdict = code > 0 ? decodeVerdict(code) : null;
    if (verdict !== null && message !== null) {
      if (again === undefined) emit.decided?.(conv, key, message, verdict);
      else emit.engagedLate?.(conv, message, verdict);
      emit.line?.(decisionLine(clock.now(), message.message, key, verdict, ports.live));
      if (verdict.decision === "engage") {
        const { seq, at, message: inbound } = message;
        ports.media.engaged(key, { conv, seq, at, inbound, offset: 0 });
      }
    }
    if (forgotten !== null) reportForgotten(emit, clock.now(), key, forgotten);
    if (plan === null) return;
    emit.changed?.(conv);
    for (const effect of plan.step.effects) perform(effect, plan.step);
    for (const row of plan.rows)
      if (answersCommand(row)) emit.line?.(rowReactLine(clock.now(), row));
    ports.outbox.enqueue(plan.rows);
  }

  function perform(effect: Effect, step: HostStep): void {
    const { conv, key } = step;
    const t = clock.now();
    switch (effect.type) {
      case "deadline.set":
        ports.timers.set({ conv, id: effect.id, at: effect.at });
        break;
      case "lane.request":
        ports.slots.request({ conv, key, agentId: ports.agentOf(key) });
        break;
      case "lane.release":
        ports.slots.release(conv);
        break;
      case "turn.run":
        emit.turnStarted?.(key, effect);
        if (effect.attempt === 1) emit.line?.(agentStartLine(t, key, effect, ports.live));
        ports.turns.start(effect, step);
        break;
      case "turn.steer":
        ports.turns.steer(effect, step);
        break;
      case "turn.abort":
        ports.turns.abort(effect, step);
        ports.approvals.ended(effect.turnId);
        ports.outbox.discard(effect.turnId, effect.reason);
        break;
      case "typing":
        if (!canShow(ports.directory, effect.route, "sendTyping")) break;
        if (effect.on) ports.typing.on(conv, effect.route, ports.settings(key).typing);
        else ports.typing.off(conv, effect.route);
        emit.line?.({ t, out: "typing", on: effect.on, chat: effect.route.chat.id });
        break;
      case "react":
      case "unreact":
        if (canShow(ports.directory, effect.route, "addReaction"))
          emit.line?.(reactLine(t, effect));
        break;
      case "dropped":
        reportDropped(emit, t, key, effect);
        break;
      case "run.ended":
        ports.turns.ended(effect.turnId);
        ports.approvals.ended(effect.turnId);
        ports.outbox.endTurn(effect.turnId, effect.broken);
        break;
      case "outcome":
        emit.turnEnded?.(key, effect);
        emit.line?.(agentEndLine(t, key, effect));
        break;
      case "relay.pass":
        for (const deadline of relayDeadlines(effect, step.at)) ports.timers.set(deadline);
        break;
      case "judge.ask":
        if (ports.live) ports.judges.ask(effect, step);
        break;
      case "membership.refresh":
        ports.directory.refreshMembership(effect.route);
        break;
      case "session.began":
        ports.sessions.began(effect.sessionId, ports.agentOf(key));
        break;
      case "say":
        ports.sessions.forget(effect.turnId);
        break;
      case "command":
        ports.commands.settled(effect, step);
        break;
      case "block":
        if (effect.unknownTarget !== undefined)
          ports.log("info", "reply-tag.ignored", {
            key,
            turn: effect.turnId,
            message: effect.unknownTarget,
          });
        break;
      case "deadline.clear":
      case "transcript":
      case "joined":
      case "usage":
      case "unsaid":
      case "decided":
        break;
    }
  }

  return { handle };
}

/** The context in which steps are planned. */
async function contextOf(ports: EffectPorts, result: HostResult): Promise<PlanContext> {
  const { sessions, agentOf, settings, directory } = ports;
  const unwritten = await prepareTurns(ports, result);
  const commands = await ports.commands.prepare(result.steps);
  return { sessions, agentOf, settings, directory, unwritten, commands };
}

const isVerdict = (code: number) => code >= 0 || code === quarantinedCode;

/**
 * Every applied event in journal order: the entries, and events that were caught up on the way. The
 * text of the latter is read again if they were decided.
 */
async function appliedEvents(
  ports: EffectPorts,
  result: HostResult,
  entries: readonly HostEntry[],
): Promise<Applied[]> {
  const steps = new Map(result.steps.map((step) => [step.seq, step]));
  // Most results hold nothing but decisions.
  const context = steps.size === 0 ? null : await contextOf(ports, result);
  const planOf = (step: HostStep | undefined) =>
    step === undefined || context === null ? null : planStep(step, context);
  const pushedOut = byEvent(result.forgotten);
  const applied: Applied[] = [];
  for (let index = 0; index < entries.length; index += 1) {
    const { seq, conv, key, event } = entries[index] as HostEntry;
    const code = result.codes[index] ?? 0;
    const step = steps.get(seq);
    steps.delete(seq);
    if (!isVerdict(code)) continue;
    const plan = planOf(step);
    const forgotten = pushedOut?.get(seq) ?? null;
    if (event.type === "judge.answered" && code > 0) {
      const message = await ports.messageOf(conv, event);
      applied.push({ seq, conv, key, code, message, again: true, plan, forgotten });
      continue;
    }
    const message = event.type === "message.received" ? event : null;
    applied.push({ seq, conv, key, code, message, plan, forgotten });
  }
  for (const step of steps.values()) {
    const { seq, conv, key, code } = step;
    const found = code > 0 ? await ports.eventOf(seq) : null;
    const again = found?.type === "judge.answered" ? ({ again: true } as const) : {};
    const message = found?.type === "judge.answered" ? await ports.messageOf(conv, found) : found;
    const plan = planOf(step);
    applied.push({ seq, conv, key, code, message, ...again, plan, forgotten: null });
  }
  if (steps.size === 0 && result.rejected.length === 0) return applied;
  const known = new Set(applied.map(({ seq }) => seq));
  for (const { seq, conv, error } of result.rejected) {
    ports.log("error", "event.rejected", { seq, conv, error });
    if (known.has(seq)) continue;
    const none = { message: null, plan: null, forgotten: null };
    applied.push({ seq, conv, key: "", code: quarantinedCode, ...none });
  }
  return applied.sort((a, b) => a.seq - b.seq);
}
