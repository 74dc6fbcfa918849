/**
 * A long list in a window
 * =======================
 * Which rows of a transcript are in the document, and where. Heights are estimated until a row was
 * rendered; when an estimate is wrong, or lines come or go above, the row at the upper edge keeps
 * its position. At the end the list stays at the end. All of it happens between a change of the
 * document and its painting, so nothing is seen to jump.
 */
import { Heights, type Rows } from "./row-heights.ts";

/** The row at the upper edge and how far its own edge is below that, px. */
export interface Anchor {
  readonly key: string;
  readonly px: number;
}
/** Rows `first` up to, and without, `last`. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** What of a scrolling box the list reads and writes. */
interface Box {
  readonly clientHeight: number;
  readonly scrollHeight: number;
  scrollTop: number;
}

/** This near to its end the list follows it. */
const nearPx = 48;
/** So much above and below what is seen is in the document. */
const aroundPx = 900;
/** With less than that on one side the range moves on. */
const leastPx = 450;
/**
 * So far the rows may be from where their heights say: to scroll the box under a hand that is about
 * to scroll it is worse than a length that is not quite right.
 */
const driftPxMax = 1_000;
/** Rows that a selection of text may keep in the document beside the window. */
export const heldRowsMax = 300;
/** Somebody who scrolls up is not pulled back to the end in the middle of it. */
const pullMs = 250;

export class List {
  readonly heights: Heights;
  follows = true;
  anchor: Anchor | null = null;
  range: Range = { first: 0, last: 0 };
  /** Rows between which text is selected. */
  held: readonly [from: string, to: string] | null = null;
  /** Height of the window, px. */
  #windowPx = 900;
  #top = 0;
  /** So much lower than their heights say the rows are in the box, px. */
  #drift = 0;
  #isMoving = false;
  #upAt = Number.NEGATIVE_INFINITY;

  constructor(rows: Rows) {
    this.heights = new Heights(rows);
  }

  /** The rows changed. */
  take(rows: Rows): void {
    // Where its row is gone, the next that is there takes its place.
    const { anchor } = this;
    const behind = anchor === null || this.follows ? [] : this.#behind(anchor.key);
    this.heights.take(rows);
    if (anchor !== null && this.heights.indexOf(anchor.key) < 0) {
      const next = behind.find(({ key }) => this.heights.indexOf(key) >= 0);
      this.anchor = next === undefined ? null : { key: next.key, px: anchor.px + next.px };
      // Nothing of what was read is left.
      this.follows ||= next === undefined;
    }
    this.look(true);
  }

