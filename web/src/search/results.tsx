/** Found messages, grouped by room, each a link to its place there. */
import type { FoundView } from "../../../src/daemon/api-types/search.ts";
import { roomHref } from "../lib/route.ts";
import { clockTime, shownName, shownText } from "../lib/sanitize.ts";
import { Chip, Face } from "../ui/chip.tsx";
import { type Group, outcomeWords, piecesOf } from "./model.ts";

const dayWords = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const bad: readonly (string | null)[] = ["failed", "undelivered", "in-doubt", "partly", "expired"];

interface ResultsProps {
  readonly groups: readonly Group[];
  /** What was looked for: marked in the room. */
  readonly text: string;
}

export function Results({ groups, text }: ResultsProps) {
  return (
    <>
      {groups.map(({ key, room, found }) => (
        <section class="panel found-room" key={found[0]?.entry}>
          <header>
            <h2 class="cut">
              {key === "" ? (
                <bdi>{shownName(room)}</bdi>
              ) : (
                <a href={roomHref(key)}>
                  <bdi>{shownName(room)}</bdi>
                </a>
              )}
            </h2>
            {key === "" && <span class="end">no conversation heard it</span>}
          </header>
          <ol>
            {found.map((one) => (
              <li key={one.entry}>
                {key === "" ? (
                  <div class="found">{<Found one={one} />}</div>
                ) : (
                  <a class="found" href={hrefOf(one, text)}>
                    <Found one={one} />
                  </a>
                )}
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function hrefOf({ key, id, kind, seq }: FoundView, text: string): string {
  const href = roomHref(key, kind === "said" ? undefined : id, seq);
  return text.trim() === "" ? href : `${href}&mark=${encodeURIComponent(text)}`;
}

function Found({ one }: { readonly one: FoundView }) {
  const { author, kind, at, decision, rule, outcome } = one;
  const face = kind === "said" ? "agent" : author.isBot ? "bot" : "person";
  return (
    <>
      <Face name={author.name} kind={face} />
      <span class="found-body">
        <span class="who">
          <bdi class="cut">{shownName(author.name)}</bdi>
          {face !== "person" && <span class="tag">{face}</span>}
          <time dateTime={new Date(at).toISOString()}>{whenOf(at)}</time>
          {kind === "history" && <span class="small muted">from history</span>}
        </span>
        <bdi class="text">
          {piecesOf(one).map((piece, index) =>
            piece.found ? <mark key={index}>{shownText(piece.text)}</mark> : shownText(piece.text),
          )}
        </bdi>
      </span>
      <span class="found-facts">
        {decision !== null && rule !== null && <Chip decision={decision} rule={rule} />}
        {outcome !== null && (
          <span class={bad.includes(outcome) ? "outcome bad" : "outcome"}>
            {outcomeWords[outcome]}
          </span>
        )}
      </span>
    </>
  );
}

function whenOf(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? clockTime(at) : `${dayWords.format(at)}, ${clockTime(at)}`;
}
