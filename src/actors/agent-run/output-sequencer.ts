/**
 * The sequence of a turn's output
 * ===============================
 * Numbers and bounds what is sent. Parts of the answer, side output, and growing messages share one
 * counter, because they share one order. The last number is reserved for the end: if more would
 * follow, that part says so and the rest is dropped.
 */
import { limits } from "../../domain/limits.ts";
import type { Extras } from "../../domain/outgoing.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { AgentText } from "../../machines/events/events.ts";
import { hardCut } from "../../machines/output/breaks.ts";
import { createChunker } from "../../machines/output/chunker.ts";

/** A part to send, as reported to the conversation. */
export type OutputBlock = Omit<AgentText, "type" | "at" | "turnId">;
export type SideOutput = NonNullable<AgentText["aside"]>;

/** A part of the answer. */
export interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The end of the text that closes a code block continued in the next part. */
  readonly closes: string;
}

export interface SequencerOptions {
  readonly clock: Clock;
  /** Lower numbers were used by an earlier attempt. */
  readonly firstIndex: number;
  /** UTF-16 units of one platform message. */
  readonly textLimit: number;
  /** UTF-16 units of the whole answer. */
  readonly answerLimit: number;
  /** Whether a longer one is cut without a note, because all of it follows as a file. */
  readonly asFile: boolean;
  /** Prefix of the first part of the answer. */
  readonly prefix: string;
  readonly onBlock: (block: OutputBlock) => void;
  /** Reports the current text of a growing message. */
  readonly onDraft: (index: number, text: string) => void;
}

/** Note for an answer with more parts than a turn may send. */
const restNote = "\n\n[the rest of this answer is too long to send]";
/** Note for an answer that is longer than its room allows. */
const continueNote = '[This answer is longer than is allowed here. Say "continue" for the rest.]';
/** From this number on there is no side output, so that the answer has capacity. */
const sideIndexMax = limits.blocksPerTurnMax / 2;
/** Separates the note from the answer. */
const messageGap = "\n\n";
/** Less of a part is not sent before the note. */
const cutUnitsMin = 16;
/** Shortest time between refreshes of a growing message, ms; platforms are slower. */
const refreshMsMin = 250;

const hasVisible = (text: string): boolean => /[^\s\p{Cf}\p{Cc}]/u.test(text);

export class OutputSequencer {
  readonly #options: SequencerOptions;
  #index: number;
  /** The last possible part, held until it is known whether more would follow. */
  #last: OutputBlock | null = null;
  #live: GrowingMessage | null = null;
  #answers = 0;
  /** Length of the answer so far. */
  #units = 0;
  /** Where its last part ends. */
  #end = 0;
  /** The message that the next part answers; null: as configured. */
  #target: string | null = null;
  #closed = false;
  /** Why no more of the answer is sent. */
  #overflow: "parts" | "text" | null = null;

  constructor(options: SequencerOptions) {
    this.#options = options;
    this.#index = options.firstIndex;
  }

  /** Parts of the answer so far. */
  get answers(): number {
    return this.#answers;
  }

  /** What the answer had more of than is allowed; the rest is not sent. Null: nothing. */
  get overflow(): "parts" | "text" | null {
    return this.#overflow;
  }

  /** What the growing message shows that the next part replaces; null: none. */
  get showing(): "answer" | "reasoning" | null {
    return this.#live?.shows ?? null;
  }

  /** The message that shows reasoning without an answer; null: none. */
  get unanswered(): number | null {
    return this.#live?.shows === "reasoning" ? this.#live.index : null;
  }

  /** The next part of the answer answers this message; empty: the current one. */
  answerTo(messageId: string): void {
    this.#target = messageId;
  }