  /** Some rows from this one on, with how far below it each is. */
  #behind(key: string): Anchor[] {
    const { heights } = this;
    const from = heights.indexOf(key);
    if (from < 0) return [];
    const upTo = Math.min(heights.count, from + 400);
    const found: Anchor[] = [];
    for (let index = from; index < upTo; index += 1)
      found.push({ key: heights.key(index), px: heights.top(index) - heights.top(from) });
    return found;
  }

  /** The upper edge of what is seen, in the list. */
  get viewTop(): number {
    const { anchor, heights } = this;
    const index = anchor === null || this.follows ? -1 : heights.indexOf(anchor.key);
    if (index < 0) return heights.total - this.#windowPx;
    return heights.top(index) - (anchor?.px ?? 0);
  }

  /** Moves the range on where it is due; whether it did. `replaced`: the rows are other ones. */
  look(replaced = false): boolean {
    const { heights, range } = this;
    const from = this.viewTop;
    const to = from + this.#windowPx;
    const isEnough =
      !replaced &&
      range.first <= heights.at(from - leastPx) &&
      range.last > heights.at(to + leastPx) &&
      this.#hasHeld();
    if (isEnough) return false;
    const next = this.#withHeld({
      first: heights.at(from - aroundPx),
      last: Math.min(heights.count, heights.at(to + aroundPx) + 1),
    });
    const isSame = next.first === range.first && next.last === range.last;
    this.range = next;
    return !isSame;
  }

  #heldRange(): Range | null {
    const [from = "", to = ""] = this.held ?? [];
    const [one, other] = [this.heights.indexOf(from), this.heights.indexOf(to)];
    return one < 0 || other < 0
      ? null
      : { first: Math.min(one, other), last: Math.max(one, other) };
  }
  #hasHeld(): boolean {
    const held = this.#heldRange();
    if (held === null) return true;
    const { first, last } = this.#withHeld(this.range);
    return first === this.range.first && last === this.range.last;
  }
  #withHeld(range: Range): Range {
    const held = this.#heldRange();
    if (held === null) return range;
    const first = Math.min(range.first, held.first);
    const last = Math.max(range.last, held.last + 1);
    return last - first > heldRowsMax ? range : { first, last };
  }

  /** The position of a row in the scrolled list. */
  topOf(index: number): number {
    return this.heights.top(index) + this.#drift;
  }

  /** Whether the box was scrolled since it was last placed. */
  isMoved({ scrollTop }: Box): boolean {
    return Math.abs(scrollTop - this.#top) > 0.5;
  }

  /** The box was scrolled; `listTop` is where the list begins in it. Whether following changed. */
  scrolled(box: Box, listTop: number, isEnd: boolean, now: number): boolean {
    const { scrollTop, clientHeight } = box;
    const did = this.follows;
    if (scrollTop < this.#top - 1) this.#upAt = now;
    this.#top = scrollTop;
    this.#isMoving = true;
    this.#windowPx = clientHeight;
    this.follows = isEnd && box.scrollHeight - scrollTop - clientHeight <= nearPx;
    this.#drop(scrollTop - listTop - this.#drift);
    return did !== this.follows;
  }

  /**
   * Anchors at the first row whose upper edge is in the window, or else at the one that fills it.
   * A reader who scrolled further than the rows in the document go still sees some of them: the first of
   * those then, since where the others are is only a guess.
   */
  #drop(viewTop: number): void {
    const { heights, range } = this;
    const first = heights.at(viewTop);
    const isCut = heights.top(first) < viewTop && first + 1 < heights.count;
    const isNextSeen = isCut && heights.top(first + 1) < viewTop + this.#windowPx;
    const found = isNextSeen ? first + 1 : first;
    const isSeen = heights.top(range.first) < viewTop + this.#windowPx && range.first < range.last;
    const index = isSeen ? Math.max(found, range.first) : found;
    const px = heights.top(index) - viewTop;
    this.anchor = heights.count === 0 ? null : { key: heights.key(index), px };
  }

  /** Nobody scrolls any more: rows that have drifted far can be put right. */
  rest(): void {
    this.#isMoving = false;
  }

  /** Scrolls so that this row is `px` below the upper edge. */
  goTo(key: string, px: number): void {
    if (this.heights.indexOf(key) < 0) return;
    this.follows = false;
    this.anchor = { key, px };
    this.#isMoving = false;
    this.look();
  }

  toEnd(): void {
    this.follows = true;
    this.#upAt = Number.NEGATIVE_INFINITY;
    this.look();
  }

  /**
   * Puts everything to where it should be, after a change of the document. `top` is where the box
   * is now, `listTop` where the list begins in it; `pad` sets the space above the first row of the
   * range. Where the rows are is known by their heights, so that nothing is read from the document after it was changed.
   */
  settle(box: Box, { top, listTop, pad, now }: Settling): void {
    const { heights, range, anchor } = this;
    this.#windowPx = box.clientHeight;
    this.#top = top;
    const due = heights.top(range.first);
    if (this.follows && now - this.#upAt > pullMs) {
      this.#drift = 0;
      pad(due);
      const end = box.scrollHeight - box.clientHeight;
      if (Math.abs(box.scrollTop - end) >= 0.5) box.scrollTop = end;
      this.#top = box.scrollTop;
      return;
    }
    const index = anchor === null ? -1 : heights.indexOf(anchor.key);
    if (anchor === null || index < range.first || index >= range.last) {
      pad(Math.max(0, due + this.#drift));
      return;
    }
    // The row is to stay where it was: the space above shrinks, or the box is scrolled.
    const wanted = top - listTop + anchor.px - heights.top(index);
    const isLittle = Math.abs(wanted) < driftPxMax;
    const drifts = (this.#isMoving || isLittle) && range.first > 0 && due + wanted >= 0;
    this.#drift = drifts ? wanted : 0;
    pad(due + this.#drift);
    if (!drifts && Math.abs(wanted) >= 0.5) {
      box.scrollTop = top - wanted;
      this.#top = box.scrollTop;
    }
    // It may be nearer to an end of the list than can be scrolled, or have been the first that was
    // known where others above it are known now.
    this.#drop(this.#top - listTop - this.#drift);
  }
}

interface Settling {
  readonly top: number;
  readonly listTop: number;
  readonly pad: (px: number) => void;
  readonly now: number;
}
