/**
 * The list of a transcript, bound to its element: measures rows as they are rendered, moves the
 * range on scroll, asks for other pages near its ends, and keeps the focused row and selected text
 * in the document.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { Room } from "./room-reducer.ts";
import type { Rows } from "./row-heights.ts";
import type { Row } from "./transcript.ts";
import type { Pages } from "./use-room.ts";
import { type Anchor, List } from "./virtual-list.ts";

export interface ShownList {
  readonly box: RefObject<HTMLDivElement>;
  readonly element: RefObject<HTMLDivElement>;
  /** What is below the rows and grows by itself. */
  readonly after: RefObject<HTMLDivElement>;
  /** Rows in the window, as numbers from `first` up to, and without, `last`. */
  readonly first: number;
  readonly last: number;
  /** Number and upper edge of a row that is kept beside the window. */
  apart(key: string | null): { readonly index: number; readonly top: number } | null;
  /** The row that has the focus; it stays in the document. */
  readonly focused: { current: string | null };
  /** Lines that came while the reader was further up. */
  readonly unseen: number;
  toEnd(): void;
  /** Brings a row into sight and gives it the focus. */
  reveal(key: string, block: "nearest" | "center", focus?: boolean): void;
  /** The row a window height further up or down. */
  pageFrom(key: string, by: 1 | -1): string | null;
}

/** This near to an end of what is kept, the page beyond it is asked for. */
const edgePx = 2_000;
/** About so wide is a letter of the text. */
const letterPx = 6.6;
const narrowPx = 620;
/** After this time, ms, scrolling counts as over where the browser sends no event for it. */
const stillMs = 1_000;
const endedMs = 100;

export function useList(rows: readonly Row[], room: Room, pages: Pages): ShownList {
  const box = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLDivElement>(null);
  const after = useRef<HTMLDivElement>(null);
  const focused = useRef<string | null>(null);
  const [, again] = useReducer((count: number) => count + 1, 0);
  const kept = useRef<{ readonly list: List; rows: readonly Row[]; width: number } | null>(null);
  kept.current ??= { list: new List(sourceOf(rows, 0)), rows, width: 0 };
  const { current } = kept;
  const { list } = current;
  const newest = useRef({ room, rows });
  const tools = useRef<Tools | null>(null);
  // The scroll event may come after this is painted.
  if (tools.current !== null) catchUp(tools.current);
  newest.current = { room, rows };
  if (current.rows !== rows) {
    current.rows = rows;
    list.take(sourceOf(rows, current.width));
  } else list.look();
  const wantsEnd = useRef(false);
  if (wantsEnd.current && room.newer === null) {
    wantsEnd.current = false;
    list.toEnd();
  }
  const seen = useRef(room.arrived);
  if (list.follows) seen.current = room.arrived;
  const sought = useRef<string | null>(null);

  tools.current ??= {
    box,
    element,
    after,
    list,
    again: () => again(undefined),
    pages,
    newest: () => newest.current,
    width(px) {
      if (px === current.width) return false;
      current.width = px;
      list.heights.forget();
      list.take(sourceOf(newest.current.rows, px));
      return true;
    },
  };
  const tied = tools.current;
  useLayoutEffect(() => {
    settle(tied);
    if (sought.current === null) return;
    rowIn(tied, sought.current)?.focus({ preventScroll: true });
    sought.current = null;
  });
  useEffect(() => {
    lookAtEdges(tied);
    if (wantsEnd.current && room.newer !== null) void pages.newer();
  }, [room]);
  useEffect(() => tie(tied), []);

  return {
    box,
    element,
    after,
    focused,
    first: list.range.first,
    last: list.range.last,
    unseen: room.arrived - seen.current,
    apart(key) {
      const index = key === null ? -1 : list.heights.indexOf(key);
      const isApart = index >= 0 && (index < list.range.first || index >= list.range.last);
      return isApart ? { index, top: list.topOf(index) } : null;
    },
    toEnd() {
      wantsEnd.current = true;
      if (newest.current.room.newer !== null) void pages.newest();
      again(undefined);
    },
    reveal(key, block, focus = false) {
      if (focus) sought.current = key;
      // Or what it was scrolled just before would be taken for a movement away from the row.
      catchUp(tied);
      bring(tied, key, block);
      again(undefined);
    },
    pageFrom(key, by) {
      const { heights } = list;
      const from = heights.indexOf(key);
      const page = Math.max(56, (box.current?.clientHeight ?? 0) - 56);
      if (from < 0) return null;
      const to = heights.at(heights.top(from) + by * page);
      return heights.key(to === from ? Math.max(0, from + by) : to);
    },
  };
}

