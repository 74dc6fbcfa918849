/**
 * Some models write their reasoning into the answer, between tags: `<think>…</think>`. And an agent
 * may say which message what follows answers: `[[reply_to:<id>]]`, `[[reply_to_current]]`. This
 * splits an answer into text, reasoning and reply tags while it streams; the split depends on the
 * text alone, not on how it arrived. Only what may still become a tag is held back.
 *
 * In code (fences, and spans that close on their line) a tag is text. Reasoning that is never closed
 * lasts to the end of the message, and a closing tag without an opening one is removed. After nested
 * tags that do not all close, what follows the last closing tag is the answer: a model that only
 * mentions the tag while it reasons still answers.
 */

/** A part of an answer, in order. `reply`: the text is the id of a message; empty: the current one. */
export interface AnswerPart {
  readonly kind: "text" | "reasoning" | "reply";
  readonly text: string;
}

export interface TagFilter {
  /** Takes the next piece of the message; returns the parts that are certain. */
  push(delta: string): AnswerPart[];
  /** The message has ended: returns the rest. */
  end(): AnswerPart[];
}

const forms = ["think", "thinking", "thought", "antthinking"].flatMap((name) => [
  `<${name}>`,
  `</${name}>`,
]);
const tagPattern = /^<[ \t]*(\/?)[ \t]*(?:think|thinking|thought|antthinking)[ \t]*>/i;
const tagUnitsMax = 32;
const replyTag = /^\[\[[ \t]*reply_to(?:_current|[ \t]*:[ \t]*([^\s\]]{1,256}))[ \t]*\]\]/i;
const replyUnitsMax = 320;
/** The start of a reply tag, without spaces and tabs. */
const partialReply = /^\[(?:\[(?:reply_to(?:_current\]?|:[^\s\]]{0,256}\]?)?)?)?$/i;
/** Units of a line by which a fence is recognised. */
const lineUnitsMax = 256;
/** A code span is looked for so far behind a tag. */
const spanUnitsMax = 1_024;
/** An opening or closing fence, also in quotes and lists. */
const fencePattern =
  /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))$/;

interface OpenFence {
  readonly character: string;
  readonly length: number;
  /** In a quote: it ends with the quote. */
  readonly quoted: boolean;
}

const isQuoted = (line: string) => /^[ \t]*>/.test(line);

function backslashesEnding(text: string): number {
  let start = text.length;
  while (text[start - 1] === "\\") start -= 1;
  return text.length - start;
}

/** Whether the start of a tag could still become one. */
function isPartialTag(text: string): boolean {
  if (text.length > tagUnitsMax) return false;
  const compact = text.replace(/[ \t]/g, "").toLowerCase();
  return forms.some((form) => form.startsWith(compact));
}

/** Whether the start of a reply tag could still become one. */
function isPartialReply(text: string): boolean {
  if (text.length > replyUnitsMax) return false;
  const compact = text.replace(/[ \t]/g, "").toLowerCase();
  if (compact.length >= "[[reply_to".length) return partialReply.test(completed(compact));
  return "[[reply_to".startsWith(compact);
}

/** With the rest of `_current`, where the text ends within it. */
function completed(compact: string): string {
  const whole = "[[reply_to_current";
  return whole.startsWith(compact) ? whole : compact;
}

