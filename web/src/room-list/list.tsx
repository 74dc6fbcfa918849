/**
 * The list
 * ========
 * Rows have a fixed height, so positions are arithmetic: only the rows in the window and some on
 * each side are in the document, recycled by key. Scrolling reads only the offset; the start of the
 * list is measured when the layout could have changed. A row that the daemon has not sent yet is an
 * empty one of the same height, and a focused row stays in the document wherever the window goes.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RoomRow } from "../../../src/daemon/api-types/rooms.ts";
import { useKeys } from "../lib/keys.ts";
import type { Places } from "./model.ts";
import { Row } from "./row.tsx";

const rowPx = 64;
const cardPx = 112;
const around = 8;
/** The window moves by so many rows, so that most frames of a scroll render nothing. */
const step = 4;
const small = "(max-width: 699px)";

interface ListProps {
  readonly places: Places;
  readonly second: number;
  readonly nameOf: (channel: string) => string;
  readonly hold: (on: boolean) => void;
  /** These places are in the window. */
  readonly see: (first: number, last: number) => void;
  /** Place of the row to start at, used once; null: the top, or it was used. */
  readonly begin: () => number | null;
  readonly children?: ComponentChildren;
}

/** The row that had the focus last, for the way back from a room. */
interface Focused {
  readonly row: RoomRow;
  readonly place: number;
}
let focusedLast: Focused | null = null;
/** Its key. */
export const lastFocused = (): string | null => focusedLast?.row.key ?? null;

