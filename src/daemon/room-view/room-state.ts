/**
 * The context of the replayed conversation as a page shows it: states, the running turn, queued
 * batches, credits, buffered messages, people. Each buffered text is read from the journal once.
 */
import { decodeEvent } from "../../actors/protocol/event-codec.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { Store } from "../../domain/ports/index.ts";
import { cut } from "../../domain/sanitize.ts";
import { placed } from "../../machines/batching/chats.ts";
import type { BufferEntry } from "../../machines/batching/context-buffer.ts";
import type { PendingMessage } from "../../machines/batching/inbox.ts";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import { effectiveHumans, isPresent } from "../../machines/engagement/humans.ts";
import type { RoomBatch, RoomCredit, RoomPerson, RoomState, RoomTurn } from "../api-types/room.ts";
import type { RoomProjection } from "./projection.ts";

const newestShown = 4;
const peopleShown = 12;
const textShownUnits = 160;

/** Texts of buffered messages, cached while the room is shown. */
export type OverheardTexts = (entry: BufferEntry) => Promise<string>;

/** Reads each text once. Bounded, as the buffer is. */
export function createOverheardTexts(store: Pick<Store, "events">): OverheardTexts {
  const known = new Map<string, string>();
  return async ({ seq, editSeq, id }) => {
    const number = editSeq ?? seq;
    const name = `${number}:${id}`;
    let text = known.get(name);
    if (text === undefined) {
      text = await textOf(store, number, id);
      if (known.size >= 256) known.clear();
      known.set(name, text);
    }
    return text;
  };
}

async function textOf(store: Pick<Store, "events">, seq: number, id: string): Promise<string> {
  const [row] = await store.events([seq]);
  if (row === undefined) return "";
  const event = decodeEvent(row);
  if (event.type === "message.received" || event.type === "fellow.spoke")
    return cut(event.message.text, textShownUnits);
  if (event.type === "message.edited") return cut(event.edit.text, textShownUnits);
  if (event.type !== "history.seeded") return "";
  return cut(event.messages.find((message) => message.id === id)?.text ?? "", textShownUnits);
}

export function personOf(context: ConversationContext, id: string): RoomPerson {
  const known = context.participants.find((participant) => participant.id === id);
  return { id, name: known?.name ?? id, isBot: known?.isBot ?? false };
}

interface StatePorts {
  readonly texts: OverheardTexts;
  /** How long the judge of the room may take, ms. */
  readonly judgeMs: number;
}

export async function stateOf(
  fold: RoomProjection,
  now: Millis,
  { texts, judgeMs }: StatePorts,
): Promise<RoomState> {
  const { conversation, seq, since, trail } = fold;
  const { context } = conversation;
  const view = conversation.view();
  const { engagement } = context.settings;
  const { participants, membership, buffer, counters } = context;
  const newest = buffer.entries.slice(-newestShown).reverse();
  const overheard = await Promise.all(
    newest.map(async (entry) => ({
      seq: entry.seq,
      id: entry.id,
      at: entry.at,
      author: personOf(context, entry.author),
      text: await texts(entry),
    })),
  );
  const peopleByTime = participants
    .filter((participant) => isPresent(participant, engagement, now))
    .sort((a, b) => b.lastSeenAt - a.lastSeenAt);
  return {
    now,
    seq,
    since,
    trail,
    attention: view.attention,
    lock: view.lock,
    turns: view.turns,
    guard: { state: view.guard, consecutive: counters.consecutive },
    typing: context.typing !== null,
    turn: turnOf(fold, context),
    batches: batchesOf(context),
    credits: creditsOf(context, view.held, now),
    stickiness: { windowMs: engagement.stickiness.windowMs, mode: engagement.stickiness.mode },
    buffer: {
      size: context.settings.context.size,
      used: buffer.entries.length,
      dropped: buffer.dropped,
      newest: overheard,
    },
    humans: effectiveHumans({ participants, membership }, engagement, now),
    people: peopleByTime.slice(0, peopleShown).map(({ id, name, isBot }) => ({ id, name, isBot })),
    bots: peopleByTime.filter(({ isBot }) => isBot).length,
    activation: engagement.activation,
    asked: buffer.entries.flatMap(({ id, chat, at, asked }) =>
      asked === undefined || at + judgeMs <= now ? [] : [placed({ id, until: at + judgeMs }, chat)],
    ),
  };
}

const authorsOf = (context: ConversationContext, messages: readonly PendingMessage[]) =>
  [...new Set(messages.map(({ author }) => author))].map((id) => personOf(context, id));

function batchesOf(context: ConversationContext): readonly RoomBatch[] {
  const queued = context.inbox.map(({ messages }) => ({ messages, closesAt: null }));
  const forming = context.forming.map(({ messages, closesAt }) => ({ messages, closesAt }));
  return [...queued, ...forming].map(({ messages, closesAt }) => ({
    authors: authorsOf(context, messages),
    messages: messages.length,
    closesAt,
  }));
}

/** Live credits, the longest first, then people in a hold without a credit. */
function creditsOf(
  context: ConversationContext,
  heldIds: readonly string[],
  now: Millis,
): readonly RoomCredit[] {
  const held = new Set(heldIds);
  const live = Object.entries(context.ledger).filter(([, endsAt]) => now < endsAt);
  const credits = live.map(([id, endsAt]): RoomCredit => {
    const isHeld = held.delete(id);
    return { who: personOf(context, id), endsAt, held: isHeld };
  });
  credits.sort((a, b) => (b.endsAt ?? 0) - (a.endsAt ?? 0));
  const only = [...held].map((id) => ({ who: personOf(context, id), endsAt: null, held: true }));
  return [...credits, ...only];
}

function turnOf(fold: RoomProjection, context: ConversationContext): RoomTurn | null {
  const { run } = context;
  if (run === null) return null;
  const { order, batch, blocks, open, abortedBy } = run;
  const emoji = batch.find(({ ack }) => ack !== null)?.ack ?? null;
  return {
    turn: order.turn,
    turnId: order.turnId,
    since: fold.turnSince ?? batch.at(-1)?.at ?? fold.since ?? 0,
    attempt: Math.max(order.attempt, fold.attempt),
    batch: batch.map(({ id, author }) => ({ id, author: personOf(context, author) })),
    context: order.context.length,
    place: placeOf(order.route),
    replyTo: order.replyTo === "" ? null : order.replyTo,
    ack: emoji === null ? null : { emoji, on: batch.filter(({ ack }) => ack !== null).length },
    parts: { made: blocks, open: open.length },
    ended: fold.conversation.view().attention === "engaged.settling",
    abortedBy,
  };
}

/** Where the answer is sent, for people: a conversation may span several chats or threads. */
function placeOf({ chat, thread, channel }: Route): string {
  const where = chat.kind === "direct" ? `${channel}, direct` : "here";
  return thread === null ? where : `${where}, in ${thread.kind} ${thread.id}`;
}
