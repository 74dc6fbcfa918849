/**
 * Replays the conversation from the journal up to the message, evaluates the ladder in that state,
 * and continues until the message's outcome is known. The recorded verdict is returned as well; the
 * two differ only if the rules have changed since.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { decodeVerdict, type Verdict } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import { type Inbound, inboundSchema } from "../../domain/message.ts";
import {
  type ConversationRow,
  type EventRow,
  noConversation,
  type OutboxRow,
  type Store,
} from "../../domain/ports/index.ts";
import { isSame, type Placed, placedIn } from "../../machines/batching/chats.ts";
import { textName } from "../../machines/conversation/delivery-actions.ts";
import { explainEngagement } from "../../machines/engagement/engagement.ts";
import { effectiveHumans } from "../../machines/engagement/humans.ts";
import type { Effect, MessageRef } from "../../machines/events/effects.ts";
import type { MessageReceived, PromptDue, TextDue } from "../../machines/events/events.ts";
import { decideIntake } from "../../machines/routing/intake.ts";
import type { Conversation } from "../host/conversation-actor.ts";
import type { Configs } from "../journal/config-versions.ts";
import { labelIn } from "../journal/labels.ts";
import { replayConversation } from "../journal/replayed-conversation.ts";
import { deliveryOf, isText } from "../outbox/row-body.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import { orderName } from "../protocol/speech.ts";
import type { Why } from "../protocol/why.ts";
import { turnFacts } from "./turn-facts.ts";

export interface WhyPorts {
  readonly store: Store;
  readonly configs: Configs;
  readonly isLocal: (channel: string) => boolean;
}

/**
 * One explanation per conversation that received the message, oldest first; empty when it is
 * unknown. With `seq` only for that journal row, which avoids searching the others.
 */
export async function whyMessage(ports: WhyPorts, messageId: string, seq?: number): Promise<Why[]> {
  const { store } = ports;
  const rows = await (seq === undefined ? rowsOf(store, messageId) : store.events([seq]));
  const answers: Why[] = [];
  for (const row of rows) {
    const event = decodeEvent(row);
    if (event.type === "prompt.due" || event.type === "text.due") {
      answers.push(await explainConversation(ports, row, event));
      continue;
    }
    if (event.type !== "message.received" || event.message.id !== messageId) continue;
    answers.push(
      row.conv === noConversation
        ? await whyEnded(ports, row, event)
        : await explainConversation(ports, row, event),
    );
  }
  return answers;
}

/** Those of a message, and those of a text or a prompt that was ordered under this id. */
async function rowsOf(store: Store, id: string): Promise<readonly EventRow[]> {
  return [...(await store.eventsByMessage(id)), ...(await store.eventsByMessage(orderName(id)))];
}

type Explained = MessageReceived | PromptDue | TextDue;

const noOutcome: Why["fate"] = {
  turnId: null,
  turn: null,
  batch: [],
  outcome: null,
  dropped: null,
  deliveries: [],
};

/**
 * Ended by admission, so there is no ladder: admission is evaluated again under the config of that
 * time.
 */
async function whyEnded(
  { configs, isLocal }: WhyPorts,
  row: EventRow,
  event: MessageReceived,
): Promise<Why> {
  const { message, at } = event;
  await configs.load([row.cfg]);
  const explanation = event.admission ?? explainAgain(message, configs.get(row.cfg), isLocal);
  const recorded = decodeVerdict(row.code ?? 0);
  return {
    message,
    at,
    seq: row.seq,
    key: "",
    recorded,
    explanation: null,
    admission: admissionText(recorded, explanation),
    humans: { count: 0, source: "nobody was counted" },
    participants: [],
    membership: null,
    credits: {},
    held: [],
    guard: { state: "clear", consecutive: 0 },
    fate: noOutcome,
  };
}

