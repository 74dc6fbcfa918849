/**
 * The transcript of a room
 * ========================
 * A listbox with one tab stop. It follows the newest line only while the reader is near it; older
 * pages load above with the line that is looked at kept in its place.
 */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useFollow } from "../parts/follow.ts";
import { Jump } from "../parts/jump.tsx";
import { Line, Writing } from "./line.tsx";
import type { Row } from "./transcript.ts";
import { isLine } from "./transcript.ts";
import type { Room } from "./use-room.ts";
import { useNow } from "./use-room.ts";

interface TranscriptPaneProps {
  readonly room: Room;
  readonly rows: readonly Row[];
  readonly agentName: string;
  readonly selected: string | null;
  readonly onSelect: (key: string) => void;
  readonly onOpen: () => void;
  readonly loadOlder: () => Promise<void>;
  /** Is given the way to the newest line. */
  readonly toEnd: { current: () => void };
}

/** This near to its beginning the page before is fetched. */
const nearTopPx = 400;

export function TranscriptPane(props: TranscriptPaneProps) {
  const { room, rows, agentName, selected, onSelect, onOpen, loadOlder, toEnd } = props;
  const follow = useFollow(room.arrived);
  const box = follow.ref;
  toEnd.current = follow.toEnd;
  useLayoutEffect(() => follow.toEnd(), []);
  useAnchor(box, room.entries[0]?.seq ?? 0);
  const older = room.older !== null;
  useEffect(() => {
    const element = box.current;
    if (element === null || !older) return;
    const look = () => {
      if (element.scrollTop < nearTopPx) void loadOlder();
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [older, room.older]);
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || selected === null) return;
    event.preventDefault();
    onOpen();
  };
  const tabStop = rows.some(({ key }) => key === selected)
    ? selected
    : (rows.findLast(isLine)?.key ?? null);
  return (
    <section class="col talk-col" aria-label="Transcript">
      <div class="talk-scroll" ref={box}>
        <div class="talk">
          <p class="begin">
            {older ? "Older lines load as you scroll" : "The beginning, as far as the journal goes"}
          </p>
          <div role="listbox" aria-label="Messages as heard" onKeyDown={keys}>
            {rows.map((row) =>
              row.kind === "day" ? (
                <Day key={row.key} at={row.at} />
              ) : (
                <Line
                  key={row.key}
                  row={row}
                  agentName={agentName}
                  selected={row.key === selected}
                  tabbable={row.key === tabStop}
                  onSelect={(key) => (key === selected ? onOpen() : onSelect(key))}
                />
              ),
            )}
          </div>
          <Now room={room} agentName={agentName} />
        </div>
        <Jump follow={follow} />
      </div>
    </section>
  );
}

/** Keeps what is looked at in its place when lines are put above it. */
function useAnchor(box: { readonly current: HTMLDivElement | null }, first: number): void {
  const before = useRef({ first, height: 0, top: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const { first: was, height } = before.current;
    if (was > first && height > 0) element.scrollTop += element.scrollHeight - height;
    before.current = { first, height: element.scrollHeight, top: element.scrollTop };
  });
}

const dayWords = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long" });

function Day({ at }: { readonly at: number }) {
  const today = new Date().toDateString() === new Date(at).toDateString();
  return (
    <div class="day" role="presentation">
      {today ? "Today" : dayWords.format(at)}
    </div>
  );
}

/** What the agent is writing now. Ended turns are rows; one that only delivers says nothing new. */
function Now({ room, agentName }: { readonly room: Room; readonly agentName: string }) {
  const now = useNow() + room.ahead;
  const { turn } = room.state;
  if (turn === null || turn.ended || turn.lock === "skipped") return null;
  const text = room.writing?.turnId === turn.turnId ? room.writing.text : "";
  return <Writing agentName={agentName} text={text} forMs={now - turn.since} />;
}
