/**
 * From journal rows to scenario lines
 * ===================================
 * Only external events become lines; their consequences follow again in a replay. A message that
 * several agents received becomes one line, and a command gets its text back. Cached member counts
 * are written with their age. Lines wait until the runs they caused are known (agent-runs.ts),
 * because a script must precede its turn.
 */
import { localChannels } from "../../domain/config/index.ts";
import { decodeVerdict } from "../../domain/decision.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Inbound, Millis, Reaction } from "../../domain/message.ts";
import { noConversation } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type {
  ConversationEvent,
  JudgeAnswered,
  MembershipRead,
  MessageReacted,
  MessageReceived,
  SessionOverridden,
} from "../../machines/events/events.ts";
import { conversationOf } from "../protocol/event-codec.ts";
import { RecordedRuns } from "./agent-runs.ts";
import { RecordedPeople } from "./known-people.ts";
import type {
  LabelRow,
  RecordedRow,
  RecordingLine,
  RecordingRange,
  RecordingStore,
} from "./types.ts";

type Place = Pick<Inbound, "channel" | "account" | "chat" | "thread">;
type Untimed<Line> = Line extends unknown ? Omit<Line, "t"> : never;

const byHand = {
  ...({ "session.reset": "reset", disengage: "disengage", "run.aborted": "abort" } as const),
};

/** Conversations and rooms that are remembered. */
const rememberedMax = 100_000;

/** Builds the lines of a recording, row by row. */
export class Recorder {
  readonly #store: RecordingStore;
  readonly #query: RecordingRange;
  /** The only conversation to record; null: all. */
  readonly #only: number | null;
  readonly #runs = new RecordedRuns();
  readonly #people: RecordedPeople;
  readonly #keys = new Map<number, string>();
  /** The place of each conversation's last message. */
  readonly #places = new Map<number, Place>();
  /** The member counts of each room as last written. */
  readonly #known = new Map<string, string>();
  /** Messages of ours: a replay sends them under other ids. */
  readonly #ours = new Map<string, true>();
  #start: Millis | null = null;
  #cfg = 0;
  #last: Millis = 0;
  /** The event of the previous row: rows of several agents become one line. */
  #before = "";
  /** The message whose command reached the recorded conversation. */
  #ordered: string | null = null;

  constructor(store: RecordingStore, query: RecordingRange) {
    this.#store = store;
    this.#query = query;
    this.#people = new RecordedPeople(store);
    const { conversation } = query;
    this.#only = conversation === undefined ? null : conversationOf(conversation).conv;
  }

