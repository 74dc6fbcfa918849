/**
 * Turns an agent's deltas into messages: text that may be the silent token is held back, the rest
 * is split into blocks. In stream mode `block` they are sent as they complete; in `draft` the first
 * one is shown while it grows and edited in place; otherwise the whole answer is sent at the end,
 * split only at the platform's limit. Offsets count the turn's text from its start, so no range is
 * sent twice and two equal blocks stay two.
 */

import { type AnswerPart, createTagFilter } from "../../domain/answer-tags.ts";
import { limits } from "../../domain/limits.ts";
import type { Extras } from "../../domain/outgoing.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { cut } from "../../domain/sanitize.ts";
import type { ReasoningLevel, VerboseLevel } from "../../domain/session.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { type Block, type Chunker, createChunker } from "../../machines/output/chunker.ts";
import { createSilence, type Silence } from "../../machines/output/silence.ts";
import { heartbeatAnswer } from "../../machines/prompt/heartbeat.ts";
import { Coalescer } from "./coalescer.ts";
import { type GrowingMessage, type OutputBlock, OutputSequencer } from "./output-sequencer.ts";
import { noAnswer, reasoningMessage, Steps } from "./side-output.ts";

export interface OutputOptions {
  readonly clock: Clock;
  readonly settings: ConversationSettings;
  readonly direct: boolean;
  /** UTF-16 units of one platform message. */
  readonly textLimit: number;
  /** Whether sent messages can be edited. */
  readonly edits: boolean;
  /** Whether the channel has files. @default false */
  readonly files?: boolean;
  readonly reasoning: ReasoningLevel;
  readonly verbose: VerboseLevel;
  /** A heartbeat: nothing is shown before its end, and acknowledgements never. */
  readonly heartbeat?: { readonly ackMaxChars: number } | null;
  /** Prefix of the answer. */
  readonly prefix: string;
  readonly firstIndex: number;
  readonly onBlock: (block: OutputBlock) => void;
  readonly onDraft: (index: number, text: string) => void;
  /** There is reasoning, shown or not. */
  readonly onThought?: () => void;
}

/** Separator of an answer's messages when they are merged. */
const messageGap = "\n\n";
/**
 * Text and time after which a growing message is opened; a short answer that completes earlier
 * needs none.
 */
const sightUnitsMin = 30;
const sightMsMin = 250;
const sightMsMax = 1_000;
/** Status messages of one turn where they cannot be edited. */
const statusCountMax = 10;

type Mode = "off" | "block" | "draft";

