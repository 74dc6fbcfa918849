/**
 * Search
 * ======
 * Messages of all rooms, or of one, by text and facts. The address has the search.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { amount } from "../lib/format.ts";
import { useKeys } from "../lib/keys.ts";
import type { PageProps } from "../lib/page-props.ts";
import { shownName } from "../lib/sanitize.ts";
import { Filters } from "../search/filters.tsx";
import { groupsOf, type Sought, searchHref, soughtIn } from "../search/model.ts";
import { Results } from "../search/results.tsx";
import { type Answer, useSearch } from "../search/use-search.ts";
import "../styles/search.css";

export function SearchPage({ token, onLink }: PageProps) {
  const [sought, setSought] = useState(() => soughtIn(location.search));
  const box = useRef<HTMLInputElement>(null);
  const { answer, problem, busy, more, again } = useSearch({ token, onLink }, sought);
  const change = (part: Partial<Sought>) => {
    const next = { ...sought, ...part };
    setSought(next);
    history.replaceState(null, "", searchHref(next));
  };
  useEffect(() => {
    const look = () => setSought(soughtIn(location.search));
    addEventListener("popstate", look);
    if (soughtIn(location.search).text === "") box.current?.focus();
    return () => removeEventListener("popstate", look);
  }, []);
  useKeys({ "/": () => box.current?.select(), j: () => step(1), k: () => step(-1) });
  const groups = useMemo(() => groupsOf(answer?.found ?? []), [answer]);
  const { found = [], next = null } = answer ?? {};
  const isOff = answer?.index.state === "off";
  return (
    <main id="main" class="page search-page" tabIndex={-1} aria-busy={busy}>
      <div class="head">
        <h1>Search</h1>
        {sought.room !== "" && (
          <span class="in-room">
            <span class="cut">
              in <bdi>{shownName(found[0]?.room ?? sought.room)}</bdi>
            </span>
            <button type="button" class="btn quiet small" onClick={() => change({ room: "" })}>
              All rooms
            </button>
          </span>
        )}
      </div>
      {!isOff && <Filters sought={sought} box={box} onChange={change} />}
      <p class="small muted search-note" role="status">
        {noteOf(answer, problem)}
      </p>
      {problem !== null && (
        <section class="panel">
          <div class="empty">
            <h2>Search is not responding</h2>
            <p>{problem}</p>
            <div class="acts">
              <button type="button" class="btn" onClick={again}>
                Try again
              </button>
            </div>
          </div>
        </section>
      )}
      {problem === null && answer !== null && found.length === 0 && <Nothing answer={answer} />}
      {problem === null && <Results groups={groups} text={sought.text} />}
      {problem === null && next !== null && (
        <button type="button" class="btn older" onClick={more} disabled={busy}>
          Older messages
        </button>
      )}
    </main>
  );
}

/** To the next or previous message of the list. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>("a.found")];
  const at = links.findIndex((link) => link.matches(":focus"));
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.focus();
}

/** The answer in a few words, also for a screen reader. */
function noteOf(answer: Answer | null, problem: string | null): string {
  if (answer === null || problem !== null) return "";
  const { found, next, index, lookedAt } = answer;
  const { state, done, total } = index;
  const count = found.length === 1 ? "1 message" : `${amount(found.length)} messages`;
  return [
    ...(found.length === 0 ? [] : [next === null ? count : `The newest ${count}`]),
    ...(state === "building"
      ? [`Building the index: ${amount(done)} of ${amount(total)} journal rows`]
      : []),
    ...(lookedAt === null
      ? []
      : [`Without full-text search, only the newest ${amount(lookedAt)} messages were searched`]),
  ].join(". ");
}

function Nothing({ answer }: { readonly answer: Answer }) {
  const { state, problem } = answer.index;
  const [title, text] =
    state === "off"
      ? [
          "Search is off",
          "Set search.enabled to true in Settings. The index is then built from the journal.",
        ]
      : state === "failed"
        ? ["Search is not working", `${problem ?? ""} It is retried automatically.`]
        : state === "building"
          ? ["Nothing found yet", "The index is still being built. This page updates by itself."]
          : [
              "No matching messages",
              "Try fewer words or filters. Only messages that are still in the journal can be " +
                "found.",
            ];
  return (
    <section class="panel">
      <div class="empty">
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
    </section>
  );
}