  /** Adds a row and yields the lines that are complete now. */
  async *add(row: RecordedRow): AsyncGenerator<RecordingLine> {
    this.#notePlace(row);
    if (row.event.type === "delivery.sent")
      for (const id of row.event.messageIds) remember(this.#ours, id, true);
    if (!this.#isWanted(row)) return;
    const { event, cfg, conv, code } = row;
    if (this.#start === null) {
      this.#start = event.at;
      this.#cfg = cfg;
      const local = [...localChannels];
      yield { earshot: 1, config: await this.#config(cfg), start: event.at, local };
    }
    this.#last = Math.max(this.#last, event.at - this.#start);
    if (cfg > this.#cfg) {
      this.#cfg = cfg;
      this.#put({ config: await this.#config(cfg) });
    }
    const claimed = verdictOf(code)?.decision === "claim";
    for (const approve of await this.#people.before(event, claimed)) this.#put({ approve });
    if (conv === noConversation) this.#take(row, "");
    else this.#take(row, await this.#keyOf(conv));
    yield* this.#runs.ready(this.#last);
  }

  /** Adds a label, once the recording has begun: one about an earlier message is left out. */
  async label({ conv, event }: LabelRow): Promise<void> {
    const { channel } = this.#query;
    if (this.#start === null || (this.#only !== null && conv !== this.#only)) return;
    if (channel !== undefined && this.#places.get(conv)?.channel !== channel) return;
    const { id, expected, at } = event;
    this.#last = Math.max(this.#last, at - this.#start);
    this.#put({ label: { key: await this.#keyOf(conv), id, expected } });
  }

  /** Yields the remaining lines. */
  *finish(): Generator<RecordingLine> {
    yield* this.#runs.finish();
  }

  async #config(version: number): Promise<Record<string, unknown>> {
    const json = await this.#store.config(version);
    return json === null ? {} : (JSON.parse(json) as Record<string, unknown>);
  }

  async #keyOf(conv: number): Promise<string> {
    const known = this.#keys.get(conv);
    if (known !== undefined) return known;
    const key = (await this.#store.conversation(conv))?.key ?? "";
    remember(this.#keys, conv, key);
    return key;
  }

  #isWanted({ conv, event }: RecordedRow): boolean {
    const { channel } = this.#query;
    if (this.#only !== null && conv !== this.#only && !this.#isOrder(conv, event)) return false;
    if (channel === undefined) return true;
    const place = conv === noConversation ? placeOf(event) : this.#places.get(conv);
    return place?.channel === channel;
  }

  /** A pure command to the recorded conversation belongs to no conversation itself. */
  #isOrder(conv: number, event: ConversationEvent): boolean {
    const isMessage = conv === noConversation && event.type === "message.received";
    return isMessage && event.message.id === this.#ordered;
  }

  #notePlace({ conv, event }: RecordedRow): void {
    const place = placeOf(event);
    if (place !== null && conv !== noConversation) remember(this.#places, conv, place);
    if (event.type === "command.applied" && conv === this.#only)
      this.#ordered = event.asked?.messageId ?? null;
  }

  #put(line: Untimed<ScenarioLine>): void {
    this.#runs.put({ t: this.#last, ...line } as ScenarioLine);
  }

  /** Writes an external event once, however many agents received it. */
  #once(what: readonly unknown[], line: () => Untimed<ScenarioLine>): void {
    const text = JSON.stringify(what);
    if (text === this.#before) return;
    this.#before = text;
    this.#put(line());
  }

  #take(row: RecordedRow, key: string): void {
    const { event, conv } = row;
    const { type, at } = event;
    switch (type) {
      case "message.received":
        this.#message(row, event);
        break;
      case "message.edited":
        this.#once([type, at, event.edit], () => ({ edit: event.edit }));
        break;
      case "message.deleted":
        this.#once([type, at, event.deletion], () => ({ delete: event.deletion }));
        break;
      case "message.reacted":
        this.#once([type, at, event.reaction], () => ({ reaction: this.#reactionOf(event) }));
        break;
      case "history.seeded": {
        const { messages } = event;
        const [first] = messages;
        if (first === undefined) break;
        const { channel, account, chat, thread } = first;
        const history = { channel, account, chat, thread, messages: [...messages] };
        this.#once([type, at, messages.map(({ id }) => id)], () => ({ history }));
        break;
      }
      case "membership.read":
        this.#members(event, this.#places.get(conv) ?? chatOf(key), undefined);
        break;
      case "judge.answered":
        this.#judge(row, event, key);
        break;
      case "session.overridden":
        this.#override(event, key);
        break;
      case "session.reset":
      case "disengage":
      case "run.aborted":
        if (event.operator === true) {
          this.#put({ operator: { key, does: byHand[event.type] } });
          break;
        }
        this.#note(row, key);
        break;
      default:
        this.#note(row, key);
    }
  }

  #judge({ conv, code }: RecordedRow, event: JudgeAnswered, key: string): void {
    const { id, engage, confidence, why, failed } = event;
    if (verdictOf(code)?.decision === "engage") this.#runs.engaged(conv, this.#last);
    const more = failed === undefined ? {} : { failed };
    this.#put({ judge: { key, id, engage, confidence, why, ...more } });
  }

  #reactionOf({ reaction }: MessageReacted): Reaction {
    const ofSelf = reaction.ofSelf ?? this.#ours.has(reaction.id);
    return ofSelf ? { ...reaction, ofSelf } : reaction;
  }

  /** A replayed message repeats its own command; an override changes only what it names. */
  #override(
    { merge, queue = null, send = null, activation = null }: SessionOverridden,
    key: string,
  ) {
    if (merge === true) return;
    this.#put({ operator: { key, override: { queue, send, activation } } });
  }

  #note({ conv, event }: RecordedRow, key: string): void {
    this.#runs.note({ conv, key, place: this.#places.get(conv) ?? null }, event, this.#last);
  }

  #message({ conv, code }: RecordedRow, event: MessageReceived): void {
    const { message, membership, at, said } = event;
    if (membership !== undefined && membership !== null)
      this.#members({ membership }, message, at - membership.fetchedAt);
    const engages = code === null || verdictOf(code)?.decision === "engage";
    if (conv !== noConversation && engages) this.#runs.engaged(conv, this.#last);
    const { channel, account, chat, thread, id } = message;
    this.#once(["message", at, channel, account, chat.id, thread?.id ?? null, id], () => ({
      in: said === undefined ? message : { ...message, text: said },
    }));
  }

  /** With an age: counts already cached by the channel, which reached no conversation. */
  #members(
    { membership }: Pick<MembershipRead, "membership">,
    place: Place | null,
    ageMs: number | undefined,
  ): void {
    if (place === null) return;
    const { humans, bots, truncated, fetchedAt } = membership;
    const { channel, account, chat, thread } = place;
    const room = JSON.stringify([channel, account, chat.id]);
    const members = JSON.stringify([humans, bots, truncated, fetchedAt]);
    if (this.#known.get(room) === members) return;
    remember(this.#known, room, members);
    const age = ageMs === undefined ? {} : { ageMs: Math.max(0, ageMs) };
    this.#put({
      membership: { channel, account, chat, thread, humans, bots, truncated, ...age },
    });
  }
}

/** The decision; null: none, or not yet. */
const verdictOf = (code: number | null) =>
  code === null || code <= 0 ? null : decodeVerdict(code);

function placeOf(event: ConversationEvent): Place | null {
  switch (event.type) {
    case "message.received":
      return event.message;
    case "message.edited":
      return event.edit;
    case "message.deleted":
      return event.deletion;
    case "message.reacted":
      return event.reaction;
    case "history.seeded":
      return event.messages[0] ?? null;
    default:
      return null;
  }
}

/** The chat in a conversation's key, if any. */
function chatOf(key: string): Place | null {
  const parts = parseSessionKey(key);
  if (parts.kind !== "group" && parts.kind !== "channel") return null;
  const { channel, account, kind, id, thread } = parts;
  return { channel, account, chat: { id, kind }, thread };
}

/**
 * Adds to a bounded map. The oldest entries are dropped many at a time: the first key of a map that
 * has lost its first ones is searched from the start, so one at a time takes ever longer.
 */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size < rememberedMax * 1.25) return;
  for (const oldest of map.keys()) {
    if (map.size <= rememberedMax) return;
    map.delete(oldest);
  }
}