  /** Sends a part of the answer, replacing the growing message if there is one. */
  say(piece: Piece): void {
    if (this.#closed || this.#overflow !== null || !hasVisible(piece.text)) return;
    this.#place(this.#limited(piece));
  }

  #place({ text, from, to, closes }: Piece): void {
    if (text === "") return;
    this.#end = to;
    if (this.#index >= limits.blocksPerTurnMax) {
      this.#sendLast(closes);
      return;
    }
    const edits = this.#live?.index;
    const prefix = this.#answers === 0 ? this.#options.prefix : "";
    this.#live?.stop();
    this.#live = null;
    this.#answers += 1;
    const block: OutputBlock = {
      index: this.#index,
      from,
      to,
      text,
      mentions: mentionsIn(text),
      ...(edits === undefined ? {} : { edits }),
      ...(prefix === "" ? {} : { prefix }),
      ...(this.#target === null ? {} : { target: this.#target }),
    };
    this.#target = null;
    this.#index += 1;
    if (this.#index === limits.blocksPerTurnMax) this.#last = block;
    else this.#options.onBlock(block);
  }

  /**
   * Sends a file or choices as a part of the answer. Returns its number; null: nothing more is sent.
   */
  attach(piece: Piece, extras: Extras): number | null {
    const index = this.#index;
    const { asFile } = this.#options;
    const ended = this.#overflow !== null && !(asFile && this.#overflow === "text");
    // The last number stays free for the rest of the text.
    if (this.#closed || ended || index >= limits.blocksPerTurnMax - 1) return null;
    const { from, to } = piece;
    const text = this.#fit(piece.text);
    this.#answers += 1;
    this.#index += 1;
    const target = this.#target === null ? {} : { target: this.#target };
    this.#target = null;
    this.#options.onBlock({ index, from, to, text, mentions: [], ...target, ...extras });
    return index;
  }

  /** The piece as far as the whole answer may be long. */
  #limited(piece: Piece): Piece {
    const { answerLimit, textLimit, prefix, asFile } = this.#options;
    const units = this.#units;
    this.#units += piece.text.length;
    if (this.#units <= answerLimit) return piece;
    this.#overflow = "text";
    const note = asFile ? "" : continueNote;
    const tail = asFile ? "" : messageGap + note;
    const capacity = Math.min(answerLimit - units, textLimit - prefix.length - tail.length);
    if (capacity < cutUnitsMin) return { ...piece, text: note, closes: "" };
    const chunker = createChunker({ minChars: Math.ceil(capacity / 2), maxChars: capacity });
    const [first] = [...chunker.push(piece.text), ...chunker.flush()];
    return { ...piece, text: `${first?.text.trimEnd() ?? ""}${tail}`, closes: tail };
  }

  /** The answer goes on, but no more of it is sent: says so, unless its last part does. */
  endEarly(): void {
    const said = this.#overflow === "parts" || (this.#overflow === "text" && !this.#options.asFile);
    if (this.#closed || said) return;
    this.#overflow = "text";
    this.#place({ text: continueNote, from: this.#end, to: this.#end, closes: "" });
  }

  /** Shows the beginning of the answer, or the reasoning so far, in a growing message. */
  show(shows: "answer" | "reasoning", text: () => string): void {
    if (this.#closed) return;
    const prefix = shows === "answer" && this.#answers === 0 ? this.#options.prefix : "";
    const whole = () => this.#fit(prefix + text());
    const aside = shows === "reasoning" ? "reasoning" : undefined;
    this.#live ??= this.open(whole(), aside);
    if (this.#live === null) return;
    this.#live.shows = shows;
    this.#live.show(whole);
  }

  /** Opens a growing message. Null: no capacity. */
  open(text: string, aside?: SideOutput): GrowingMessage | null {
    const index = this.#index;
    if (this.#closed || index >= sideIndexMax || !hasVisible(text)) return null;
    const target = aside === undefined && this.#target !== null ? { target: this.#target } : {};
    this.#addSide(text, { draft: true, ...target, ...(aside === undefined ? {} : { aside }) });
    const { clock, onDraft } = this.#options;
    return new GrowingMessage(clock, index, text, onDraft);
  }

  /** Sends side output; `edits` is the growing message it completes. */
  side(aside: SideOutput, text: string, edits?: number): void {
    if (this.#closed || !hasVisible(text)) return;
    if (edits === undefined && this.#index >= sideIndexMax) return;
    this.#addSide(this.#fit(text), { aside, ...(edits === undefined ? {} : { edits }) });
  }

  /** Nothing is sent from here on. */
  close(): void {
    if (this.#last !== null) this.#options.onBlock(this.#last);
    this.#last = null;
    this.stop();
    this.#closed = true;
  }

  /** Clears timers; nothing else. */
  stop(): void {
    this.#live?.stop();
  }

  #addSide(text: string, how: Pick<OutputBlock, "draft" | "aside" | "edits" | "target">): void {
    if (this.#index >= limits.blocksPerTurnMax) return;
    const block = { index: this.#index, from: 0, to: 0, text, mentions: [], ...how };
    this.#index += 1;
    this.#options.onBlock(block);
  }

  #sendLast(closes: string): void {
    const last = this.#last;
    this.#overflow = "parts";
    if (last === null) return;
    this.#last = null;
    const tail = closes + restNote;
    const body = last.text.slice(0, last.text.length - closes.length);
    const capacity = this.#options.textLimit - tail.length - (last.prefix ?? "").length;
    const shortened = body.length <= capacity ? body : body.slice(0, hardCut(body, capacity));
    this.#options.onBlock({ ...last, text: shortened + tail });
  }

  #fit(text: string): string {
    const { textLimit } = this.#options;
    return text.length <= textLimit ? text : text.slice(0, hardCut(text, textLimit));
  }
}

/** A message edited in place: the newest text wins and is reported at a bounded rate. */
export class GrowingMessage {
  readonly index: number;
  /** The first text shown. */
  readonly opened: string;
  shows: "answer" | "reasoning" = "answer";
  readonly #clock: Clock;
  readonly #onDraft: (index: number, text: string) => void;
  #shown: string;
  #next: (() => string) | null = null;
  #refreshedAt: number;
  #timer: TimerHandle | null = null;

  constructor(
    clock: Clock,
    index: number,
    shown: string,
    onDraft: (index: number, text: string) => void,
  ) {
    this.index = index;
    this.#clock = clock;
    this.#onDraft = onDraft;
    this.opened = shown;
    this.#shown = shown;
    this.#refreshedAt = clock.monotonic();
  }

  show(text: () => string): void {
    this.#next = text;
    if (this.#timer !== null) return;
    const left = this.#refreshedAt + refreshMsMin - this.#clock.monotonic();
    if (left <= 0) this.#refresh();
    else this.#timer = this.#clock.setTimer(this.#clock.now() + left, () => this.#refresh());
  }

  stop(): void {
    if (this.#timer !== null) this.#clock.clearTimer(this.#timer);
    this.#timer = null;
    this.#next = null;
  }

  #refresh(): void {
    this.#timer = null;
    const text = this.#next?.() ?? this.#shown;
    this.#next = null;
    this.#refreshedAt = this.#clock.monotonic();
    if (text === this.#shown) return;
    this.#shown = text;
    this.#onDraft(this.index, text);
  }
}

/** Mention syntax of platforms for an author id (Discord, Slack, Telegram, Matrix). */
const mentionForms = [
  /<@!?([A-Za-z0-9._-]{1,64})>/g,
  /tg:\/\/user\?id=(\d{1,20})/g,
  /https:\/\/matrix\.to\/#\/(@[^\s/?)]{1,255})/g,
];

/** Distinct author ids mentioned in a text in platform syntax. */
function mentionsIn(text: string): string[] {
  if (!/<@|tg:\/\/|matrix\.to/.test(text)) return [];
  const found = mentionForms.flatMap((form) => [...text.matchAll(form)].map(([, id]) => id ?? ""));
  return [...new Set(found)].slice(0, limits.batchMessagesCountMax);
}
