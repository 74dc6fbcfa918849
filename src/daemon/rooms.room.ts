/**
 * A room in the list
 * ==================
 * What is remembered of one conversation between two looks: where it is, who spoke lately, the last
 * decisions, the last line. To note a message is to move a few references; words are cut and made
 * harmless when a row is made of them, which nobody asks for while nobody watches.
 */
import type { Glance } from "../actors/glance.ts";
import type { Verdict } from "../domain/decision.ts";
import { parseSessionKey, type SessionKeyParts } from "../domain/key.ts";
import type { Inbound, Millis } from "../domain/message.ts";
import { cut, oneLine } from "../domain/sanitize.ts";
import { decisionLetters, type RoomRow, type RoomStateName, stripCount } from "./rooms.types.ts";

const facesKept = 4;
const textShownUnitsMax = 160;

interface Face {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
  /** Its name, made harmless once it was shown. */
  shown: string | null;
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
  /** How it stood when it was last looked at; null: asleep. */
  glance: Glance | null = null;
  /** Journal number of the first message that was noted as it happened. */
  firstSeq = Number.POSITIVE_INFINITY;
  heardAt: Millis = 0;
  /** Names where people speak that are heard here; null: nobody was heard since the start. */
  place: string | null = null;
  /** When its account brought a message last; shared with its other rooms. */
  account: { at: Millis } | null = null;
  readonly #parts: SessionKeyParts;
  #recent: string[] = [];
  #faces: Face[] = [];
  #line: Line | null = null;
  #place: Pick<Inbound, "channel" | "account" | "chat"> | null = null;
  /** What is told of it in every row; null: not yet. */
  #fixed: Fixed | null = null;

  constructor(conv: number, key: string) {
    this.conv = conv;
    this.key = key;
    this.#parts = parseSessionKey(key);
  }

  /** A message was decided here. */
  note(message: Inbound, verdict: Verdict, at: Millis): void {
    const { chat } = message;
    if (this.#recent.length >= stripCount) this.#recent.shift();
    this.#recent.push(decisionLetters[verdict.decision]);
    this.heardAt = at;
    this.#line = { id: message.id, verdict, author: message.author.name, text: shortOf(message) };
    if (this.#place?.chat.title !== chat.title || this.#place === null) {
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
    this.#line = { ...this.#line, text: text === null ? null : short(text) };
    return true;
  }

  /** What was noted of it in the journal, before anything that was noted as it happened. */
  precede(older: Room): void {
    this.#recent = [...older.#recent, ...this.#recent].slice(-stripCount);
    const known = new Set(this.#faces.map(({ id }) => id));
    const more = older.#faces.filter(({ id }) => !known.has(id));
    this.#faces = [...this.#faces, ...more].slice(0, facesKept);
    this.#line ??= older.#line;
    this.#place ??= older.#place;
    this.heardAt = Math.max(this.heardAt, older.heardAt);
  }

  get state(): RoomStateName {
    if (this.glance === null) return "asleep";
    const { attention } = this.glance;
    const [, name = "observing"] = attention.split(".");
    return name === "settling" ? "delivering" : (name as RoomStateName);
  }

  /** The row as it is told. */
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
