/**
 * Text with entities
 * ==================
 * What Markdown becomes before it is sent, and how a long message is split: at a paragraph, a line,
 * a word, and only then between two graphemes. Offsets are UTF-16 units.
 */

export interface Entity {
  readonly type:
    | "bold"
    | "italic"
    | "strikethrough"
    | "spoiler"
    | "code"
    | "pre"
    | "blockquote"
    | "text_link";
  readonly offset: number;
  readonly length: number;
  readonly language?: string;
  readonly url?: string;
}

export interface Rendered {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Builds a text and its entities. */
export class Rendering {
  private readonly parts: string[] = [];
  private readonly entities: Entity[] = [];
  public length = 0;

  add(text: string): void {
    this.parts.push(text);
    this.length += text.length;
  }

  /** Adds an entity over everything added since `from`; an empty one is ignored. */
  mark(entity: Pick<Entity, "type" | "language" | "url">, from: number): void {
    if (this.length > from)
      this.entities.push({ ...entity, offset: from, length: this.length - from });
  }

  /** Whether anything visible was added since `from`. */
  showsSince(from: number): boolean {
    let skipped = this.length;
    for (let part = this.parts.length - 1; part >= 0 && skipped > from; part -= 1) {
      const text = this.parts[part] as string;
      skipped -= text.length;
      if (/[^\s\p{Cf}\p{Mn}]/u.test(text.slice(Math.max(0, from - skipped)))) return true;
    }
    return false;
  }

  finish(): Rendered {
    const byPlace = (a: Entity, b: Entity) => a.offset - b.offset || b.length - a.length;
    // Of two entities over the same text, the outer one was added last and must come first.
    return { text: this.parts.join(""), entities: this.entities.reverse().sort(byPlace) };
  }
}

/** Telegram ignores further entities of one message (its documentation: formatting options). */
const entitiesCountMax = 100;
const cutNote = "\n\n[the rest is too long for this chat]";
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Splits a rendering into messages of at most `limit` units, at most `partsMax` of them. */
export function splitRendered(whole: Rendered, limit: number, partsMax: number): Rendered[] {
  const parts: Rendered[] = [];
  const { text } = whole;
  let from = 0;
  while (from < text.length) {
    const last = parts.length === partsMax - 1;
    const capacity = last && text.length - from > limit ? limit - cutNote.length : limit;
    const to = cutBefore(text, from, capacity);
    const part = slice(whole, from, to);
    const next = afterCut(text, to);
    if (last && next < text.length) return [...parts, { ...part, text: part.text + cutNote }];
    if (part.text.trim() !== "") parts.push(part);
    from = next;
  }
  return parts;
}

/** The end of a part that starts at `from` and has at most `capacity` units. */
function cutBefore(text: string, from: number, capacity: number): number {
  const end = from + capacity;
  if (end >= text.length) return text.length;
  const earliest = from + Math.floor(capacity / 2);
  for (const mark of ["\n\n", "\n", " "]) {
    const found = text.lastIndexOf(mark, end - mark.length + 1);
    if (found >= earliest) return found;
  }
  const start = Math.max(from, end - 64);
  const cluster = segmenter.segment(text.slice(start, end + 64)).containing(end - start);
  const cut = start + (cluster?.index ?? end - start);
  if (cut > earliest) return cut;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** Skips the blank at a cut, but keeps indentation after a line break. */
function afterCut(text: string, cut: number): number {
  let at = cut;
  while (text[at] === "\n") at += 1;
  return at === cut && text[at] === " " ? at + 1 : at;
}

function slice({ text, entities }: Rendered, from: number, to: number): Rendered {
  const cut: Entity[] = [];
  for (const entity of entities) {
    const start = Math.max(entity.offset, from);
    const length = Math.min(entity.offset + entity.length, to) - start;
    if (length > 0 && cut.length < entitiesCountMax)
      cut.push({ ...entity, offset: start - from, length });
  }
  return { text: text.slice(from, to), entities: cut };
}
