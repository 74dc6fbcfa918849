/**
 * The transcript entries of a journal row. Internal rows (deadlines, reports of tools, member lists)
 * have none. Texts come from the journal and the outbox only, so old transcripts look like new ones.
 */

import { deliveryOf, isText } from "../../actors/outbox/row-body.ts";
import { decodeEvent, eventsIn } from "../../actors/protocol/event-codec.ts";
import { quarantinedCode } from "../../actors/protocol/host-protocol.ts";
import { decodeVerdict } from "../../domain/decision.ts";
import type { Attachment, ChatPlace, Inbound, Millis } from "../../domain/message.ts";
import type { EventRow, OutboxState, Store } from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import { failureKindOf } from "../../domain/stream.ts";
import type {
  AgentFailed,
  ConversationEvent,
  DeliveryFailed,
  DeliverySent,
} from "../../machines/events/events.ts";
import type {
  EndedEntry,
  MessageEntry,
  ReplyEntry,
  RoomEntry,
  RoomFile,
  RoomPerson,
} from "../api-types/room.ts";
import { operatedOf } from "./operated-entries.ts";

/** A longer message is cut; the journal has all of it. */
const textShownUnitsMax = 16_384;
const fileNameUnitsMax = 120;
/** The last words of an error often say what is wrong. */
const reasonShownUnitsMax = 500;

export interface EntryPorts {
  readonly store: Pick<Store, "outboxRow" | "outboxByTurn">;
  /** The chat that an entry says; empty: the session has only one. */
  inChat(place: ChatPlace): InChat;
  person(id: string): RoomPerson;
  /** Credits granted by a delivery, by its journal number. */
  credited(seq: number): ReplyEntry["credited"];
}

interface InChat {
  readonly chat?: string;
}

/** The entries of one row, mostly one or none. */
export async function entriesOf(row: EventRow, ports: EntryPorts): Promise<readonly RoomEntry[]> {
  if (row.code !== quarantinedCode) return entriesFor(row, ports);
  // It may be in quarantine because its content is invalid.
  return entriesFor(row, ports).catch(() => []);
}

async function entriesFor(row: EventRow, ports: EntryPorts): Promise<readonly RoomEntry[]> {
  const entries: RoomEntry[] = [];
  const stored = decodeEvent(row);
  if (stored.type === "message.labelled") {
    const { type: _, by, ...label } = stored;
    return [{ kind: "labelled", seq: row.seq, ...label, by: oneLine(by) }];
  }
  if (stored.type === "session.compacted") {
    const why = stored.summary ? "compaction" : "omission";
    return [{ kind: "session", seq: row.seq, at: stored.at, why }];
  }
  for (const event of eventsIn(stored)) entries.push(...(await entriesIn(row, event, ports)));
  return entries;
}

async function entriesIn(
  row: EventRow,
  event: ConversationEvent,
  ports: EntryPorts,
): Promise<readonly RoomEntry[]> {
  const place = { seq: row.seq, at: event.at };
  const { inChat } = ports;
  switch (event.type) {
    case "message.received": {
      const verdict = row.code !== null && row.code > 0 ? decodeVerdict(row.code) : null;
      return [{ ...messageEntryOf(event.message, place, ports), verdict }];
    }
    case "history.seeded":
      return event.messages.map((message) => ({
        ...messageEntryOf(message, { seq: row.seq, at: message.sentAt ?? event.at }, ports),
        history: true,
      }));
    case "fellow.spoke":
      return [{ ...messageEntryOf(event.message, place, ports), fellow: true }];
    case "message.edited": {
      const { edit } = event;
      return [{ kind: "edited", ...place, ...inChat(edit), id: edit.id, text: shown(edit.text) }];
    }
    case "message.deleted": {
      const { deletion } = event;
      return [{ kind: "deleted", ...place, ...inChat(deletion), id: deletion.id }];
    }
    case "judge.answered": {
      const { type: _, ...answer } = event;
      return [{ kind: "judged", ...answer, seq: row.seq, engaged: (row.code ?? 0) > 0 }];
    }
    case "delivery.sent":
    case "delivery.failed":
      return repliesOf(event, place, ports);
    case "agent.ended": {
      const { turnId, silent } = event;
      const outcome = silent ? "silent" : await deliveredOf(turnId, ports);
      return [{ kind: "ended", ...place, turnId, outcome, reason: null }];
    }
    default:
      return otherOf(event, place, ports);
  }
}

interface Place {
  readonly seq: number;
  readonly at: Millis;
}