interface Tools {
  readonly box: RefObject<HTMLDivElement>;
  readonly element: RefObject<HTMLDivElement>;
  readonly after: RefObject<HTMLDivElement>;
  readonly list: List;
  readonly pages: Pages;
  readonly again: () => void;
  readonly newest: () => { readonly room: Room; readonly rows: readonly Row[] };
  /** The box is so wide; whether that is news. */
  readonly width: (px: number) => boolean;
}

/** Rows with guesses of their heights; `width` of the box, px, 0 where it is not known. */
function sourceOf(rows: readonly Row[], width: number): Rows {
  const isNarrow = width > 0 && width < narrowPx;
  const units = Math.max(12, ((width || 600) - 92 - (isNarrow ? 0 : 160)) / letterPx);
  const estimate = (row: Row | undefined): number => {
    if (row === undefined || row.kind === "day") return 36;
    const lines = "text" in row ? Math.max(1, Math.ceil(row.text.length / units)) : 1;
    const quote = "quote" in row && row.quote !== null ? 24 : 0;
    const below = row.kind === "agent" || (isNarrow && row.kind === "person") ? 20 : 0;
    return 36 + lines * 20 + quote + below;
  };
  return {
    length: rows.length,
    key: (index) => rows[index]?.key ?? "",
    estimate: (index) => estimate(rows[index]),
  };
}

/** Measures what was drawn and puts everything where it belongs, before it is painted. */
function settle({ box: { current: box }, element, list, again }: Tools): void {
  const { current: rows } = element;
  if (box === null || rows === null || box.clientHeight === 0) return;
  const { heights, range } = list;
  const pad = (px: number) => {
    rows.style.paddingTop = `${px}px`;
    rows.style.paddingBottom = `${Math.max(0, heights.total - heights.top(range.last))}px`;
  };
  // An estimate, so that the box is not too short for its position while rows are measured.
  pad(Math.max(0, list.topOf(range.first)));
  let isNews = false;
  for (const row of rows.children) {
    const { key = "", apart } = (row as HTMLElement).dataset;
    if (apart !== undefined) continue;
    isNews = heights.note(key, row.getBoundingClientRect().height) || isNews;
  }
  const places = { top: box.scrollTop, listTop: rows.offsetTop };
  list.settle(box, { ...places, pad, now: performance.now() });
  if (isNews && list.look()) again();
}

/**
 * Takes note of where the box was scrolled to; whether it follows the end now and did not before, or
 * the other way round. `anyway`: even where it is as it was left.
 */
function catchUp({ box, element, list, newest, pages }: Tools, anyway = false): boolean {
  const { current } = box;
  if (current === null || element.current === null || current.clientHeight === 0) return false;
  if (!anyway && !list.isMoved(current)) return false;
  const { room, rows } = newest();
  const isEnd = room.newer === null;
  const turned = list.scrolled(current, element.current.offsetTop, isEnd, performance.now());
  pages.reader.current = list.follows ? null : seqOf(rows, list.anchor, list);
  return turned;
}