export function RoomList({ places, second, nameOf, hold, see, begin, children }: ListProps) {
  const box = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState(focusedLast);
  /** A row that is to have the focus once it is there. */
  const wanted = useRef<number | null>(null);
  const height = useRowHeight();
  const { total } = places;
  const [first, last] = useWindow(box, height, total);
  useRestoredFocus(box);
  const focusOn = (row: RoomRow, place: number) => {
    focusedLast = { row, place };
    setFocused(focusedLast);
  };
  const from = Math.max(0, first - around);
  const shown = rowsBetween(places, from, Math.min(total, last + around));
  keepFocused(shown, places, focused);
  const there = focused === null ? null : places.placeOf(focused.row.key);
  const tabbable = there ?? first;
  const go = (to: number) => {
    const place = Math.max(0, Math.min(total - 1, to));
    wanted.current = place;
    reveal(box.current, place * height, height);
    const row = places.rowAt(place);
    if (row !== undefined) focusOn(row, place);
  };
  useLayoutEffect(() => {
    const at = begin();
    if (at !== null) go(at);
  });
  useLayoutEffect(() => {
    const to = wanted.current;
    // On the way to another place nobody looks here.
    if (to === null || (to >= first && to < last)) see(first, last);
  }, [first, last]);
  useEffect(() => {
    const row = wanted.current === null ? undefined : places.rowAt(wanted.current);
    const link = row === undefined ? null : linkOf(box.current, row.key);
    if (link === null || link === undefined) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });
  const unseen = focused !== null && places.rowAt(focused.place) === undefined;
  const here = there ?? (unseen ? focused.place : -1);
  const next = () => go((wanted.current ?? here) + 1);
  const previous = () => go(Math.max(0, (wanted.current ?? here) - 1));
  useKeys({ j: next, ArrowDown: next, k: previous, ArrowUp: previous, Escape: () => leave() });
  const held = useHeld(hold);
  return (
    <section class="panel rooms" aria-label="Rooms" {...held}>
      {children}
      <div class="rooms-head" aria-hidden="true">
        <span>Room</span>
        <span>State</span>
        <span>People</span>
        <span>Decisions</span>
        <span>Last message</span>
        <span>Credits, queue</span>
        <span class="num">Heard</span>
      </div>
      <ul ref={box} style={{ height: `${total * height}px` }}>
        {shown.map(({ row, place }) =>
          row === undefined ? (
            <li
              key={`place ${place}`}
              style={{ transform: `translateY(${place * height}px)` }}
              aria-hidden="true"
            >
              <div class="room" />
            </li>
          ) : (
            <li
              key={row.key}
              style={{ transform: `translateY(${place * height}px)` }}
              aria-setsize={total}
              aria-posinset={place + 1}
              onFocusCapture={() => focusOn(row, place)}
            >
              <Row row={row} second={second} nameOf={nameOf} tabbable={place === tabbable} />
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

interface Shown {
  readonly row: RoomRow | undefined;
  readonly place: number;
}

function rowsBetween(places: Places, from: number, to: number): Shown[] {
  const shown: Shown[] = [];
  for (let place = from; place < to; place += 1) shown.push({ row: places.rowAt(place), place });
  return shown;
}

/** Draws the row with the focus, too, where it is out of the window or not known just now. */
function keepFocused(shown: Shown[], places: Places, focused: Focused | null): void {
  if (focused === null || shown.some(({ row }) => row?.key === focused.row.key)) return;
  const place = places.placeOf(focused.row.key) ?? focused.place;
  const there = places.rowAt(place);
  if (place >= places.total || (there !== undefined && there.key !== focused.row.key)) return;
  const kept = { row: there ?? focused.row, place };
  const index = shown.findIndex((item) => item.place >= place);
  if (index === -1) shown.push(kept);
  else shown.splice(index, shown[index]?.place === place ? 1 : 0, kept);
}

const leave = () => {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
};
const linkOf = (box: HTMLElement | null, key: string) =>
  box?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);

/** Scrolls a row into the window, below the bar. */
function reveal(box: HTMLElement | null, top: number, height: number): void {
  if (box === null) return;
  const bar = document.querySelector(".bar")?.clientHeight ?? 0;
  const y = box.getBoundingClientRect().top + top;
  if (y < bar + 8) scrollBy({ top: y - bar - 8 });
  else if (y + height > innerHeight) scrollBy({ top: y + height - innerHeight + 8 });
}

function useRowHeight(): number {
  const [height, setHeight] = useState(() => (matchMedia(small).matches ? cardPx : rowPx));
  useEffect(() => {
    const query = matchMedia(small);
    const look = () => setHeight(query.matches ? cardPx : rowPx);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return height;
}

/** Places of the first row in the window and of the one behind the last, in steps. */
function useWindow(
  box: { readonly current: HTMLElement | null },
  height: number,
  count: number,
): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 20]);
  /** Where the list begins in the document, and how tall the window is. */
  const measured = useRef({ top: 0, tall: 0 });
  const look = () => {
    const { top, tall } = measured.current;
    const above = scrollY - top;
    const inSteps = (rows: number) => Math.max(0, rows * step);
    const first = inSteps(Math.floor(above / height / step));
    const last = inSteps(Math.ceil((above + tall) / height / step));
    setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
  };
  const measure = () => {
    if (box.current === null) return;
    measured.current = {
      top: box.current.getBoundingClientRect().top + scrollY,
      tall: innerHeight,
    };
    look();
  };
  useLayoutEffect(measure, [height, count]);
  useEffect(() => {
    let asked = 0;
    const soon = (work: () => void) => () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        work();
      });
    };
    const [scrolled, resized] = [soon(look), soon(measure)];
    const watch = new ResizeObserver(resized);
    watch.observe(document.body);
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", resized);
    return () => {
      cancelAnimationFrame(asked);
      watch.disconnect();
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", resized);
    };
  }, [height]);
  return range;
}

/** An element that is moved among its neighbours loses the focus; it is given back at once. */
function useRestoredFocus(box: { readonly current: HTMLElement | null }): void {
  const active = document.activeElement;
  const held = active instanceof HTMLElement && box.current?.contains(active) ? active : null;
  useLayoutEffect(() => {
    if (held?.isConnected && document.activeElement !== held) held.focus({ preventScroll: true });
  });
}

/** Whether the pointer or the focus is in the list. */
function useHeld(hold: (on: boolean) => void) {
  const by = useRef({ pointer: false, focus: false });
  useEffect(() => () => hold(false), []);
  const note = (which: "pointer" | "focus", on: boolean) => () => {
    by.current[which] = on;
    hold(by.current.pointer || by.current.focus);
  };
  return {
    onPointerEnter: note("pointer", true),
    onPointerLeave: note("pointer", false),
    onFocusIn: note("focus", true),
    onFocusOut: note("focus", false),
  };
}
