/**
 * What a journal row changes in the index of messages
 * ===================================================
 * The type of a row is read from its beginning, and only those that concern a message are parsed. Texts of
 * answers are in the outbox; which messages a turn answers is in the transcript.
 */
import { deliveryOf, isText } from "../../actors/outbox/row-body.ts";
import { decodeEvent, eventsIn } from "../../actors/protocol/event-codec.ts";
import { decodeVerdict } from "../../domain/decision.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import type { ChatPlace, Inbound, Millis } from "../../domain/message.ts";
import {
  type EventRow,
  type IndexChange,
  type IndexedMessage,
  noConversation,
  type OutboxState,
  type Store,
} from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import type { FoundOutcome } from "../../domain/search/values.ts";
import { type Placed, placed, placedIn } from "../../machines/batching/chats.ts";
import type {
  ConversationEvent,
  DeliveryFailed,
  DeliverySent,
  MessageReceived,
} from "../../machines/events/events.ts";

/** A longer message is found by its beginning; as much is shown on the Room page. */
const textIndexedUnitsMax = 16_384;

export interface ChangePorts {
  readonly store: Pick<Store, "outboxRow" | "outboxByTurn" | "transcriptOfTurn">;
  /** The session key of a conversation; at once where it is known. */
  keyOf(conv: number): string | Promise<string>;
  /** Id and name of the agent of a session key. */
  agentOf(key: string): { readonly id: string; readonly name: string };
}

/** What is known at once is not waited for: a busy journal has thousands of rows a second. */
export type Soon<Value> = Value | Promise<Value>;