/** Near an end of what is kept the page beyond it is asked for. */
function lookAtEdges({ list, newest, pages, box }: Tools): void {
  const { room } = newest();
  const windowPx = box.current?.clientHeight ?? 0;
  if (windowPx === 0) return;
  const { viewTop, heights, follows } = list;
  // A reader at the end is near the beginning only in a short list.
  const isNear = follows ? heights.total < windowPx : viewTop < edgePx;
  if (room.older !== null && isNear) void pages.older();
  const below = heights.total - viewTop - windowPx;
  if (room.newer !== null && below < edgePx) void pages.newer();
}

/** Brings a row into the window, if it is not in it. */
function bring({ box: { current: box }, list }: Tools, key: string, block: "nearest" | "center") {
  const { heights } = list;
  const index = heights.indexOf(key);
  if (box === null || index < 0) return;
  const { clientHeight } = box;
  const px = heights.top(index) - list.viewTop;
  const height = heights.top(index + 1) - heights.top(index);
  if (block === "center") return list.goTo(key, Math.max(8, (clientHeight - height) / 2));
  if (px < 0) list.goTo(key, 8);
  else if (px + height > clientHeight) list.goTo(key, Math.max(0, clientHeight - height - 8));
}

const rowIn = ({ element }: Tools, key: string): HTMLElement | null =>
  element.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null;

/** Listens to the box; the answer ends it. */
function tie(tools: Tools): () => void {
  const { box, element, after, list, again } = tools;
  const { current } = box;
  if (current === null) return () => undefined;
  let still = 0;
  const restIn = (ms: number) => {
    clearTimeout(still);
    still = window.setTimeout(rested, ms);
  };
  const scrolled = () => {
    restIn(stillMs);
    const turned = catchUp(tools, true);
    if (list.look() || turned) again();
    lookAtEdges(tools);
  };
  // In a paint of its own: together with a movement it would be taken for a jump of the lines.
  const ended = () => restIn(endedMs);
  const rested = () => {
    // If it was scrolled again, an event follows in a moment.
    if (list.isMoved(current)) return;
    list.rest();
    settle(tools);
  };
  const resized = new ResizeObserver(() => {
    if (current.clientHeight === 0) return;
    if (catchUp(tools)) again();
    if (tools.width(current.clientWidth)) again();
    else settle(tools);
    if (list.look()) again();
  });
  const selected = () => {
    list.held = heldIn(element.current);
    if (list.look()) again();
  };
  resized.observe(current);
  if (after.current !== null) resized.observe(after.current);
  current.addEventListener("scroll", scrolled, { passive: true });
  current.addEventListener("scrollend", ended, { passive: true });
  document.addEventListener("selectionchange", selected);
  return () => {
    clearTimeout(still);
    resized.disconnect();
    current.removeEventListener("scroll", scrolled);
    current.removeEventListener("scrollend", ended);
    document.removeEventListener("selectionchange", selected);
  };
}

/** The journal number of the row at the upper edge, or of the line after it. */
function seqOf(rows: readonly Row[], anchor: Anchor | null, { heights }: List): number | null {
  const from = anchor === null ? -1 : heights.indexOf(anchor.key);
  for (let index = Math.max(0, from); index < rows.length; index += 1) {
    const row = rows[index];
    if (row !== undefined && row.kind !== "day") return row.entry.seq;
  }
  return null;
}

/** The rows between which text is selected; null: none is. */
function heldIn(list: HTMLElement | null): readonly [string, string] | null {
  const selection = document.getSelection();
  if (list === null || selection === null || selection.isCollapsed) return null;
  const keyOf = (node: Node | null): string | null => {
    const near = node instanceof HTMLElement ? node : (node?.parentElement ?? null);
    const row = near?.closest<HTMLElement>("[data-key]") ?? null;
    return row !== null && list.contains(row) ? (row.dataset.key ?? null) : null;
  };
  const [from, to] = [keyOf(selection.anchorNode), keyOf(selection.focusNode)];
  return from === null || to === null ? null : [from, to];
}
