/**
 * The transcript of a room
 * ========================
 * A listbox with one tab stop; only the rows near the window are in the document. It follows the
 * newest line only while the reader is near it; other pages load above and below while the selected
 * line keeps its place.
 */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { Jump } from "../ui/jump-to-newest.tsx";
import { usePageKeys } from "./list-keys.ts";
import type { Room } from "./room-reducer.ts";
import { isSilenced } from "./statechart-layout.ts";
import { isLine, messageName, type Row } from "./transcript.ts";
import { Line, Writing } from "./transcript-row.tsx";
import { type Pages, useNow } from "./use-room.ts";
import { type ShownList, useList } from "./use-virtual-list.ts";

interface TranscriptPaneProps {
  readonly room: Room;
  readonly rows: readonly Row[];
  readonly agentName: string;
  /** Names of the messages that the judge of the room is asked about. */
  readonly asked: ReadonlySet<string>;
  readonly selected: string | null;
  /** Whether it opens with the selected line in the middle, not with the newest. */
  readonly atSelected: boolean;
  readonly onSelect: (key: string) => void;
  readonly onOpen: () => void;
  readonly pages: Pages;
  /** Is given the ways about the list. */
  readonly ways: { current: Ways | null };
}

/** Ways to lines, for the keys of the page. */
export type Ways = Pick<ShownList, "toEnd" | "reveal" | "pageFrom">;

export function TranscriptPane(props: TranscriptPaneProps) {
  const { room, rows, selected, onSelect, onOpen, pages, ways } = props;
  const list = useList(rows, room, pages);
  ways.current = list;
  useLayoutEffect(() => {
    if (props.atSelected && selected !== null) list.reveal(selected, "center");
  }, []);
  const days = useMemo(() => rows.flatMap((row, index) => (isLine(row) ? [] : index)), [rows]);
  usePageKeys({ rows, selected, list, onSelect });
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || selected === null) return;
    event.preventDefault();
    onOpen();
  };
  const { older, newer } = room;
  return (
    <section class="col talk-col" aria-label="Transcript">
      <div class="talk-scroll" ref={list.box}>
        <div class="talk">
          <p class="begin" data-older={older === null ? "none" : "some"}>
            {older === null ? "Start of the journal" : "Scroll up to load older messages"}
          </p>
          <div
            ref={list.element}
            class="lines"
            role="listbox"
            aria-label="Messages"
            onKeyDown={keys}
            onFocusIn={(event) => {
              list.focused.current = keyAt(event.target);
            }}
            onFocusOut={() => {
              list.focused.current = null;
            }}
          >
            {rowsIn(props, list, days)}
          </div>
          <div ref={list.after}>
            {newer !== null && <p class="begin">Scroll down to load newer messages</p>}
            {newer === null && <Now room={room} agentName={props.agentName} />}
          </div>
        </div>
        <Jump follow={list} />
      </div>
    </section>
  );
}

const keyAt = (target: EventTarget | null): string | null =>
  (target instanceof Element ? target.closest<HTMLElement>("[data-key]") : null)?.dataset.key ??
  null;

/**
 * The rows in the document, in their order: those in the window, and apart from them the selected
 * one, which is where Tab goes, and the one that has the focus.
 */
function rowsIn(
  props: TranscriptPaneProps,
  list: ShownList,
  days: readonly number[],
): ComponentChildren[] {
  const { rows, selected, room } = props;
  const { first, last } = list;
  const isWhole = room.older === null && room.newer === null;
  const places = isWhole ? rows.length - days.length : -1;
  const pins = new Map(
    [selected, list.focused.current].flatMap((key) => {
      const pin = list.apart(key);
      return pin === null ? [] : [[pin.index, pin.top] as const];
    }),
  );
  const before = [...pins.keys()].filter((index) => index < first);
  const after = [...pins.keys()].filter((index) => index >= last);
  const inside = Array.from({ length: last - first }, (_, n) => first + n);
  const shown = [...before.sort((a, b) => a - b), ...inside, ...after.sort((a, b) => a - b)];
  const isThere = shown.some((index) => rows[index]?.key === selected);
  const tabStop = isThere ? selected : (rows.slice(first, last).findLast(isLine)?.key ?? null);
  return shown.map((index) => {
    const row = rows[index];
    if (row === undefined) return null;
    if (row.kind === "day")
      return <Day key={row.key} id={row.key} at={row.at} session={row.session} />;
    return (
      <Line
        key={row.key}
        row={row}
        agentName={props.agentName}
        asked={row.kind === "person" && props.asked.has(messageName(row.entry))}
        selected={row.key === selected}
        tabbable={row.key === tabStop}
        place={index + 1 - days.filter((day) => day < index).length}
        places={places}
        apartPx={pins.get(index) ?? null}
        onSelect={(key) => (key === selected ? props.onOpen() : props.onSelect(key))}
      />
    );
  });
}

const dayWords = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long" });

interface DayProps {
  readonly id: string;
  readonly at: number;
  readonly session: string | undefined;
}

function Day({ id, at, session }: DayProps) {
  const today = new Date().toDateString() === new Date(at).toDateString();
  return (
    <div class="day" role="presentation" data-key={id}>
      {session ?? (today ? "Today" : dayWords.format(at))}
    </div>
  );
}

/** What the agent is writing now. Ended turns are rows; one that only delivers says nothing new. */
function Now({ room, agentName }: { readonly room: Room; readonly agentName: string }) {
  const now = useNow() + room.ahead;
  const { turn } = room.state;
  if (turn === null || turn.ended || isSilenced(room.state)) return null;
  const text = room.writing?.turnId === turn.turnId ? room.writing.text : "";
  return <Writing agentName={agentName} text={text} forMs={now - turn.since} />;
}