/** Rows of older versions say nothing: asked again under the config of that moment. */
function explainAgain(
  message: Inbound,
  config: EarshotConfig,
  isLocal: WhyPorts["isLocal"],
): string {
  const context = { local: isLocal(message.channel) };
  return decideIntake({ type: "message", message }, config, context).admission.explanation;
}

/** The access store is not what it was: why it let somebody in is not worked out again. */
function admissionText(recorded: Verdict | null, explanation: string): string {
  if (recorded?.decision === "command") return "a command, carried out: the sender may give it";
  if (recorded?.decision === "claim") return "a claim code, which gave its sender a role";
  if (recorded?.rule === "claim")
    return "a claim code that was not open, or too many wrong ones had come from this account";
  return explanation;
}

/** Rows are recognised by their beginning: `type` comes first. */
const judgedPrefix = '{"type":"judge.answered"';
const beginning = { record: null, recordSeq: 0 };
type Start = Pick<ConversationRow, "record" | "recordSeq">;

async function explainConversation(ports: WhyPorts, row: EventRow, event: Explained): Promise<Why> {
  const found = await ports.store.conversation(row.conv);
  if (found === null) {
    throw new EarshotError(
      "EAR_ASSERT",
      `Cannot explain a message: its conversation ${row.conv} does not exist`,
    );
  }
  const { key } = found;
  // A snapshot from before the message avoids replaying from the beginning.
  if (found.recordSeq >= row.seq) return explain(ports, row, event, key, beginning);
  try {
    return await explain(ports, row, event, key, found);
  } catch (error) {
    const isRecord = error instanceof EarshotError && error.code === "EAR_RECORD_INVALID";
    if (!isRecord || found.record === null) throw error;
    return explain(ports, row, event, key, beginning);
  }
}

async function explain(
  ports: WhyPorts,
  row: EventRow,
  event: Explained,
  key: string,
  { record, recordSeq }: Start,
): Promise<Why> {
  const { store, configs } = ports;
  const rows = await store.tail(row.conv, recordSeq);
  await configs.load(rows.map(({ cfg }) => cfg));
  const version = rows[0]?.cfg ?? row.cfg;
  const { conversation, step } = await replayConversation(configs, { key, record, version });
  try {
    for (const earlier of rows) {
      if (earlier.seq >= row.seq) break;
      step(earlier);
    }
    const at = positionOf(conversation, event);
    const rest = rows.filter(({ seq }) => seq >= row.seq);
    const effectsOf = (later: EventRow) => step(later)?.effects ?? [];
    const fate = await outcomeOf(ports, { event, seq: row.seq }, rest, effectsOf);
    const common = { at: event.at, seq: row.seq, key, ...at, fate };
    if (event.type !== "message.received") return { ...common, ...orderOf(event), recorded: null };
    const recorded = decodeVerdict(row.code ?? 0);
    const levels = event.levels === undefined ? {} : { levels: event.levels };
    const named = placedIn({ severalChats: holdsSeveralChats(key) }, event.message);
    const label = labelIn(rest, named);
    const labelled = label === null ? {} : { label };
    const judged = judgementIn(rest, named);
    return { ...common, message: event.message, ...levels, recorded, ...labelled, ...judged };
  } finally {
    conversation.stop();
  }
}

/** What the judge answered about a message, in the rows since. */
function judgementIn(rows: readonly EventRow[], message: Placed): Pick<Why, "judgement"> {
  for (const row of rows) {
    // Nearly every row is something else, and need not be parsed for that.
    const event = row.body.startsWith(judgedPrefix) ? decodeEvent(row) : null;
    if (event?.type !== "judge.answered" || !isSame(event, message)) continue;
    const { at, engage, confidence, why, failed, usage } = event;
    const engaged = (row.code ?? 0) > 0;
    const more = { ...(failed && { failed }), ...(usage && { usage }) };
    return { judgement: { at, engage, confidence, why, engaged, ...more } };
  }
  return {};
}

/** The error of a row that was not sent. */
const errorOf = ({ state, error }: OutboxRow) =>
  state === "sent" || error === null ? {} : { error };

