/**
 * Labelled rooms from the journal
 * ===============================
 * What was said in a room, in the form that decisions are measured on (docs/quality.md), with what
 * somebody said by hand about a decision. The conversation is replayed, because its journal does not
 * say which messages a turn answered. Direct chats are left out: there everything is for the agent.
 */

import { defaultConfig } from "../../domain/config/index.ts";
import type { Expected } from "../../domain/decision.ts";
import { parseSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import type { LabelledHeader, LabelledLine } from "../../domain/quality/labelled-room.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import { textName } from "../../machines/conversation/delivery-actions.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type {
  AgentSteered,
  AgentText,
  ConversationEvent,
  DeliverySent,
  MessageReceived,
  TextDue,
} from "../../machines/events/events.ts";
import { createConfigHistory } from "../journal/config-versions.ts";
import { decisionIn } from "../journal/labels.ts";
import { replayConversation } from "../journal/replayed-conversation.ts";
import { conversationOf, decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import type { RecordingRange } from "./types.ts";

export type LabelledStore = Pick<
  Store,
  "scan" | "lastSeq" | "config" | "latestConfig" | "conversation" | "tail"
>;
/** A line of the result: a header opens each room. */
export type LabelledText = LabelledHeader | LabelledLine;

/** Journal rows read at a time. */
const sliceRows = 512;
/** Lines from before the range that stand before it, for the credits of its first lines. */
const contextLines = 50;
/** As the codec writes it; other rows need not be decoded. */
const labelBody = '{"type":"message.labelled"';

/**
 * The rooms in which somebody labelled a message of the range, or the named conversation; each with
 * its header first.
 * @throws EarshotError EAR_STORE_FAILED; EAR_RECORD_INVALID for a row that is not an event.
 */
export async function* recordLabelled(
  store: LabelledStore,
  query: RecordingRange,
): AsyncGenerator<LabelledText> {
  const { conversation, channel } = query;
  const convs =
    conversation === undefined ? await labelledIn(store) : [conversationOf(conversation).conv];
  for (const conv of convs) {
    const key = (await store.conversation(conv))?.key;
    const parts = key === undefined ? null : parseSessionKey(key);
    if (key === undefined || (parts?.kind !== "group" && parts?.kind !== "channel")) continue;
    if (channel !== undefined && parts.channel !== channel) continue;
    yield* roomOf(store, { conv, key }, query);
  }
}

/** The conversations that have labels, in the order of their first one. */
async function labelledIn(store: LabelledStore): Promise<readonly number[]> {
  const found = new Set<number>();
  const last = await store.lastSeq();
  for (let after = 0; after < last; ) {
    const rows = await store.scan(after, sliceRows);
    for (const { conv, body } of rows) if (body.startsWith(labelBody)) found.add(conv);
    after = rows.at(-1)?.seq ?? last;
  }
  return [...found];
}

async function* roomOf(
  store: LabelledStore,
  { conv, key }: { readonly conv: number; readonly key: string },
  { conversation, since, until = Number.POSITIVE_INFINITY }: RecordingRange,
): AsyncGenerator<LabelledText> {
  const configs = createConfigHistory(store, () => defaultConfig);
  const rows = (await store.tail(conv, 0)).filter(({ code }) => code !== null);
  await configs.load(rows.map(({ cfg }) => cfg));
  const version = rows[0]?.cfg ?? 0;
  const replayed = await replayConversation(configs, { key, record: null, version });
  const room = new Room(replayed.conversation.context.settings.agentName);
  try {
    for (const row of rows) {
      const effects = replayed.step(row)?.effects ?? [];
      if (row.code !== quarantinedCode) room.add(row, effects);
    }
  } finally {
    replayed.conversation.stop();
  }
  const all = room.lines(until);
  const first = all.findIndex(({ at }) => at >= since);
  if (first === -1) return;
  const shown = all.slice(Math.max(0, first - contextLines));
  const counted = all.slice(first);
  if (conversation === undefined && counted.every(({ meant }) => meant === undefined)) return;
  const from = first > 0 ? { from: (counted[0] as LabelledLine).id } : {};
  yield { room: cut(key, limits.idUnitsMax), agents: [room.agent], ...from, bots: [...room.bots] };
  yield* shown;
}

interface Line extends LabelledLine {
  /** Whether it is a message that was decided. */
  readonly heard: boolean;
}

/** Collects the lines of one room. */
class Room {
  readonly agent: string;
  readonly #lines: Line[] = [];
  readonly #labels = new Map<string, Expected | null>();
  /** What the judge answered, by id of the message. */
  readonly #judged = new Map<string, LabelledLine["judged"]>();
  /** What each author is called here; each name once. */
  readonly #names = new Map<string, string>();
  readonly #bots = new Set<string>();
  /** Authors by id of their line. */
  readonly #authors = new Map<string, string>();
  /** Messages that each turn answers, by journal number and id. */
  readonly #batches = new Map<string, string[]>();
  readonly #ids = new Map<number, string>();
  /** Texts that are on their way, by `turnId:index`. */
  readonly #texts = new Map<string, string>();
  /** The place of each part that was sent among the lines. */
  readonly #parts = new Map<string, number>();
  /** Texts that replace the text of an earlier part. */
  readonly #edits = new Map<string, string>();

  constructor(agentName: string) {
    this.agent = cut(oneLine(agentName), limits.idUnitsMax);
  }

  get bots(): readonly string[] {
    return [...this.#bots].slice(0, limits.labelledAgentsMax);
  }

  /** The lines before a moment, with their labels, in order. */
  lines(until: Millis): readonly LabelledLine[] {
    const lines = this.#lines.filter(({ at }) => at < until);
    return lines.map(({ heard, ...said }) => {
      const judged = heard ? this.#judged.get(said.id) : undefined;
      const line = judged === undefined ? said : { ...said, judged };
      const expected = heard ? (this.#labels.get(line.id) ?? null) : null;
      if (expected === null) return line;
      return { ...line, meant: expected === "engage" ? [this.agent] : [] };
    });
  }

  add(row: EventRow, effects: readonly Effect[]): void {
    const event = decodeEvent(row);
    if (event.type === "message.labelled") this.#labels.set(event.id, event.expected);
    for (const one of eventsIn(event)) this.#note(one, row);
    for (const effect of effects)
      if (effect.type === "turn.run")
        this.#batches.set(
          effect.turnId,
          effect.batch.map(({ id }) => id),
        );
  }

  #note(event: ConversationEvent, row: EventRow): void {
    switch (event.type) {
      case "message.received":
        this.#ids.set(row.seq, event.message.id);
        if (decisionIn(row.code) !== null) this.#hear(event);
        break;
      case "judge.answered": {
        const { id, engage, confidence, failed } = event;
        if (failed === undefined) this.#judged.set(id, { engage, confidence });
        break;
      }
      case "agent.text":
        this.#write(event);
        break;
      case "agent.steered":
        this.#steer(event);
        break;
      case "text.due":
        this.#order(event);
        break;
      case "delivery.sent":
        this.#speak(event);
        break;
      default:
    }
  }

  #put(line: Omit<Line, "at">, at: Millis): void {
    // Times of several sources: none may be before the line before.
    this.#lines.push({ ...line, at: Math.max(at, this.#lines.at(-1)?.at ?? 0) });
    this.#authors.set(line.id, line.by);
  }

  #hear({ message, at }: MessageReceived): void {
    const { id, author, text } = message;
    if (this.#authors.has(id)) return;
    const by = this.#nameOf(author.id, author.name);
    if (author.isBot) this.#bots.add(by);
    const to = this.#addressees(message);
    const answers = message.replyTo === null ? [] : [message.replyTo.id];
    const known = answers.filter((answer) => this.#authors.has(answer));
    this.#put(
      {
        id,
        by,
        text,
        ...(to.length === 0 ? {} : { to }),
        ...(known.length === 0 ? {} : { answers: known }),
        heard: true,
      },
      at,
    );
  }

  /** Those who are mentioned, and the author of the message it replies to. */
  #addressees({ mentions, replyTo }: Inbound): readonly string[] {
    const named = mentions.map(({ id, name, isSelf }) =>
      isSelf ? this.agent : this.#nameOf(id, name ?? id),
    );
    const parent = this.#authors.get(replyTo?.id ?? "") ?? null;
    const known =
      replyTo?.authorIsSelf === true
        ? this.agent
        : replyTo?.authorId === undefined
          ? parent
          : this.#nameOf(replyTo.authorId, replyTo.authorName ?? replyTo.authorId);
    return [...new Set([...named, ...(known === null ? [] : [known])])];
  }

  /** A name that nobody else has here. */
  #nameOf(id: string, name: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const taken = new Set([this.agent, ...this.#names.values()]);
    const plain = cut(oneLine(name), limits.idUnitsMax) || cut(oneLine(id), limits.idUnitsMax);
    let own = plain;
    for (let count = 2; taken.has(own) || own === ""; count += 1)
      own = `${cut(plain, limits.idUnitsMax - 8)} ${count}`;
    this.#names.set(id, own);
    return own;
  }

  #write({ turnId, index, text, aside, edits }: AgentText): void {
    if (aside !== undefined) return;
    this.#texts.set(`${turnId}:${index}`, text);
    if (edits !== undefined) this.#edits.set(`${turnId}:${index}`, `${turnId}:${edits}`);
  }

  #steer({ turnId, messages }: AgentSteered): void {
    const batch = this.#batches.get(turnId);
    batch?.push(...messages.flatMap((seq) => this.#ids.get(seq) ?? []));
  }

  #order({ id, at, parts }: TextDue): void {
    for (const [index, text] of parts.entries())
      this.#texts.set(`${textName(id, at)}:${index}`, text);
  }

  #speak({ turnId, index, messageIds, at }: DeliverySent): void {
    const part = `${turnId}:${index}`;
    const text = this.#texts.get(part);
    if (text === undefined) return;
    this.#texts.delete(part);
    const place = this.#parts.get(this.#edits.get(part) ?? "") ?? -1;
    const grown = this.#lines[place];
    if (grown !== undefined) {
      // The message of an earlier part has the whole text now.
      this.#lines[place] = { ...grown, text };
      return;
    }
    const [sent = part] = messageIds;
    const id = this.#authors.has(sent) ? part : sent;
    const answers = (this.#batches.get(turnId) ?? []).filter((one) => this.#authors.has(one));
    this.#parts.set(part, this.#lines.length);
    const reply = answers.length === 0 ? {} : { answers };
    this.#put({ id, by: this.agent, text, ...reply, heard: false }, at);
  }
}
