/**
 * One conversation: its chat, recent authors, the last decisions, the last message. An update moves
 * a few references; text is cut and sanitised when a row is made, which happens only for rooms that
 * a page shows.
 */
import type { ConversationSummary } from "../../actors/protocol/conversation-summary.ts";
import type { Verdict } from "../../domain/decision.ts";
import { parseSessionKey, type SessionKeyParts } from "../../domain/key.ts";
import type { ChatPlace, Inbound, Millis } from "../../domain/message.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import { isSame, nameOfMessage, type Placed } from "../../machines/batching/chats.ts";
import type { RoomRow } from "../api-types/rooms.ts";
import { decisionLetters, type RoomStateName, stripCount } from "../api-types/values.ts";

const facesMax = 4;
const textShownUnitsMax = 160;

interface Participant {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
  /** The sanitised name; null: not needed yet. */
  shown: string | null;
}

/** A row as it was serialised last. */
export interface SerializedRow {
  readonly json: string;
  /** Changes whenever the row changes. */
  readonly version: number;
  readonly noted: number;
  readonly summary: ConversationSummary | null;
}

type Fixed = Pick<RoomRow, "key" | "channel" | "account" | "kind" | "place" | "agent">;

/** A message as this row knows it: its session may hold several chats. */
interface Known extends Pick<Inbound, "channel" | "account" | "chat"> {
  readonly id: string;
}

interface Line extends Known {
  readonly verdict: Verdict;
  readonly author: string;
  /** Null: deleted. */
  readonly text: string | null;
}

/** A message about which a judge was asked. */
interface AskedLine extends Known {
  /** Counted from the first message that was noted. */
  readonly number: number;
  readonly at: Millis;
}

export class Room {
  readonly conv: number;
  readonly key: string;
  /** Its state when last read; null: passive. */
  summary: ConversationSummary | null = null;
  /** Journal number of the first message that was noted as it happened. */
  firstSeq = Number.POSITIVE_INFINITY;
  heardAt: Millis = 0;
  /** The chat whose messages arrive here; null: none since the start. */
  place: string | null = null;
  /** When its account last received a message; shared by the rooms of the account. */
  account: { at: Millis } | null = null;
  /** Pages that show it now. */
  viewers = 0;
  /** Removed because the list was full. */
  dropped = false;
  /** Incremented by every change. */
  #noted = 0;
  #serialized: SerializedRow | null = null;
  #words: { readonly noted: number; readonly text: string } | null = null;
  readonly #parts: SessionKeyParts;
  #recent: string[] = [];
  /** Messages noted so far. */
  #count = 0;
  /** Recent messages about which a judge was asked, each with its number. */
  #asked: readonly AskedLine[] = [];
  #participants: Participant[] = [];
  #line: Line | null = null;
  #place: Pick<Inbound, "channel" | "account" | "chat"> | null = null;
  /** The constant part of its row; null: not made yet. */
  #fixed: Fixed | null = null;

  constructor(conv: number, key: string) {
    this.conv = conv;
    this.key = key;
    this.#parts = parseSessionKey(key);
  }

  /** A message was decided here. */
  note(message: Inbound, verdict: Verdict, at: Millis): void {
    this.#noted += 1;
    const { id, channel, account, chat, author } = message;
    const place = { channel, account, chat };
    if (this.#recent.length >= stripCount) this.#recent.shift();
    this.#recent.push(decisionLetters[verdict.decision]);
    this.#count += 1;
    if (verdict.rule === "judge") this.#ask({ ...place, id, number: this.#count, at });
    this.heardAt = at;
    this.#line = { ...place, id, verdict, author: author.name, text: shortOf(message) };
    // Some platforms send a title with some messages only: the last one is used.
    const { title } = chat;
    if (this.#place === null || (title !== undefined && title !== this.#place.chat.title)) {
      this.#place = place;
    }
    this.#noteParticipant(author);
  }

  #ask(line: AskedLine): void {
    const oldest = this.#count - stripCount;
    this.#asked = [...this.#asked.filter(({ number }) => number > oldest), line];
  }

  /** The judge engaged a message after all; when that was heard, null: it is not recent. */
  engageLate(about: Placed, verdict: Verdict): Millis | null {
    const asked = this.#asked.find((line) => isSame(about, nameOfMessage(line)));
    if (asked === undefined) return null;
    this.#noted += 1;
    this.#asked = this.#asked.filter((line) => line !== asked);
    const place = this.#recent.length - 1 - (this.#count - asked.number);
    if (place >= 0) this.#recent[place] = decisionLetters[verdict.decision];
    const line = this.#lineOf(about);
    if (line !== null) this.#line = { ...line, verdict };
    return asked.at;
  }