/** Types of rows that change something at once, and those that do when they are applied. */
const atOnce = ["message.received", "message.edited", "message.deleted"];
const whenApplied = [
  ...["judge.answered", "agent.reported", "agent.ended", "agent.failed", "skip"],
  ...["delivery.sent", "delivery.failed", "history.seeded", "fellow.spoke", "command.applied"],
];
const beginning = /^\{"type":"([a-z.-]+)"/;

/** The changes of a row that is read for the first time. */
export function changesOf(row: EventRow, ports: ChangePorts): Soon<readonly IndexChange[]> {
  const type = beginning.exec(row.body)?.[1] ?? "";
  if (row.code === null) return changesBefore(type, row, ports);
  return atOnce.includes(type) || whenApplied.includes(type) ? changesIn(row, ports) : [];
}

/** The changes of a row that is not applied yet. */
async function changesBefore(type: string, row: EventRow, ports: ChangePorts) {
  const first = atOnce.includes(type) ? await changesIn(row, ports) : [];
  const waits = type === "message.received" || whenApplied.includes(type);
  return waits ? [...first, { op: "wait", seq: row.seq } as const] : first;
}

/** What is new of a row that is applied now, after it was read. */
export async function changesSince(row: EventRow, ports: ChangePorts): Promise<IndexChange[]> {
  const waited: IndexChange = { op: "waited", seq: row.seq };
  const event = decodeEvent(row);
  if (event.type !== "message.received") return [...(await changesIn(row, ports)), waited];
  const verdict = decodeVerdict(Math.max(0, row.code ?? 0));
  if (verdict === null) return [waited];
  const { decision, rule } = verdict;
  const { conv } = row;
  const named = await namedIn(conv, event.message, ports);
  return [{ op: "decided", conv, ...named, decision, rule }, waited];
}

function changesIn(row: EventRow, ports: ChangePorts): Soon<readonly IndexChange[]> {
  const events = eventsIn(decodeEvent(row));
  const [first] = events;
  if (first?.type === "message.received" && events.length === 1) return received(first, row, ports);
  return changesByAll(events, row, ports);
}

async function changesByAll(
  events: readonly ConversationEvent[],
  row: EventRow,
  ports: ChangePorts,
): Promise<IndexChange[]> {
  const changes: IndexChange[] = [];
  for (const event of events) changes.push(...(await changesBy(event, row, ports)));
  return changes;
}

/** Nearly every row is one of these. */
function received(
  { message, said, at }: MessageReceived,
  row: EventRow,
  ports: ChangePorts,
): Soon<readonly IndexChange[]> {
  const place = row.conv === noConversation ? placeOf(message) : "";
  const added = heard({ ...message, text: said ?? message.text }, row, ports, at, place);
  return added instanceof Promise ? added.then((add) => [add]) : [added];
}

async function changesBy(
  event: ConversationEvent,
  row: EventRow,
  ports: ChangePorts,
): Promise<readonly IndexChange[]> {
  const { conv, seq } = row;
  switch (event.type) {
    case "message.received":
      return received(event, row, ports);
    case "fellow.spoke":
      return [await heard(event.message, row, ports, event.at)];
    case "history.seeded":
      return Promise.all(
        event.messages.map(async (message) => {
          const add = await heard(message, row, ports, message.sentAt ?? event.at);
          return { ...add, message: { ...add.message, kind: "history" as const } };
        }),
      );
    case "message.edited":
      return textOf(conv, event.edit, indexed(event.edit.text), ports);
    case "message.deleted":
      return textOf(conv, event.deletion, null, ports);
    case "judge.answered": {
      if ((row.code ?? 0) <= 0) return [];
      const named = placed({ id: event.id }, event.chat);
      return [{ op: "decided", conv, ...named, decision: "engage", rule: "judge" }];
    }
    case "command.applied": {
      const { asked } = event;
      const key = await ports.keyOf(conv);
      return asked === undefined ? [] : [{ op: "command", conv, key, seq, id: asked.messageId }];
    }
    default:
      return turnChanges(event, row, ports);
  }
}

async function turnChanges(
  event: ConversationEvent,
  row: EventRow,
  ports: ChangePorts,
): Promise<readonly IndexChange[]> {
  switch (event.type) {
    case "agent.ended": {
      const delivered = event.silent ? null : await deliveredOf(event.turnId, ports);
      return ended(event.turnId, delivered ?? "silent", row, ports);
    }
    case "skip":
      return ended(event.turnId, "silent", row, ports);
    case "agent.failed":
      return ended(event.turnId, event.code === "aborted" ? "cancelled" : "failed", row, ports);
    case "delivery.sent":
    case "delivery.failed": {
      const outcome = await deliveredOf(event.turnId, ports);
      const { turnId } = event;
      const change: IndexChange[] = outcome === null ? [] : [{ op: "delivered", turnId, outcome }];
      return [...(await said(event, row, ports)), ...change];
    }
    default:
      return [];
  }
}

type Named = ChatPlace & { readonly id: string };

/** What a message is known by in the index. */
async function namedIn(conv: number, message: Named, { keyOf }: ChangePorts): Promise<Placed> {
  const key = conv === noConversation ? "" : await keyOf(conv);
  return placedIn({ severalChats: holdsSeveralChats(key) }, message);
}

async function textOf(
  conv: number,
  message: Named,
  text: string | null,
  ports: ChangePorts,
): Promise<readonly IndexChange[]> {
  return [{ op: "text", conv, ...(await namedIn(conv, message, ports)), text }];
}

const indexed = (text: string): string => cut(text, textIndexedUnitsMax);

const placeOf = ({ channel, chat }: Inbound): string =>
  oneLine(`${channel} ${chat.title ?? chat.id}`);

function heard(
  inbound: Inbound,
  { seq, conv, code }: EventRow,
  { keyOf }: ChangePorts,
  at: Millis,
  place = "",
): Soon<{ readonly op: "add"; readonly message: IndexedMessage }> {
  const { author, text, chat } = inbound;
  const verdict = code === null ? null : decodeVerdict(Math.max(0, code));
  const addWith = (key: string) => {
    // Only direct chats share a session; most messages are of groups, and their key is not read.
    const severalChats = chat.kind === "direct" && holdsSeveralChats(key);
    const message: IndexedMessage = {
      ...placedIn({ severalChats }, inbound),
      seq,
      conv,
      key,
      at,
      kind: "heard",
      author: { id: author.id, name: author.name, isBot: author.isBot },
      decision: verdict?.decision ?? null,
      rule: verdict?.rule ?? null,
      outcome: null,
      turnId: null,
      place,
      text: indexed(text),
    };
    return { op: "add", message } as const;
  };
  const key = conv === noConversation ? "" : keyOf(conv);
  return typeof key === "string" ? addWith(key) : key.then(addWith);
}

async function ended(
  turnId: string,
  outcome: FoundOutcome,
  { conv }: EventRow,
  { store }: ChangePorts,
): Promise<readonly IndexChange[]> {
  const lines = await store.transcriptOfTurn(turnId);
  const messages = lines.flatMap(({ role, messageId }) =>
    role === "user" && messageId !== undefined ? [messageId] : [],
  );
  return [{ op: "ended", conv, turnId, messages, outcome }];
}

const lost: ReadonlySet<OutboxState> = new Set(["dead", "expired", "in-doubt"]);

/** What became of an answer, as far as is known; null: there is none. */
async function deliveredOf(turnId: string, { store }: ChangePorts): Promise<FoundOutcome | null> {
  const states = (await store.outboxByTurn(turnId)).map(deliveryOf).flatMap((delivery) => {
    const isPart = isText(delivery) && !delivery.body.aside && !delivery.body.draft;
    return isPart ? [delivery.row.state] : [];
  });
  if (states.length === 0) return null;
  if (states.includes("in-doubt")) return "in-doubt";
  const gone = states.filter((state) => lost.has(state)).length;
  if (gone === 0) return "replied";
  return gone < states.length ? "partly" : "undelivered";
}

/** A part of an answer, or the new text of one. */
async function said(
  event: DeliverySent | DeliveryFailed,
  { seq, conv }: EventRow,
  { store, keyOf, agentOf }: ChangePorts,
): Promise<readonly IndexChange[]> {
  const id = `${event.turnId}:${event.index}`;
  const row = await store.outboxRow(id);
  const delivery = row === null ? null : deliveryOf(row);
  if (delivery === null || !isText(delivery)) return [];
  const { text, edits, aside } = delivery.body;
  if (aside !== undefined) return [];
  if (edits !== undefined) {
    const isShown = event.type === "delivery.sent";
    return isShown ? [{ op: "text", conv, id: edits, text: indexed(text), grows: true }] : [];
  }
  const outcome =
    event.type === "delivery.sent"
      ? "replied"
      : event.status === "in-doubt"
        ? "in-doubt"
        : "undelivered";
  const key = await keyOf(conv);
  const message: IndexedMessage = {
    seq,
    conv,
    key,
    at: event.at,
    kind: "said",
    id,
    author: { ...agentOf(key), isBot: true },
    decision: null,
    rule: null,
    outcome,
    turnId: event.turnId,
    place: "",
    text: indexed(text),
  };
  return [{ op: "add", message }];
}
