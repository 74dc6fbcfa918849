/**
 * The way out of a turn
 * =====================
 * Numbers what leaves, and bounds it. Pieces of the answer, what is shown beside it, and messages
 * that are edited in place while they grow share one count, since they share one order. The last
 * number is kept for the end: when more would follow, the piece that has it says so, and the rest is
 * dropped.
 */
import { limits } from "../../domain/limits.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { AgentText } from "../../machines/events/events.ts";
import { hardCut } from "../../machines/output/breaks.ts";

/** Something to send, as the conversation is told of it. */
export type OutputBlock = Omit<AgentText, "type" | "at" | "turnId">;
export type SideOutput = NonNullable<AgentText["aside"]>;

/** A piece of the answer that may be a message. */
export interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** What of the text closes code that goes on in the next piece. */
  readonly closes: string;
}

export interface SequencerOptions {
  readonly clock: Clock;
  /** Numbers below it were used by an earlier try. */
  readonly firstIndex: number;
  /** UTF-16 units of one platform message. */
  readonly textLimit: number;
  /** Goes before the first piece of the answer. */
  readonly prefix: string;
  readonly onBlock: (block: OutputBlock) => void;
  /** What the message of a draft should show by now. */
  readonly onDraft: (index: number, text: string) => void;
}

/** Said where an answer has more parts than a turn may send. */
const restNote = "\n\n[the rest of this answer is too long to send]";
/** Beyond this number nothing is shown beside the answer, so that the answer has room. */
const sideIndexMax = limits.blocksPerTurnMax / 2;
/** Shortest time between two looks at a growing message, ms; the platform's own pace is slower. */
const refreshMsMin = 250;

const hasVisible = (text: string): boolean => /[^\s\p{Cf}\p{Cc}]/u.test(text);

export class OutputSequencer {
  readonly #options: SequencerOptions;
  #index: number;
  /** The last piece a turn may have, until it is known whether more would follow. */
  #last: OutputBlock | null = null;
  #live: GrowingMessage | null = null;
  #answers = 0;
  #closed = false;
  #overflow = false;

  constructor(options: SequencerOptions) {
    this.#options = options;
    this.#index = options.firstIndex;
  }

  /** Pieces of the answer so far. */
  get answers(): number {
    return this.#answers;
  }

  /** More pieces than a turn may have: the rest is not sent. */
  get overflow(): boolean {
    return this.#overflow;
  }

  /** What the message that the next piece will replace shows; null: there is none. */
  get showing(): "answer" | "reasoning" | null {
    return this.#live?.shows ?? null;
  }

  /** The message that shows reasoning where no answer came; null: there is none. */
  get unanswered(): number | null {
    return this.#live?.shows === "reasoning" ? this.#live.index : null;
  }

  /** Sends a piece of the answer, in place of the growing message if there is one. */
  say({ text, from, to, closes }: Piece): void {
    if (this.#closed || !hasVisible(text)) return;
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
    };
    this.#index += 1;
    if (this.#index === limits.blocksPerTurnMax) this.#last = block;
    else this.#options.onBlock(block);
  }

  /** Shows the beginning of the answer, or what was thought so far, in a message that grows. */
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

  /** Opens a message that grows. Null: there is no room for it. */
  open(text: string, aside?: SideOutput): GrowingMessage | null {
    const index = this.#index;
    if (this.#closed || index >= sideIndexMax || !hasVisible(text)) return null;
    this.#beside(text, { draft: true, ...(aside === undefined ? {} : { aside }) });
    const { clock, onDraft } = this.#options;
    return new GrowingMessage(clock, index, text, onDraft);
  }

  /** Sends something that is not part of the answer; `edits` names the growing message it ends. */
  side(aside: SideOutput, text: string, edits?: number): void {
    if (this.#closed || !hasVisible(text)) return;
    if (edits === undefined && this.#index >= sideIndexMax) return;
    this.#beside(this.#fit(text), { aside, ...(edits === undefined ? {} : { edits }) });
  }

  /** Whatever is said from here on does not leave. */
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

  #beside(text: string, how: Pick<OutputBlock, "draft" | "aside" | "edits">): void {
    if (this.#index >= limits.blocksPerTurnMax) return;
    const block = { index: this.#index, from: 0, to: 0, text, mentions: [], ...how };
    this.#index += 1;
    this.#options.onBlock(block);
  }

  #sendLast(closes: string): void {
    const last = this.#last;
    this.#overflow = true;
    if (last === null) return;
    this.#last = null;
    const tail = closes + restNote;
    const body = last.text.slice(0, last.text.length - closes.length);
    const room = this.#options.textLimit - tail.length - (last.prefix ?? "").length;
    const kept = body.length <= room ? body : body.slice(0, hardCut(body, room));
    this.#options.onBlock({ ...last, text: kept + tail });
  }

  #fit(text: string): string {
    const { textLimit } = this.#options;
    return text.length <= textLimit ? text : text.slice(0, hardCut(text, textLimit));
  }
}

/** A message that is edited in place: the newest text wins, and is told at a bounded pace. */
export class GrowingMessage {
  readonly index: number;
  /** What it showed first. */
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

/** Ways in which platforms write a mention of an author id (Discord, Slack, Telegram, Matrix). */
const mentionForms = [
  /<@!?([A-Za-z0-9._-]{1,64})>/g,
  /tg:\/\/user\?id=(\d{1,20})/g,
  /https:\/\/matrix\.to\/#\/(@[^\s/?)]{1,255})/g,
];

/** Author ids that a text mentions in platform syntax, each once. */
function mentionsIn(text: string): string[] {
  if (!/<@|tg:\/\/|matrix\.to/.test(text)) return [];
  const found = mentionForms.flatMap((form) => [...text.matchAll(form)].map(([, id]) => id ?? ""));
  return [...new Set(found)].slice(0, limits.batchMessagesCountMax);
}