/** The text of a whole message without its reasoning. */
export function withoutReasoning(message: string): string {
  if (!/<|\[\[/.test(message)) return message;
  const filter = createTagFilter();
  return [...filter.push(message), ...filter.end()]
    .map(({ kind, text }) => (kind === "text" ? text : ""))
    .join("");
}

/** A filter for one message. */
export function createTagFilter(): TagFilter {
  return new AnswerFilter();
}

class AnswerFilter implements TagFilter {
  /** Not decided yet. */
  #rest = "";
  #parts: AnswerPart[] = [];
  /** Open tags; 0: text. */
  #depth = 0;
  /** What followed a closing tag inside open ones; null: none closed. */
  #tail: string | null = null;
  /** White space at the start of the message; null: there was text. */
  #lead: string | null = "";
  #fence: OpenFence | null = null;
  /** The start of the current line of text. */
  #line = "";
  /** Length of the backtick run that may open a code span on this line; 0: none. */
  #run = 0;
  /** Length so far of the backtick run that the text ends with. */
  #ticks = 0;
  /** Backslashes at the end of the text so far. */
  #backslashes = 0;
  /** A tag was removed before the first text. */
  #trims = false;

  push(delta: string): AnswerPart[] {
    this.#rest += delta;
    return this.#split(false);
  }

  end(): AnswerPart[] {
    this.#split(true);
    if (this.#tail !== null) this.#say(this.#tail.trimStart());
    if (this.#lead !== null && this.#depth === 0) this.#add("text", this.#lead);
    this.#lead = null;
    return this.#taken();
  }

  #split(ended: boolean): AnswerPart[] {
    let goesOn = this.#rest !== "";
    while (goesOn && this.#rest !== "")
      goesOn = this.#depth > 0 ? this.#reason(ended) : this.#read(ended);
    return ended ? [] : this.#taken();
  }

  #taken(): AnswerPart[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** Takes text up to the next special character, and that; false: undecided. */
  #read(ended: boolean): boolean {
    const at = this.#rest.search(/[<[`\n]/);
    if (this.#ticks > 0 && this.#rest[0] !== "`") this.#endRun();
    if (at !== 0) {
      this.#say(this.#cut(at === -1 ? this.#rest.length : at));
      return this.#rest !== "";
    }
    const [first] = this.#rest;
    if (first === "<") return this.#readTag(ended);
    if (first === "[") return this.#readReply(ended);
    if (first === "\n") {
      this.#endLine();
      this.#say(this.#cut(1));
      this.#line = "";
      return true;
    }
    const length = this.#rest.search(/[^`]/);
    const run = this.#cut(length === -1 ? this.#rest.length : length);
    const isEscaped = this.#ticks === 0 && this.#run === 0 && this.#backslashes % 2 === 1;
    this.#ticks += run.length - (isEscaped ? 1 : 0);
    this.#say(run);
    return this.#rest !== "";
  }

  /** A run of backticks is complete: it may open or close a code span. */
  #endRun(): void {
    if (this.#run === 0) this.#run = this.#ticks;
    else if (this.#run === this.#ticks) this.#run = 0;
    this.#ticks = 0;
  }

  #readTag(ended: boolean): boolean {
    const tag = this.#isCode() ? "text" : this.#tagAt(ended);
    const meaning = typeof tag === "object" && this.#run > 0 ? this.#inSpan(ended) : tag;
    if (meaning === "undecided") return false;
    if (meaning === "text" || typeof tag === "string") {
      this.#say(this.#cut(1));
      return true;
    }
    this.#cut(tag.length);
    if (this.#lead !== null) {
      this.#lead = "";
      this.#trims = true;
    }
    if (!tag.closes) this.#depth = 1;
    return true;
  }

  /** Takes a reply tag, or the bracket as text; false: undecided. */
  #readReply(ended: boolean): boolean {
    const found = this.#isCode() ? null : replyTag.exec(this.#rest.slice(0, replyUnitsMax));
    if (found === null) {
      if (!ended && !this.#isCode() && isPartialReply(this.#rest)) return false;
      this.#say(this.#cut(1));
      return true;
    }
    const meaning = this.#run > 0 ? this.#inSpan(ended) : "tag";
    if (meaning === "undecided") return false;
    if (meaning === "text") {
      this.#say(this.#cut(1));
      return true;
    }
    this.#cut(found[0].length);
    this.#lead = "";
    this.#trims = true;
    this.#parts.push({ kind: "reply", text: found[1] ?? "" });
    return true;
  }

  /** Takes reasoning up to the next tag, and that; false: undecided. */
  #reason(ended: boolean): boolean {
    const at = this.#rest.indexOf("<");
    if (at !== 0) {
      this.#think(this.#cut(at === -1 ? this.#rest.length : at));
      return this.#rest !== "";
    }
    const tag = this.#tagAt(ended);
    if (tag === "undecided") return false;
    if (tag === "text") {
      this.#think(this.#cut(1));
      return true;
    }
    this.#cut(tag.length);
    this.#depth += tag.closes ? -1 : 1;
    const before = this.#tail;
    this.#tail = tag.closes && this.#depth > 0 ? "" : null;
    if (before !== null) this.#add("reasoning", before);
    return true;
  }

  /** The tag that the rest starts with. */
  #tagAt(ended: boolean): { closes: boolean; length: number } | "text" | "undecided" {
    const found = tagPattern.exec(this.#rest.slice(0, tagUnitsMax));
    if (found !== null) return { closes: found[1] === "/", length: found[0].length };
    return !ended && isPartialTag(this.#rest) ? "undecided" : "text";
  }

  /** Whether the code span that may have begun before the tag is one. */
  #inSpan(ended: boolean): "text" | "tag" | "undecided" {
    const newline = this.#rest.indexOf("\n");
    const isKnown = ended || newline !== -1 || this.#rest.length > spanUnitsMax;
    const line = this.#rest.slice(0, Math.min(newline === -1 ? Infinity : newline, spanUnitsMax));
    const runs = line.match(/`+/g) ?? [];
    // A run at the end of what is known may still grow.
    if (!isKnown && line.endsWith("`")) runs.pop();
    if (runs.some(({ length }) => length === this.#run)) return "text";
    return isKnown ? "tag" : "undecided";
  }

  /** Whether the current line belongs to fenced code. */
  #isCode(): boolean {
    if (this.#fence === null) return fencePattern.test(this.#line);
    return !this.#fence.quoted || isQuoted(this.#line);
  }

  #endLine(): void {
    if (this.#fence !== null && !this.#isCode()) this.#fence = null;
    const [, ticks, tickInfo = "", tildes, tildeInfo = ""] = fencePattern.exec(this.#line) ?? [];
    const mark = ticks ?? tildes;
    const open = this.#fence;
    this.#run = 0;
    this.#ticks = 0;
    if (mark === undefined) return;
    const character = mark[0] as string;
    if (open === null)
      this.#fence = { character, length: mark.length, quoted: isQuoted(this.#line) };
    else if (
      character === open.character &&
      mark.length >= open.length &&
      (tickInfo + tildeInfo).trim() === ""
    )
      this.#fence = null;
  }

  #cut(units: number): string {
    const piece = this.#rest.slice(0, units);
    this.#rest = this.#rest.slice(units);
    return piece;
  }

  #think(text: string): void {
    if (this.#tail === null) this.#add("reasoning", text);
    else this.#tail += text;
  }

  /** Text, without what a tag left at the start of the message. */
  #say(text: string): void {
    if (text === "") return;
    if (this.#line.length < lineUnitsMax && text !== "\n")
      this.#line += text.slice(0, lineUnitsMax - this.#line.length);
    const backslashes = backslashesEnding(text);
    this.#backslashes = backslashes + (backslashes === text.length ? this.#backslashes : 0);
    if (this.#lead === null) this.#add("text", text);
    else if (text.trim() === "") this.#lead += text;
    else {
      const whole = this.#lead + text;
      this.#lead = null;
      this.#add("text", this.#trims ? whole.replace(/^(?:\s*\n|[ \t]+)/, "") : whole);
    }
  }

  #add(kind: AnswerPart["kind"], text: string): void {
    if (text === "") return;
    const last = this.#parts.at(-1);
    if (last?.kind === kind && kind !== "reply")
      this.#parts[this.#parts.length - 1] = { kind, text: last.text + text };
    else this.#parts.push({ kind, text });
  }
}