  /** The line that is shown, if it is this message. */
  #lineOf(message: Placed): Line | null {
    const line = this.#line;
    return line !== null && isSame(message, nameOfMessage(line)) ? line : null;
  }

  /** Moves a participant to the front, in place, because nearly every message does it. */
  #noteParticipant({ id, name, isBot }: Inbound["author"]): void {
    const faces = this.#participants;
    let at = 0;
    while (at < faces.length && faces[at]?.id !== id) at += 1;
    if (at === 0 && faces.length > 0) return;
    const face = faces[at] ?? { id, name, bot: isBot, shown: null };
    for (let to = Math.min(at, facesMax - 1); to > 0; to -= 1)
      faces[to] = faces[to - 1] as Participant;
    faces[0] = face;
  }

  /** A message was edited or deleted; whether this row shows it. */
  amend(message: ChatPlace & { readonly id: string }, text: string | null): boolean {
    const line = this.#lineOf(nameOfMessage(message));
    if (line === null) return false;
    this.#noted += 1;
    this.#line = { ...line, text: text === null ? null : short(text) };
    return true;
  }

  /** Adds what the journal says about the time before this start. */
  precede(older: Room): void {
    this.#noted += 1;
    this.#recent = [...older.#recent, ...this.#recent].slice(-stripCount);
    const before = older.#asked.map((line) => ({ ...line, number: line.number - older.#count }));
    this.#asked = [...before, ...this.#asked];
    const known = new Set(this.#participants.map(({ id }) => id));
    const more = older.#participants.filter(({ id }) => !known.has(id));
    this.#participants = [...this.#participants, ...more].slice(0, facesMax);
    this.#line ??= older.#line;
    if (this.#place?.chat.title === undefined) this.#place = older.#place ?? this.#place;
    this.heardAt = Math.max(this.heardAt, older.heardAt);
  }

  get state(): RoomStateName {
    if (this.summary === null) return "asleep";
    const { attention } = this.summary;
    const [, name = "observing"] = attention.split(".");
    return name === "settling" ? "delivering" : (name as RoomStateName);
  }

  /** A page shows it. */
  enter(): void {
    this.viewers += 1;
  }

  /** A page stopped showing it; with the last page the serialised row is dropped. */
  leave(): void {
    this.viewers -= 1;
    if (this.viewers === 0) this.#serialized = null;
  }

  /** The row as JSON, shared by all readers and made again only after a change. */
  serialized(): SerializedRow {
    const { summary } = this;
    const noted = this.#noted;
    const before = this.#serialized;
    if (before?.noted === noted && before.summary === summary) return before;
    const json = JSON.stringify(this.row());
    const version = (before?.version ?? 0) + (before?.json === json ? 0 : 1);
    this.#serialized = { noted, summary, json, version };
    return this.#serialized;
  }

  /** Whether its names, ids or last decision contain all of these words (lower case). */
  has(words: readonly string[]): boolean {
    if (words.length === 0) return true;
    if (this.#words?.noted !== this.#noted)
      this.#words = { noted: this.#noted, text: this.#searchTexts().join("\n").toLowerCase() };
    const { text } = this.#words;
    return words.every((word) => text.includes(word));
  }

  #searchTexts(): string[] {
    const { key, channel, place } = this.#fixedPart();
    const texts = [key, this.title, channel, place, ...this.#participants.map(nameOf)];
    if (this.#line === null) return texts;
    const { decision, rule } = this.#line.verdict;
    return [...texts, decision, rule, oneLine(this.#line.author)];
  }

  /** The row as it is sent. */
  row(): RoomRow {
    const { summary, state, heardAt } = this;
    return {
      ...this.#fixedPart(),
      title: this.title,
      state,
      faces: [...this.#participants]
        .sort((a, b) => Number(a.bot) - Number(b.bot))
        .map((face) => ({ name: nameOf(face), bot: face.bot })),
      humans: summary?.humans ?? null,
      source: summary?.source ?? "",
      bots: summary?.bots ?? this.#participants.filter(({ bot }) => bot).length,
      credits: summary?.credits ?? [],
      queued: summary?.queued ?? 0,
      guard: summary?.guard ?? "clear",
      recent: this.#recent.join(""),
      last: lineOf(this.#line),
      heardAt,
    };
  }

  #fixedPart(): Fixed {
    if (this.#fixed !== null) return this.#fixed;
    const parts = this.#parts;
    const fixed = {
      key: this.key,
      channel: oneLine("channel" in parts ? parts.channel : (this.#place?.channel ?? "")),
      account: oneLine("account" in parts ? parts.account : (this.#place?.account ?? "")),
      kind: this.kind,
      place: placeOf(parts),
      agent: parts.agentId,
    };
    if (this.#place !== null) this.#fixed = fixed;
    return fixed;
  }

  /** A name for people. */
  get title(): string {
    const title = this.#place?.chat.title;
    if (title !== undefined) return oneLine(title);
    const other = this.#participants.find(({ bot }) => !bot) ?? this.#participants[0];
    if (this.kind === "direct" && other !== undefined) return nameOf(other);
    return this.kind === "main" ? "Direct chats" : oneLine(idOf(this.#parts));
  }

  get kind(): RoomRow["kind"] {
    const { kind } = this.#parts;
    return kind === "group" || kind === "channel" || kind === "main" ? kind : "direct";
  }
}

/** Whether it is listed as a direct chat. */
export const isDirect = ({ kind }: Pick<Room, "kind">): boolean =>
  kind === "direct" || kind === "main";

const nameOf = (face: Participant): string => {
  face.shown ??= oneLine(face.name);
  return face.shown;
};

/** The beginning of a text, copied so that the whole text can be collected. */
function short(text: string): string {
  if (text.length <= textShownUnitsMax * 2) return text;
  return Buffer.from(cut(text, textShownUnitsMax * 2)).toString();
}

const shortOf = ({ text, attachments }: Inbound): string =>
  text === "" && attachments.length > 0 ? "sent a file" : short(text);

function lineOf(line: Line | null): RoomRow["last"] {
  if (line === null) return null;
  const { decision, rule } = line.verdict;
  const text = line.text === null ? null : oneLine(line.text, textShownUnitsMax);
  return { decision, rule, author: oneLine(line.author), text };
}

function idOf(parts: SessionKeyParts): string {
  if (parts.kind === "main") return parts.mainKey;
  return "peer" in parts ? parts.peer : parts.id;
}

function placeOf(parts: SessionKeyParts): string {
  const { kind, thread } = parts;
  const base =
    kind === "main" ? parts.mainKey : `${"peer" in parts ? "direct" : kind}:${idOf(parts)}`;
  return oneLine(thread === null ? base : `${base} ${thread.kind}:${thread.id}`);
}
