/**
 * A room in the list
 * ==================
 * What is kept of one conversation: where it is, who spoke lately, the last decisions, the last
 * line. An update moves a few references; text is cut and sanitised when a row is made, which
 * happens only for rooms that a page shows.
 */
import type { ConversationSummary } from "../../actors/protocol/conversation-summary.ts";
import type { Verdict } from "../../domain/decision.ts";
import { parseSessionKey, type SessionKeyParts } from "../../domain/key.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import type { RoomRow } from "../api-types/rooms.ts";
import { decisionLetters, type RoomStateName, stripCount } from "../api-types/values.ts";

const facesKept = 4;
const textShownUnitsMax = 160;

interface Face {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
  /** Its name, made harmless once it was shown. */
  shown: string | null;
}

/** A row as it was made last. */
export interface RowConstants {
  readonly json: string;
  /** Another one whenever the row is another one. */
  readonly version: number;
  readonly noted: number;
  readonly glance: ConversationSummary | null;
}

type Fixed = Pick<RoomRow, "key" | "channel" | "account" | "kind" | "place" | "agent">;

interface Line {
  readonly id: string;
  readonly verdict: Verdict;
  readonly author: string;
  /** Null: it was deleted. */
  readonly text: string | null;
}

export class Room {
  readonly conv: number;
  readonly key: string;
  /** Its state when it was last read; null: asleep. */
  glance: ConversationSummary | null = null;
  /** Journal number of the first message that was noted as it happened. */
  firstSeq = Number.POSITIVE_INFINITY;
  heardAt: Millis = 0;
  /** The chat whose messages are heard here; null: none since the start. */
  place: string | null = null;
  /** When its account brought a message last; shared with its other rooms. */
  account: { at: Millis } | null = null;
  /** Pages that look at it now. */
  eyes = 0;
  /** It had to make room for others in the list. */
  gone = false;
  /** Grows with everything that is noted of it. */
  #noted = 0;
  #told: RowConstants | null = null;
  #words: { readonly noted: number; readonly text: string } | null = null;
  readonly #parts: SessionKeyParts;
  #recent: string[] = [];
  #faces: Face[] = [];
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
    const { chat } = message;
    if (this.#recent.length >= stripCount) this.#recent.shift();
    this.#recent.push(decisionLetters[verdict.decision]);
    this.heardAt = at;
    this.#line = { id: message.id, verdict, author: message.author.name, text: shortOf(message) };
    // Some platforms send a title with some messages only: the last one is kept.
    const { title } = chat;
    if (this.#place === null || (title !== undefined && title !== this.#place.chat.title)) {
      const { channel, account } = message;
      this.#place = { channel, account, chat };
    }
    this.#noteFace(message.author);
  }

  /** Moves a face to the front, in place: this is done for nearly every message. */
  #noteFace({ id, name, isBot }: Inbound["author"]): void {
    const faces = this.#faces;
    let at = 0;
    while (at < faces.length && faces[at]?.id !== id) at += 1;
    if (at === 0 && faces.length > 0) return;
    const face = faces[at] ?? { id, name, bot: isBot, shown: null };
    for (let to = Math.min(at, facesKept - 1); to > 0; to -= 1) faces[to] = faces[to - 1] as Face;
    faces[0] = face;
  }

  /** A message has other words now, or none; whether that is seen here. */
  amend(messageId: string, text: string | null): boolean {
    if (this.#line?.id !== messageId) return false;
    this.#noted += 1;
    this.#line = { ...this.#line, text: text === null ? null : short(text) };
    return true;
  }

  /** What was noted of it in the journal, before anything that was noted as it happened. */
  precede(older: Room): void {
    this.#noted += 1;
    this.#recent = [...older.#recent, ...this.#recent].slice(-stripCount);
    const known = new Set(this.#faces.map(({ id }) => id));
    const more = older.#faces.filter(({ id }) => !known.has(id));
    this.#faces = [...this.#faces, ...more].slice(0, facesKept);
    this.#line ??= older.#line;
    if (this.#place?.chat.title === undefined) this.#place = older.#place ?? this.#place;
    this.heardAt = Math.max(this.heardAt, older.heardAt);
  }

  get state(): RoomStateName {
    if (this.glance === null) return "asleep";
    const { attention } = this.glance;
    const [, name = "observing"] = attention.split(".");
    return name === "settling" ? "delivering" : (name as RoomStateName);
  }

  /** A page begins to look at it. */
  enter(): void {
    this.eyes += 1;
  }

  /** A page stopped showing it; with the last page the serialised row is dropped. */
  leave(): void {
    this.eyes -= 1;
    if (this.eyes === 0) this.#told = null;
  }

  /** Its row as JSON, shared by all readers and made again only after a change. */
  told(): RowConstants {
    const { glance } = this;
    const noted = this.#noted;
    const before = this.#told;
    if (before?.noted === noted && before.glance === glance) return before;
    const json = JSON.stringify(this.row());
    const version = (before?.version ?? 0) + (before?.json === json ? 0 : 1);
    this.#told = { noted, glance, json, version };
    return this.#told;
  }

  /** Whether all of these words, in small letters, are said of it or in its last decision. */
  has(words: readonly string[]): boolean {
    if (words.length === 0) return true;
    if (this.#words?.noted !== this.#noted)
      this.#words = { noted: this.#noted, text: this.#said().join("\n").toLowerCase() };
    const { text } = this.#words;
    return words.every((word) => text.includes(word));
  }

  #said(): string[] {
    const { key, channel, place } = this.#fixedPart();
    const said = [key, this.title, channel, place, ...this.#faces.map(nameOf)];
    if (this.#line === null) return said;
    const { decision, rule } = this.#line.verdict;
    return [...said, decision, rule, oneLine(this.#line.author)];
  }

  /** The row as it is sent. */
  row(): RoomRow {
    const { glance, state, heardAt } = this;
    return {
      ...this.#fixedPart(),
      title: this.title,
      state,
      faces: [...this.#faces]
        .sort((a, b) => Number(a.bot) - Number(b.bot))
        .map((face) => ({ name: nameOf(face), bot: face.bot })),
      humans: glance?.humans ?? null,
      source: glance?.source ?? "",
      bots: glance?.bots ?? this.#faces.filter(({ bot }) => bot).length,
      credits: glance?.credits ?? [],
      queued: glance?.queued ?? 0,
      guard: glance?.guard ?? "clear",
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
    const other = this.#faces.find(({ bot }) => !bot) ?? this.#faces[0];
    if (this.kind === "direct" && other !== undefined) return nameOf(other);
    return this.kind === "main" ? "Direct chats" : oneLine(idOf(this.#parts));
  }

  get kind(): RoomRow["kind"] {
    const { kind } = this.#parts;
    return kind === "group" || kind === "channel" || kind === "main" ? kind : "direct";
  }
}

/** Whether it is listed among those of one person. */
export const isDirect = ({ kind }: Pick<Room, "kind">): boolean =>
  kind === "direct" || kind === "main";

const nameOf = (face: Face): string => {
  face.shown ??= oneLine(face.name);
  return face.shown;
};

/** The beginning of its words; a copy, so that a long text is not kept for it. */
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
