/**
 * The plan of a step
 * ==================
 * Turns a step's effects into what is stored and what is done once that is durable. Storing and
 * doing are separate, so a crash between them repeats nothing: what was stored is found at the next
 * start, and what was not is planned again by the same step.
 */
import { limits } from "../../domain/limits.ts";
import type { Route } from "../../domain/message.ts";
import { extrasOf } from "../../domain/outgoing.ts";
import type { OutboxRow, StoreWrite } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type {
  Block,
  CommandDue,
  Effect,
  React,
  Say,
  Unreact,
} from "../../machines/events/effects.ts";
import type { CommandOutcome } from "../commands/command-executor.ts";
import { deadlineWrite, relayDeadlines } from "../journal/deadlines.ts";
import { asWritten, type ReactionBody, type TextBody } from "../outbox/row-body.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import { type SessionPlanContext, sessionWrites } from "../sessions/session-writes.ts";

/** The plan of one step, in the order of its effects. */
export interface StepPlan {
  readonly step: HostStep;
  readonly writes: readonly StoreWrite[];
  /** Rows among `writes` that go to the outbox once they are durable. */
  readonly rows: readonly OutboxRow[];
  /** Lines among `writes` that must be in their files before anything is published. */
  readonly lines: readonly TranscriptLine[];
}

export interface PlanContext extends SessionPlanContext {
  /** The outcomes of commands, by their effects; computed beforehand. */
  readonly commands: ReadonlyMap<CommandDue, CommandOutcome>;
  readonly settings: (key: string) => ConversationSettings;
  readonly directory: Pick<OutboundDirectory, "outbound">;
}

/**
 * Whether the platform of a route can show something. An account that is not configured at the
 * moment counts as able: the channel refuses by itself when the account is back.
 */
export function canShow(
  directory: PlanContext["directory"],
  { channel, account }: Route,
  how: "sendTyping" | "addReaction",
): boolean {
  const outbound = directory.outbound(channel, account);
  return outbound === null || outbound[how] !== undefined;
}

/** `natural` in the settings: how long a person pauses between two lines. */
const naturalPause = [800, 2_500] as const;

/** Plans one step. Pure: the same step under the same settings gives the same rows. */
export function planStep(step: HostStep, context: PlanContext): StepPlan {
  const rows: OutboxRow[] = [];
  const lines: TranscriptLine[] = [];
  const writes: StoreWrite[] = [];
  for (const effect of step.effects) {
    if (effect.type === "command") {
      const outcome = context.commands.get(effect);
      if (outcome?.row) rows.push(outcome.row);
      writes.push(...(outcome?.writes ?? []));
    } else if (effect.type === "say") {
      const said = saidRows(effect, step, context);
      rows.push(...said.rows);
      writes.push(...said.writes);
    } else if (effect.type === "relay.pass")
      writes.push(...relayDeadlines(effect, step.at).map(deadlineWrite));
    else {
      const write = writeFor(effect, step, context);
      if (write === null) writes.push(...sessionWrites(effect, step, context));
      else writes.push(write);
      if (write?.kind === "outbox") rows.push(write.row);
    }
  }
  for (const write of writes) if (write.kind === "transcript") lines.push(write.line);
  return { step, writes, rows, lines };
}

function writeFor(effect: Effect, step: HostStep, context: PlanContext): StoreWrite | null {
  const { conv, key, at } = step;
  switch (effect.type) {
    case "deadline.set":
      return { kind: "deadline", conv, id: effect.id, at: effect.at };
    case "deadline.clear":
      return { kind: "deadline", conv, id: effect.id, at: null };
    case "lane.request": {
      const agentId = context.agentOf(key);
      const row = { conv, key, agentId, turnId: null, state: "waiting", since: at } as const;
      return { kind: "run", conv, row };
    }
    case "turn.run": {
      const agentId = context.agentOf(key);
      const { turnId } = effect;
      return {
        kind: "run",
        conv,
        row: { conv, key, agentId, turnId, state: "running", since: at },
      };
    }
    case "lane.release":
      return { kind: "run", conv, row: null };
    case "block":
      return { kind: "outbox", row: textRow(effect, step, context.settings(key)) };
    case "react":
    case "unreact":
      if (!canShow(context.directory, effect.route, "addReaction")) return null;
      return { kind: "outbox", row: reactionRow(effect, step) };
    default:
      return null;
  }
}

/** Placed last in a literal with a spread: V8 is slow with fields that follow a leading spread. */
const fresh = { state: "pending", attempts: 0, doubts: 0, messageIds: null, error: null } as const;

function textRow(block: Block, { conv, key, at }: HostStep, settings: ConversationSettings) {
  const { turnId, index, draft, edits, stopped, aside } = block;
  const pauseMs = pauseBefore(block, settings);
  const body: TextBody = {
    route: block.route,
    text: block.text,
    replyTo: block.replyTo,
    quote: block.quote,
    expiresAt: at + settings.turn.replyAgeMsMax,
    ...(pauseMs === undefined ? {} : { pauseMs }),
    ...(draft === undefined ? {} : { draft }),
    ...(edits === undefined ? {} : { edits: `${turnId}:${edits}` }),
    ...(stopped === undefined ? {} : { stopped }),
    ...(aside === undefined ? {} : { aside }),
    ...extrasOf(block),
  };
  const row: OutboxRow = {
    id: `${turnId}:${index}`,
    conv,
    key,
    turnId,
    index,
    kind: edits === undefined ? block.kind : "edit",
    createdAt: at,
    dueAt: at,
    body: JSON.stringify(body),
    ...fresh,
  };
  return asWritten(row, body);
}

/** A text without a turn: its rows, and its lines in the session. */
function saidRows(
  { turnId, parts, route, replyTo }: Say,
  step: HostStep,
  context: PlanContext,
): { readonly rows: readonly OutboxRow[]; readonly writes: readonly StoreWrite[] } {
  const settings = context.settings(step.key);
  const rows = parts.map((text, index) => {
    const to = index === 0 ? replyTo : null;
    const block = { type: "block", turnId, index, text, route, replyTo: to } as const;
    return textRow({ ...block, quote: false, kind: "reply" }, step, settings);
  });
  const lines = parts.flatMap((text, index) =>
    sessionWrites({ type: "transcript", turnId, role: "assistant", text, index }, step, context),
  );
  return { rows, writes: [...rows.map((row) => ({ kind: "outbox", row }) as const), ...lines] };
}

/** The pause before a further message of an answer; undefined: none. */
function pauseBefore({ edits, aside }: Block, { stream }: ConversationSettings) {
  const { humanDelay } = stream;
  if (humanDelay === "off" || edits !== undefined || aside !== undefined) return undefined;
  return humanDelay === "natural" ? naturalPause : ([humanDelay.minMs, humanDelay.maxMs] as const);
}

function reactionRow(effect: React | Unreact, { conv, key, at, seq }: HostStep): OutboxRow {
  const { type, message, emoji, route } = effect;
  const ageMsMax = type === "react" ? limits.reactionAgeMsMax : limits.unreactionAgeMsMax;
  const body: ReactionBody = { route, message, emoji, expiresAt: at + ageMsMax };
  const row: OutboxRow = {
    id: `${seq}:${type}:${message}`,
    conv,
    key,
    turnId: "",
    index: 0,
    kind: type,
    createdAt: at,
    dueAt: at,
    body: JSON.stringify(body),
    ...fresh,
  };
  return asWritten(row, body);
}
