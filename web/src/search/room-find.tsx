/**
 * Find in a room
 * ==============
 * A field in the bar of the Room page. Enter goes to the next older message that fits, Shift+Enter
 * to the next newer one, loaded or not.
 */
import type { RefObject } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FoundView, SearchAnswer } from "../../../src/daemon/api-types/search.ts";
import { ask, newestOnly } from "../lib/api.ts";
import { amount } from "../lib/format.ts";
import { Icon } from "../ui/icons.tsx";
import { useFoundMarks } from "./found-marks.ts";
import { searchHref } from "./model.ts";
import "../styles/search.css";

interface RoomFindProps {
  readonly token: string;
  readonly roomKey: string;
  readonly box: RefObject<HTMLInputElement>;
  /** Journal number of the message that the page was opened at. */
  readonly at: number | null;
  readonly onGo: (found: FoundView, text: string) => void;
}

const typingMs = 200;
const foundMax = 200;
const textUnitsMax = 1_000;

/** What the address says was looked for: here (`find`), or on the Search page (`mark`). */
const inAddress = (name: "find" | "mark"): string =>
  new URLSearchParams(location.search).get(name) ?? "";

export function RoomFind({ token, roomKey, box, at, onGo }: RoomFindProps) {
  const [text, setText] = useState(() => inAddress("find") || inAddress("mark"));
  useFoundMarks(text);
  const [answer, setAnswer] = useState<{ text: string; said: SearchAnswer } | null>(null);
  const [place, setPlace] = useState(-1);
  const asking = useMemo(
    () =>
      newestOnly(async (words: string, signal) => {
        const params = new URLSearchParams({ room: roomKey, text: words, limit: `${foundMax}` });
        return (await ask(`/api/search?${params}`, { token, signal })) as SearchAnswer;
      }),
    [token, roomKey],
  );
  useEffect(() => {
    if (text.trim() === "") return asking.cancel();
    const timer = setTimeout(() => {
      asking.ask(text.slice(0, textUnitsMax)).then(
        (said) => {
          if (said === null) return;
          setAnswer({ text, said });
          setPlace(said.found.findIndex(({ seq }) => seq === at));
        },
        () => setAnswer(null),
      );
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text, asking]);
  useEffect(() => {
    if (inAddress("find") !== "") box.current?.focus();
    return () => asking.cancel();
  }, []);
  const shown = answer?.text === text && text.trim() !== "" ? answer.said : null;
  const found = shown?.found ?? [];
  const go = (by: 1 | -1) => {
    if (found.length === 0) return;
    const next = place < 0 ? 0 : (place + by + found.length) % found.length;
    setPlace(next);
    const to = found[next];
    if (to !== undefined) onGo(to, text);
  };
  return (
    <search class="room-find">
      <label class="field">
        <Icon name="find" size={14} />
        <input
          ref={box}
          type="text"
          placeholder="Find in this room"
          aria-label="Find in this room"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") {
              event.preventDefault();
              go(event.shiftKey ? -1 : 1);
            }
            if (event.key !== "Escape") return;
            event.stopPropagation();
            if (text === "") event.currentTarget.blur();
            setText("");
          }}
        />
        {shown === null ? (
          <kbd>/</kbd>
        ) : (
          <span class="small muted" role="status">
            {countOf(shown, place)}
          </span>
        )}
      </label>
      {shown !== null && found.length > 0 && (
        <>
          <button type="button" class="btn small" onClick={() => go(1)}>
            Older
          </button>
          <button type="button" class="btn small" onClick={() => go(-1)}>
            Newer
          </button>
          <a class="btn small quiet" href={searchHref({ room: roomKey, text })}>
            List
          </a>
        </>
      )}
    </search>
  );
}

function countOf({ found, next, index }: SearchAnswer, place: number): string {
  if (index.state === "off") return "off";
  if (found.length === 0) return "none";
  const all = `${amount(found.length)}${next === null ? "" : "+"}`;
  return place < 0 ? all : `${place + 1} of ${all}`;
}