function otherOf(
  event: ConversationEvent,
  place: Place,
  { person, inChat }: Pick<EntryPorts, "person" | "inChat">,
): readonly RoomEntry[] {
  switch (event.type) {
    case "lane.granted":
      return [{ kind: "turn", ...place, turnId: event.turnId }];
    case "agent.failed":
      return [{ kind: "ended", ...place, turnId: event.turnId, ...failureOf(event) }];
    case "run.aborted":
    case "disengage":
    case "session.overridden":
    case "session.reset":
    case "text.due":
      return operatedOf(event, place);
    case "skip": {
      const { turnId } = event;
      return [{ kind: "ended", ...place, turnId, outcome: "silent", reason: "it chose so" }];
    }
    case "message.reacted": {
      const { reaction } = event;
      const { id, author, added, removed } = reaction;
      const { name, isBot } = author;
      const by = { id: author.id, name: oneLine(name), isBot };
      return [{ kind: "reacted", ...place, ...inChat(reaction), id, author: by, added, removed }];
    }
    case "command.applied": {
      const { command, args, asked } = event;
      if (asked === undefined) return [];
      const text = shown(["/", command, ...args.map((arg) => ` ${arg}`)].join(""));
      const author = person(asked.author);
      const named = { ...inChat(asked.route), id: asked.messageId };
      return [{ kind: "command", ...place, ...named, author, command, text }];
    }
    default:
      return [];
  }
}

/** What became of an answer, as far as is known by now. */
export async function deliveredOf(turnId: string, { store }: Pick<EntryPorts, "store">) {
  const states = (await store.outboxByTurn(turnId)).map(deliveryOf).flatMap((delivery) => {
    const isPart = isText(delivery) && !delivery.body.aside && !delivery.body.draft;
    return isPart ? [delivery.row.state] : [];
  });
  const lost = states.filter((state) => unsent.has(state)).length;
  if (lost === 0) return "replied";
  return lost < states.length ? "partly" : "undelivered";
}

const unsent: ReadonlySet<OutboxState> = new Set(["dead", "expired", "in-doubt"]);

function failureOf(
  event: AgentFailed,
): Pick<EndedEntry, "outcome" | "reason" | "failure" | "unsent"> {
  const { code, message, unsent } = event;
  const said = unsent === undefined ? {} : { unsent };
  if (code === "aborted") return { outcome: "cancelled", reason: null, ...said };
  const reason = cut(message === "" ? code : message, reasonShownUnitsMax);
  return { outcome: "failed", reason, failure: failureKindOf(event), ...said };
}

const shown = (text: string): string => cut(text, textShownUnitsMax);

function messageEntryOf(
  message: Inbound,
  place: Place,
  { inChat }: Pick<EntryPorts, "inChat">,
): MessageEntry {
  const { id, author, text, mentions, replyTo, attachments } = message;
  return {
    kind: "heard",
    ...place,
    ...inChat(message),
    id,
    author: { id: author.id, name: author.name, isBot: author.isBot },
    text: shown(text),
    mentions: mentions.flatMap((mention) => mention.name ?? []).slice(0, 20),
    quote:
      replyTo === null
        ? null
        : {
            id: replyTo.id,
            name: replyTo.authorName ?? replyTo.authorId ?? "",
            text: cut(replyTo.text ?? "", 240),
          },
    files: attachments.map(fileOf),
    ...(message.chat.title === undefined ? {} : { title: cut(message.chat.title, 240) }),
    verdict: null,
  };
}

/** A file name comes from a stranger: it is cut to one short line. */
function fileOf({ kind, mime, bytes, name }: Attachment): RoomFile {
  return {
    kind,
    ...(mime === undefined ? {} : { mime: oneLine(mime) }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(name === undefined ? {} : { name: oneLine(name, fileNameUnitsMax) }),
  };
}

async function repliesOf(
  event: DeliverySent | DeliveryFailed,
  place: Place,
  { store, credited, inChat }: EntryPorts,
): Promise<readonly ReplyEntry[]> {
  const id = `${event.turnId}:${event.index}`;
  const row = await store.outboxRow(id);
  const delivery = row === null ? null : deliveryOf(row);
  if (delivery === null || !isText(delivery)) return [];
  const { route, text, replyTo, edits, aside } = delivery.body;
  return [
    {
      kind: "said",
      ...place,
      ...inChat(route),
      id,
      turnId: event.turnId,
      text: shown(text),
      replyTo,
      status: event.type === "delivery.sent" ? "sent" : event.status,
      error: event.type === "delivery.sent" ? null : delivery.row.error,
      ...(edits === undefined ? {} : { edits }),
      ...(aside === undefined ? {} : { aside }),
      credited: credited(place.seq),
    },
  ];
}
