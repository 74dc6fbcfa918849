/**
 * What would change: one number first, then how it splits, then each message with its decision
 * before and after, and both explanations of the opened one.
 */
import { useEffect, useState } from "preact/hooks";
import type {
  WhatIfChange,
  WhatIfLadders,
  WhatIfResult,
  WhatIfVerdict,
} from "../../../src/daemon/api-types/what-if.ts";
import { Ladder } from "../explanation/pane.tsx";
import { sentenceOf } from "../explanation/words.ts";
import { ApiError } from "../lib/api.ts";
import { amount } from "../lib/format.ts";
import { clockTime, duration, shownName, shownText } from "../lib/sanitize.ts";
import { Chip } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import { Labelled } from "./labelled.tsx";

export type Filter = "all" | "engage" | "observe" | "other" | "undecided";

interface ResultProps {
  readonly result: WhatIfResult;
  /** A newer try is under way: what is shown is of the one before. */
  readonly stale: boolean;
  readonly ladders: (n: number, signal: AbortSignal) => Promise<WhatIfLadders>;
}

const pageRows = 60;
const messages = (count: number) => `${amount(count)} ${count === 1 ? "message" : "messages"}`;
const rooms = (count: number) => `${amount(count)} ${count === 1 ? "room" : "rooms"}`;

const filterOf = ({ before, after }: WhatIfChange): Filter => {
  if (before.undecided === true || after.undecided === true) return "undecided";
  return before.decision === after.decision
    ? "other"
    : after.decision === "engage"
      ? "engage"
      : after.decision === "observe"
        ? "observe"
        : "other";
};

export function Result({ result, stale, ladders }: ResultProps) {
  const [filter, setFilter] = useState<Filter>("all");
  const [shown, setShown] = useState(pageRows);
  const [open, setOpen] = useState<number | null>(null);
  useEffect(() => {
    setOpen(null);
    setShown(pageRows);
  }, [result]);
  const { changed, otherRule, nowEngage, nowObserve, nowOther, changes, tookMs } = result;
  const { undecided } = result;
  const count = changed + otherRule + undecided;
  if (count === 0)
    return (
      <>
        <div class="empty">
          <h2>Same decisions</h2>
          <p>All {messages(result.messages)} would be decided as before.</p>
        </div>
        <Labelled labelled={result.labelled} />
      </>
    );
  const rows = filter === "all" ? changes : changes.filter((one) => filterOf(one) === filter);
  const others = nowOther + otherRule;
  return (
    <div class={stale ? "stale-result" : ""}>
      <div class="sum">
        <div>
          <h2 class="big">
            {amount(changed)} {changed === 1 ? "decision changes" : "decisions change"}
          </h2>
          <div class="muted">
            of {messages(result.messages)} in {rooms(result.rooms)}
            {otherRule > 0 && `; ${amount(otherRule)} more by another rule`}
            {undecided > 0 && `; ${amount(undecided)} undecided: they need the judge`}
          </div>
        </div>
        <Moves engage={nowEngage} observe={nowObserve} />
      </div>
      <Labelled labelled={result.labelled} />
      <div class="tools-row">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip */}
        <div class="seg" role="group" aria-label="Show">
          <Pick of="all" title="All" count={count} filter={filter} setFilter={setFilter} />
          <Pick
            of="engage"
            title="Now engage"
            count={nowEngage}
            filter={filter}
            setFilter={setFilter}
          />
          <Pick
            of="observe"
            title="Now observe"
            count={nowObserve}
            filter={filter}
            setFilter={setFilter}
          />
          {others > 0 && (
            <Pick of="other" title="Other" count={others} filter={filter} setFilter={setFilter} />
          )}
          {undecided > 0 && (
            <Pick
              of="undecided"
              title="Undecided"
              count={undecided}
              filter={filter}
              setFilter={setFilter}
            />
          )}
        </div>
        <span class="grow" />
        <span class="small muted">replayed in {duration(tookMs)}</span>
      </div>
      <ul class="changes-list">
        {rows.slice(0, shown).map((change) => (
          <Change
            key={`${change.n} ${change.key}`}
            change={change}
            open={open === change.n}
            onOpen={() => setOpen(open === change.n ? null : change.n)}
            ladders={ladders}
          />
        ))}
      </ul>
      {rows.length > shown && (
        <div class="more">
          <button type="button" class="btn quiet small" onClick={() => setShown(shown + 200)}>
            Show {amount(Math.min(200, rows.length - shown))} more
          </button>
        </div>
      )}
      {changes.length < count && (
        <p class="more small muted">The first {amount(changes.length)} are listed.</p>
      )}
    </div>
  );
}