/** What was ordered, in the form of a message. */
function orderOf(event: PromptDue | TextDue): Pick<Why, "message" | "ordered"> {
  const { id, route } = event;
  const isPrompt = event.type === "prompt.due";
  const name = isPrompt ? event.by : id.startsWith("schedule|") ? "schedule" : "operator";
  const blank = inboundSchema.parse({ ...route, id, author: { id: "operator", name } });
  return {
    message: { ...blank, text: isPrompt ? event.text : event.parts.join("\n") },
    ordered: isPrompt ? "prompt" : "text",
  };
}

/** The state that the ladder saw; an order meets none. */
function positionOf(conversation: Conversation, event: Explained) {
  if (event.type !== "message.received") {
    const { guard, credits } = conversation.view();
    const { participants, membership, counters, settings } = conversation.context;
    const humans = effectiveHumans({ participants, membership }, settings.engagement, event.at);
    const { consecutive } = counters;
    return {
      explanation: null,
      humans,
      participants,
      membership,
      credits,
      held: [],
      guard: { state: guard, consecutive },
    };
  }
  const input = conversation.engagementInputFor(event);
  const { guard, credits } = conversation.view();
  const muted = guard === "muted" && input.message.authorIsBot;
  return {
    // A muted guard decides before the ladder.
    explanation: muted ? null : explainEngagement(input),
    humans: effectiveHumans(input.room, input.rules, input.now),
    participants: input.room.participants,
    membership: input.room.membership,
    credits,
    held: input.held,
    guard: { state: guard, consecutive: conversation.context.counters.consecutive },
  };
}

/** Follows the message through the steps from its own until its turn has an outcome. */
async function outcomeOf(
  { store }: WhyPorts,
  { event, seq }: { readonly event: Explained; readonly seq: number },
  rows: readonly EventRow[],
  step: (row: EventRow) => readonly Effect[],
): Promise<Why["fate"]> {
  let fate = noOutcome;
  const includes = (batch: readonly MessageRef[]) => batch.some((message) => message.seq === seq);
  const follow = (effect: Effect): void => {
    if (effect.type === "dropped" && effect.message.seq === seq && fate.turnId === null) {
      fate = { ...fate, dropped: effect.why };
    }
    if (effect.type === "turn.run" && (effect.prompt === seq || includes(effect.batch))) {
      const { turnId, turn, batch } = effect;
      fate = { ...fate, turnId, turn, batch: batch.map(({ id }) => id) };
    }
    const isPrompted = event.type === "prompt.due" && fate.turnId !== null;
    if (
      effect.type === "outcome" &&
      (isPrompted ? effect.turnId === fate.turnId : includes(effect.batch))
    ) {
      const { turnId, turn, outcome, reason, cause, batch } = effect;
      const because = reason === undefined ? {} : { reason };
      const failed = cause === undefined ? {} : { cause };
      const ids = batch.map(({ id }) => id);
      fate = { ...fate, turnId, turn, outcome, ...because, ...failed, batch: ids };
    }
  };
  for (const row of rows) {
    if (row.code === null) break;
    for (const effect of step(row)) follow(effect);
    if (fate.outcome !== null) break;
  }
  const facts = fate.turnId === null ? undefined : turnFacts(rows, fate.turnId);
  if (facts !== undefined) fate = { ...fate, facts };
  const owner = event.type === "text.due" ? textName(event.id, event.at) : fate.turnId;
  if (owner === null) return fate;
  const texts = (await store.outboxByTurn(owner)).map(deliveryOf).filter(isText);
  // Drafts are not listed beside the answer that replaced them.
  const replaced = new Set(texts.map(({ body }) => body.edits));
  const deliveries = texts.flatMap(({ row, body: { text } }) =>
    replaced.has(row.id) ? [] : [{ id: row.id, status: row.state, text, ...errorOf(row) }],
  );
  return { ...fate, deliveries };
}
