/**
 * The list
 * ========
 * Fixed heights make positions arithmetic: only the rows in the window and eight on each side are
 * there, each where its number puts it, recycled by key. A row that has the focus stays, wherever
 * the window goes.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RoomRow } from "../../../src/daemon/rooms.types.ts";
import { useKeys } from "../keys.ts";
import { Row } from "./row.tsx";

const rowPx = 64;
const cardPx = 112;
const around = 8;
const small = "(max-width: 699px)";

interface ListProps {
  readonly rows: readonly RoomRow[];
  readonly second: number;
  readonly nameOf: (channel: string) => string;
  readonly hold: (on: boolean) => void;
  readonly children?: ComponentChildren;
}

/** The row that had the focus last: whoever comes back from a room finds it again. */
let lastFocused: string | null = null;

export function RoomList({ rows, second, nameOf, hold, children }: ListProps) {
  const box = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState(lastFocused);
  const height = useRowHeight();
  const [first, last] = useWindow(box, height, rows.length);
  const focusOn = (key: string) => {
    lastFocused = key;
    setFocused(key);
  };
  const at = focused === null ? -1 : rows.findIndex(({ key }) => key === focused);
  const go = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    const row = rows[index];
    if (row === undefined) return;
    focusOn(row.key);
    reveal(box.current, index * height, height);
    requestAnimationFrame(() => linkOf(box.current, row.key)?.focus({ preventScroll: true }));
  };
  useEffect(() => {
    if (at >= 0) go(at);
  }, []);
  const next = () => go(at + 1);
  const previous = () => go(at < 0 ? 0 : at - 1);
  useKeys({ j: next, ArrowDown: next, k: previous, ArrowUp: previous, Escape: () => leave() });
  const held = useHeld(hold);
  const from = Math.max(0, first - around);
  const shown = rows.slice(from, last + around).map((row, index) => ({ row, index: from + index }));
  const kept = at >= 0 && (at < from || at >= last + around) ? rows[at] : undefined;
  if (kept !== undefined) shown.push({ row: kept, index: at });
  const tabbable = at >= 0 ? at : Math.max(first, 0);
  return (
    <section class="panel rooms" aria-label="Rooms" {...held}>
      {children}
      <div class="rooms-head" aria-hidden="true">
        <span>Room</span>
        <span>State</span>
        <span>Who is there</span>
        <span>Decisions</span>
        <span>Last message</span>
        <span>Credits, queue</span>
        <span class="num">Heard</span>
      </div>
      <ul ref={box} style={{ height: `${rows.length * height}px` }}>
        {shown.map(({ row, index }) => (
          <li
            key={row.key}
            style={{ transform: `translateY(${index * height}px)` }}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            onFocusCapture={() => focusOn(row.key)}
          >
            <Row row={row} second={second} nameOf={nameOf} tabbable={index === tabbable} />
          </li>
        ))}
      </ul>
    </section>
  );
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

/** Numbers of the first row in the window and of the one behind the last. */
function useWindow(
  box: { readonly current: HTMLElement | null },
  height: number,
  count: number,
): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 20]);
  const look = () => {
    if (box.current === null) return;
    const above = -box.current.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / height));
    const last = Math.max(0, Math.ceil((above + innerHeight) / height));
    setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
  };
  useLayoutEffect(look, [height, count]);
  useEffect(() => {
    let asked = 0;
    const soon = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        look();
      });
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [height]);
  return range;
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