export class TurnOutput {
  readonly #options: OutputOptions;
  readonly #mode: Mode;
  readonly #sequencer: OutputSequencer;
  readonly #coalescer: Coalescer;
  readonly #steps: Steps;
  #silence: Silence;
  #tags = createTagFilter();
  #chunker: Chunker;
  /** Where the current chunker's text starts. */
  #base = 0;
  #chunked = 0;
  /** Text of the current message held until its end. */
  #message = "";
  readonly #messages: string[] = [];
  #visible = "";
  #muted = false;
  /** A message of the answer ended; further text belongs to the next. */
  #between = true;
  /** The answer's text that a growing message may show; null once the text is final. */
  #sight: string | null = "";
  #sightTimer: TimerHandle | null = null;
  /** The next part starts a further message of the answer. */
  #starts = false;
  #thoughts = "";
  #status: GrowingMessage | null = null;
  #statuses = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
    const { clock, settings, direct, textLimit, firstIndex, onBlock, onDraft } = options;
    const { stream } = settings;
    this.#mode = this.#isUnasked ? "off" : modeOf(stream.mode, direct, options.edits);
    const prefix = cut(options.prefix, Math.floor(textLimit / 2));
    this.#sequencer = new OutputSequencer({
      clock,
      firstIndex,
      textLimit,
      answerLimit: this.#answerLimit,
      asFile: this.#asFile,
      prefix,
      onBlock,
      onDraft,
    });
    this.#steps = new Steps(options.verbose);
    this.#silence = createSilence(settings.silent);
    const { min, max } = this.#sizes();
    this.#chunker = this.#newChunker();
    this.#coalescer = new Coalescer({
      clock,
      enough: min,
      max,
      idleMs: stream.coalesceIdleMs,
      onPiece: (piece) => this.#sequencer.say(piece),
    });
  }

  /** Everything that may be shown so far. */
  get visible(): string {
    return this.#visible;
  }

  /** Whether no part of an answer was sent. */
  get isSilent(): boolean {
    return this.#sequencer.answers === 0;
  }

  /** Whether the answer has more than may be sent, also as a file; the rest is not sent. */
  get overflow(): boolean {
    if (this.#asFile)
      return this.#sequencer.overflow === "parts" || this.#isOver(limits.answerFileUnitsMax);
    return this.#sequencer.overflow !== null || this.#isOver(this.#answerLimit);
  }

  #isOver(limit: number): boolean {
    // Only where it can be true: trimming a growing text at every delta takes quadratic time.
    return this.#visible.length > limit && this.#visible.trimEnd().length > limit;
  }

  get #asFile(): boolean {
    const { files = false, settings } = this.#options;
    return files && settings.stream.longAnswers === "file" && !this.#isUnasked;
  }

  get #answerLimit(): number {
    const { direct, settings } = this.#options;
    const { groupMaxChars } = settings.stream;
    return direct || groupMaxChars === 0 ? Number.POSITIVE_INFINITY : groupMaxChars;
  }

  /** Silences the turn. What the room could already see stays. */
  mute(): void {
    if (this.#muted) return;
    if (this.#sequencer.showing === "answer") {
      this.#show(this.#silence.end().rest);
      this.#flush();
    }
    this.#coalescer.flush();
    this.#muted = true;
    this.#finish();
  }

  push(delta: string): void {
    this.#take(this.#tags.push(delta));
  }

  /** Text with tags is text, reasoning and reply tags, in order. */
  #take(parts: readonly AnswerPart[]): void {
    for (const { kind, text } of parts) {
      if (kind === "reasoning") this.think(text);
      else if (kind === "reply") this.#answerTo(text);
      else this.#show(this.#silence.push(text));
    }
  }

  /** What follows is a part of its own, which answers this message; empty: the current one. */
  #answerTo(messageId: string): void {
    if (this.#muted || this.#isUnasked) return;
    this.#endPart();
    this.#send();
    this.#sequencer.answerTo(messageId);
  }

  /** Adds reasoning. */
  think(delta: string): void {
    const { reasoning, textLimit, edits, onThought } = this.#options;
    onThought?.();
    if (reasoning === "off" || this.#muted || this.#sequencer.showing === "answer") return;
    if (this.#thoughts.length <= textLimit) this.#thoughts += delta;
    if (reasoning !== "stream" || !edits || this.#thoughts.length < sightUnitsMin) return;
    this.#sequencer.show("reasoning", () => reasoningMessage(this.#thoughts, textLimit));
  }

  /** A tool call starts. */
  step(name: string, input: unknown): void {
    if (!this.#steps.isOn || this.#muted) return;
    this.#steps.start(name, input);
    this.#coalescer.flush();
    if (this.#status !== null) {
      this.#status.show(() => this.#statusText());
      return;
    }
    if (this.#statuses >= statusCountMax) return;
    this.#statuses += 1;
    if (this.#options.edits) this.#status = this.#sequencer.open(this.#statusText(), "status");
    else this.#sequencer.side("status", this.#steps.newest());
  }

  stepEnded(name: string, ok: boolean): void {
    this.#steps.end(name, ok);
    this.#status?.show(() => this.#statusText());
  }

  /** Ends one message of the answer: held text is resolved. */
  endMessage(): void {
    this.#take(this.#tags.end());
    this.#tags = createTagFilter();
    this.#endPart();
  }

  /** Ends what is sent as one, and judged as one whether it is silent. */
  #endPart(): void {
    this.#show(this.#silence.end().rest);
    this.#silence = createSilence(this.#options.settings.silent);
    if (this.#mode === "block") {
      this.#chunk(this.#message);
      this.#flush();
    } else if (this.#mode === "off" && this.#message.trim() !== "")
      this.#messages.push(this.#message);
    this.#message = "";
    this.#between = true;
  }

  /** Sends a message immediately, after the text before it. */
  say(text: string): void {
    this.endMessage();
    if (!this.#isUnasked) this.#send();
    this.#sayWhole(text);
    if (!this.#isUnasked) this.#send();
  }

  /** Text that a tool sends: it is shown whatever it says. */
  #sayWhole(text: string): void {
    const tags = createTagFilter();
    for (const part of [...tags.push(text), ...tags.end()]) {
      if (part.kind === "text") this.#show(part.text);
      if (part.kind === "reply") this.#answerTo(part.text);
    }
    this.endMessage();
  }

  /**
   * Sends a file or choices immediately, after the text before it. It counts as its text, so another
   * attempt of the turn does not send it again. Returns its number; null: nothing more is sent.
   */
  attach(text: string, extras: Extras): number | null {
    if (this.#muted) return null;
    this.endMessage();
    if (!this.#isUnasked) this.#send();
    const from = this.#base;
    this.#base += text.length;
    const piece = { text, from, to: this.#base, closes: "" };
    const index = this.#sequencer.attach(piece, extras);
    if (index !== null) this.#visible += `${this.#visible === "" ? "" : messageGap}${text}`;
    return index;
  }

  /** Sends the end of the text. Returns the whole answer if it is to follow as a file; else null. */
  endText(): string | null {
    if (this.#muted) return null;
    this.endMessage();
    this.#send();
    if (!this.#asFile || this.#sequencer.overflow === "parts") return null;
    if (this.#sequencer.overflow === null && !this.#isOver(this.#answerLimit)) return null;
    return cut(this.#visible.trim(), limits.answerFileUnitsMax);
  }

  /**
   * Ends the answer. `filed`: the whole of it was sent as a file. `below`: a line that is shown below
   * it, and is no part of it.
   */
  end(filed = false, below = ""): void {
    this.endMessage();
    this.#send();
    const isCut = this.#sequencer.overflow !== null || this.#isOver(this.#answerLimit);
    if (isCut && !filed) this.#sequencer.endEarly();
    if (below !== "" && !this.#muted && !this.isSilent) this.#sequencer.side("status", below);
    this.#finish();
  }

  /** Ends an incomplete answer: complete blocks are sent, and growing messages are final. */
  breakOff(): void {
    if (this.#muted) return;
    if (this.#sequencer.showing === "answer") this.#flush();
    this.#coalescer.flush();
    this.#muted = true;
    this.#endStatus();
    this.stop();
    this.#sequencer.close();
  }

  /** Clears timers. */
  stop(): void {
    this.#clearSight();
    this.#coalescer.stop();
    this.#sequencer.stop();
    this.#status?.stop();
  }

  #show(text: string): void {
    if (text === "" || this.#muted) return;
    const gap = this.#between && this.#visible !== "" ? messageGap : "";
    if (this.#between) this.#showThoughts();
    this.#between = false;
    if (!this.#isUnasked) this.#visible += gap + text;
    if (this.#mode === "draft") {
      this.#chunk(this.#chunked === 0 ? text : gap + text);
      this.#preview();
    } else if (this.#mode === "block" && this.#options.settings.stream.break === "text_end")
      this.#chunk(text);
    else this.#message += text;
  }

  /** Shows the reasoning before the first text of a message. */
  #showThoughts(): void {
    const { showing } = this.#sequencer;
    const { reasoning, edits } = this.#options;
    const waits = reasoning === "on" || !edits;
    if (waits && this.#thoughts.trim() !== "" && showing === null) {
      this.#coalescer.flush();
      const text = reasoningMessage(this.#thoughts, this.#options.textLimit);
      this.#sequencer.side("reasoning", text);
    }
    this.#thoughts = "";
  }

  /** Shows the beginning of the answer in a growing message. */
  #preview(): void {
    const sight = this.#sight;
    if (sight === null || sight.trim() === "") return;
    const { clock } = this.#options;
    if (this.#sequencer.showing !== null) {
      this.#open();
      return;
    }
    const at = clock.now() + (sight.length < sightUnitsMin ? sightMsMax : sightMsMin);
    if (this.#sightTimer !== null && this.#sightTimer.at <= at) return;
    this.#clearSight();
    this.#sightTimer = clock.setTimer(at, () => this.#open());
  }

  #clearSight(): void {
    if (this.#sightTimer !== null) this.#options.clock.clearTimer(this.#sightTimer);
    this.#sightTimer = null;
  }

  #open(): void {
    this.#clearSight();
    if (this.#sight === null || this.#sight.trim() === "") return;
    this.#sequencer.show("answer", () => this.#sight ?? "");
  }

  /** Sends the text so far, whatever its size. */
  #send(): void {
    if (this.#mode !== "off") {
      this.#flush();
      this.#coalescer.flush();
      return;
    }
    const text = this.#answer(this.#messages.splice(0).join(messageGap));
    const { max } = this.#sizes();
    if (text.length > max) {
      this.#chunk(text);
      this.#flush();
      return;
    }
    this.#sequencer.say({ text, from: this.#base, to: this.#base + text.length, closes: "" });
    this.#base += text.length;
  }

  get #isUnasked(): boolean {
    return (this.#options.heartbeat ?? null) !== null;
  }

  /** Processes the whole answer before it is sent. */
  #answer(whole: string): string {
    const { heartbeat = null } = this.#options;
    return heartbeat === null ? whole : (heartbeatAnswer(whole, heartbeat.ackMaxChars) ?? "");
  }

  #chunk(text: string): void {
    if (text === "") return;
    this.#chunked += text.length;
    if (this.#sight !== null && this.#mode === "draft") this.#sight += text;
    for (const block of this.#chunker.push(text)) this.#deliver(block);
  }

  #flush(): void {
    this.#clearSight();
    if (this.#chunked === 0) return;
    for (const block of this.#chunker.flush()) this.#deliver(block);
    this.#base += this.#chunked;
    this.#chunked = 0;
    this.#chunker = this.#newChunker();
    this.#sight = "";
    this.#starts = true;
  }

  #deliver({ text, from, to, opens, closes, final }: Block): void {
    this.#sight = null;
    if (this.#muted) return;
    const piece = { text, from: this.#base + from, to: this.#base + to, opens, closes };
    if (this.#mode === "block") this.#coalescer.add(piece, this.#starts ? messageGap : "", final);
    else this.#sequencer.say(piece);
    this.#starts = false;
  }

  #statusText(): string {
    return cut(this.#steps.text(), this.#options.textLimit);
  }

  #endStatus(): void {
    const status = this.#status;
    this.#status = null;
    status?.stop();
    const text = this.#statusText();
    if (status !== null && status.opened !== text)
      this.#sequencer.side("status", text, status.index);
  }

  #finish(): void {
    this.stop();
    this.#endStatus();
    const { unanswered } = this.#sequencer;
    if (unanswered !== null) this.#sequencer.side("reasoning", noAnswer, unanswered);
    this.#sequencer.close();
  }

  /** Block sizes of the current mode. */
  #sizes(): { readonly min: number; readonly max: number } {
    const { textLimit, settings, prefix } = this.#options;
    const { minChars, maxChars } = settings.stream;
    const capacity = textLimit - Math.min(prefix.length, Math.floor(textLimit / 2));
    // Text that is not streamed is split only at the platform's limit.
    const max = Math.max(16, this.#mode === "block" ? Math.min(maxChars, capacity) : capacity);
    return { min: this.#mode === "block" ? Math.min(minChars, max) : Math.ceil(max / 2), max };
  }

  #newChunker(): Chunker {
    const { min, max } = this.#sizes();
    const { prefer } = this.#options.settings.stream;
    return createChunker({ minChars: min, maxChars: max, prefer });
  }
}

function modeOf(
  mode: ConversationSettings["stream"]["mode"],
  direct: boolean,
  edits: boolean,
): Mode {
  if (mode === "auto") return direct ? "block" : "off";
  return mode === "draft" && !edits ? "block" : mode;
}
