/**
 * A turn's words
 * ==============
 * From an agent's deltas to blocks that may be sent: what may still be the silent token is held
 * back, the rest is cut into blocks. In stream mode `block` they leave as they complete; otherwise
 * the whole answer leaves once at the end, cut only where the platform's limit asks for it. Offsets
 * count the words of the turn from its start, so one stretch of text can never be sent twice and
 * two equal blocks are two.
 */
import { limits } from "../domain/limits.ts";
import type { ConversationSettings } from "../domain/settings.ts";
import { type Chunker, createChunker } from "../machines/chunker.ts";
import { createSilence, type Silence } from "../machines/silence.ts";

export interface OutputBlock {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly mentions: readonly string[];
}

export interface OutputOptions {
  readonly settings: ConversationSettings;
  readonly direct: boolean;
  /** UTF-16 units of one platform message. */
  readonly textLimit: number;
  readonly onBlock: (block: OutputBlock) => void;
}

/** Between the messages of one answer when they leave as one. */
const messageGap = "\n\n";

export class TurnOutput {
  readonly #options: OutputOptions;
  readonly #streams: boolean;
  #silence: Silence;
  #chunker: Chunker;
  /** Where the current chunker's text starts. */
  #base = 0;
  #chunked = 0;
  #index = 0;
  /** Words of the current message that wait for its end. */
  #message = "";
  readonly #messages: string[] = [];
  #visible = "";
  #muted = false;
  #overflow = false;

  constructor(options: OutputOptions) {
    this.#options = options;
    const { mode } = options.settings.stream;
    this.#streams = mode === "block" || (mode === "auto" && options.direct);
    this.#silence = createSilence(options.settings.silent);
    this.#chunker = this.#newChunker();
  }

  /** Everything that may be shown so far. */
  get visible(): string {
    return this.#visible;
  }

  get blocks(): number {
    return this.#index;
  }

  /** More blocks than a turn may have: the rest was not sent. */
  get overflow(): boolean {
    return this.#overflow;
  }

  /** From here on the turn is silent. */
  mute(): void {
    this.#muted = true;
  }

  push(delta: string): void {
    this.#show(this.#silence.push(delta));
  }

  /** The end of one message of the answer: what was held back is decided. */
  endMessage(): void {
    this.#show(this.#silence.end().rest);
    this.#silence = createSilence(this.#options.settings.silent);
    if (this.#streams) {
      this.#chunk(this.#message);
      this.#flush();
    } else if (this.#message.trim() !== "") this.#messages.push(this.#message);
    this.#message = "";
  }

  /** Sends a message at once, after what was said before it. */
  say(text: string): void {
    this.endMessage();
    this.#sendCollected();
    this.#show(text);
    this.endMessage();
    this.#sendCollected();
  }

  /** The end of the answer. */
  end(): void {
    this.endMessage();
    this.#sendCollected();
  }

  #show(text: string): void {
    if (text === "" || this.#muted) return;
    this.#visible += text;
    if (this.#streams && this.#options.settings.stream.break === "text_end") this.#chunk(text);
    else this.#message += text;
  }

  #sendCollected(): void {
    const text = this.#messages.splice(0).join(messageGap);
    if (text.length <= this.#options.textLimit) {
      if (text.trim() !== "") this.#emit(text, this.#base, this.#base + text.length);
      this.#base += text.length;
      return;
    }
    this.#chunk(text);
    this.#flush();
  }

  #chunk(text: string): void {
    if (text === "") return;
    this.#chunked += text.length;
    for (const block of this.#chunker.push(text)) this.#emitChunk(block);
  }

  #flush(): void {
    if (this.#chunked === 0) return;
    for (const block of this.#chunker.flush()) this.#emitChunk(block);
    this.#base += this.#chunked;
    this.#chunked = 0;
    this.#chunker = this.#newChunker();
  }

  #emitChunk({ text, from, to }: { text: string; from: number; to: number }): void {
    this.#emit(text, this.#base + from, this.#base + to);
  }

  #emit(text: string, from: number, to: number): void {
    if (this.#muted) return;
    if (this.#index >= limits.blocksPerTurnMax) {
      this.#overflow = true;
      return;
    }
    const index = this.#index;
    this.#index += 1;
    this.#options.onBlock({ index, from, to, text, mentions: mentionsIn(text) });
  }

  #newChunker(): Chunker {
    const { textLimit, settings } = this.#options;
    const { minChars, maxChars, prefer } = settings.stream;
    // One final reply is cut as late as the platform allows.
    const max = Math.max(16, this.#streams ? Math.min(maxChars, textLimit) : textLimit);
    const min = this.#streams ? Math.min(minChars, max) : Math.ceil(max / 2);
    return createChunker({ minChars: min, maxChars: max, prefer });
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