function Moves({ engage, observe }: { readonly engage: number; readonly observe: number }) {
  const most = Math.max(1, engage, observe);
  const bar = (name: "engage" | "observe", title: string, count: number) => (
    <>
      <span class={`badge ${name}-badge`}>
        <Icon name={name} />
        {title}
      </span>
      <svg class={`track ${name}`} aria-hidden="true">
        <rect class="part" width={`${(count / most) * 100}%`} height="8" rx="2" />
      </svg>
      <span class="num">{amount(count)}</span>
    </>
  );
  return (
    <div class="moves">
      {bar("engage", "Now engage", engage)}
      {bar("observe", "Now observe", observe)}
    </div>
  );
}

interface PickProps {
  readonly of: Filter;
  readonly title: string;
  readonly count: number;
  readonly filter: Filter;
  readonly setFilter: (filter: Filter) => void;
}

function Pick({ of, title, count, filter, setFilter }: PickProps) {
  return (
    <button type="button" aria-pressed={filter === of} onClick={() => setFilter(of)}>
      {title}
      <span class="n">{amount(count)}</span>
    </button>
  );
}

interface ChangeProps {
  readonly change: WhatIfChange;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly ladders: ResultProps["ladders"];
}

function Change({ change, open, onOpen, ladders }: ChangeProps) {
  const { at, text, author, room, before, after, n } = change;
  return (
    <li>
      <button type="button" class="change" aria-expanded={open} onClick={onOpen}>
        <span class="small muted">{clockTime(at)}</span>
        <span class="cut">
          <bdi class="text cut">{shownText(text) || "no words"}</bdi>
          <bdi class="where cut">
            {shownName(author)} in {shownName(room)}
          </bdi>
        </span>
        <span class="cut">
          <span class="sr">was </span>
          <VerdictChip verdict={before} />
        </span>
        <svg class="to" width="16" height="16" aria-hidden="true">
          <use href="#i-to" />
        </svg>
        <span class="cut">
          <span class="sr">would be </span>
          <VerdictChip verdict={after} />
        </span>
      </button>
      {open && <Both n={n} before={before} after={after} ladders={ladders} />}
    </li>
  );
}

function VerdictChip({ verdict: { decision, rule, undecided } }: { verdict: WhatIfVerdict }) {
  return (
    <Chip
      decision={decision}
      rule={rule}
      {...(undecided === true ? { title: "undecided", word: "needs the judge" } : {})}
    />
  );
}

function sentenceFor({ decision, rule, undecided }: WhatIfVerdict): string {
  if (undecided === true)
    return "No other rule decides, and the recording has no answer of the judge.";
  if (rule === "judge" && decision === "engage")
    return "No other rule decides, and the judge answers: meant for the agent, so a turn starts.";
  return sentenceOf(rule);
}

interface BothProps {
  readonly n: number;
  readonly before: WhatIfVerdict;
  readonly after: WhatIfVerdict;
  readonly ladders: ResultProps["ladders"];
}

/** Both ladders side by side. */
function Both({ n, before, after, ladders }: BothProps) {
  const [ladderPair, setLadderPair] = useState<WhatIfLadders | null>(null);
  const [note, setNote] = useState("Evaluating both ladders…");
  useEffect(() => {
    const stop = new AbortController();
    ladders(n, stop.signal).then(setLadderPair, (error: unknown) => {
      if (stop.signal.aborted) return;
      setNote(error instanceof ApiError ? error.message : "Cannot reach earshot.");
    });
    return () => stop.abort();
  }, [n]);
  const sides = [
    { title: "Current", verdict: before, why: ladderPair?.before },
    { title: "New", verdict: after, why: ladderPair?.after },
  ];
  return (
    <div class="both">
      {sides.map(({ title, verdict, why }) => (
        <section key={title} aria-label={title}>
          <h3 class="small muted">{title}</h3>
          <div class="answer">
            <div class="top">
              <VerdictChip verdict={verdict} />
            </div>
            <p>{sentenceFor(verdict)}</p>
          </div>
          {why?.explanation ? (
            <Ladder explanation={why.explanation} />
          ) : (
            <p class="muted small">{ladderPair === null ? note : "The ladder was not asked."}</p>
          )}
        </section>
      ))}
    </div>
  );
}
