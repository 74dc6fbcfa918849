/**
 * Rooms
 * =====
 * Every conversation the agent can hear: its people, state and last decision. One stream feeds it;
 * ages and countdowns continue by themselves.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import type { RoomRow, RoomsPageAnswer } from "../../../src/daemon/api-types/rooms.ts";
import { Acts, actsOf } from "../health/actions.tsx";
import { useNeeds } from "../health/use-needs.ts";
import { ask, newestOnly } from "../lib/api.ts";
import { useChannelNames } from "../lib/channel-names.ts";
import { amount } from "../lib/format.ts";
import { useKeys } from "../lib/keys.ts";
import type { PageProps } from "../lib/page-props.ts";
import { Activity } from "../room-list/activity-bars.tsx";
import { RoomList } from "../room-list/list.tsx";
import { type Filter, filters, placesOf } from "../room-list/model.ts";
import { useRooms } from "../room-list/use-rooms.ts";
import { searchHref } from "../search/model.ts";
import { Icon } from "../ui/icons.tsx";
import { NoCopy, useNoCopy } from "../ui/no-copy.tsx";
import "../styles/rooms.css";

const titles: Readonly<Record<Filter, string>> = {
  all: "All",
  engaged: "Engaged",
  guarded: "Guarded",
  direct: "Direct",
};

const findUnitsMax = 200;
const refusedShownMax = 5;
const ignore = () => undefined;
const nowhere = () => null;

export function RoomsPage({ token, onLink }: PageProps) {
  const { model, stale, hold, sort, see, choose } = useRooms({ token, onLink });
  const [filter, chooseFilter] = useState<Filter>("all");
  const [find, setWords] = useState("");
  const setFind = (words: string) => {
    setWords(words);
    choose({ find: words.slice(0, findUnitsMax) });
  };
  const setFilter = (name: Filter) => {
    chooseFilter(name);
    choose({ filter: name });
  };
  const box = useRef<HTMLInputElement>(null);
  const found = useSearch(token, find);
  const nameOf = useChannelNames(token);
  useKeys({ "/": () => box.current?.focus() });
  const searched = useMemo(() => (found.rows === null ? null : placesOf(found.rows)), [found.rows]);
  const places = searched ?? model;
  const second = Math.floor((Date.now() + model.ahead) / 1_000);
  const { live: awake, asleep } = model.counts;
  const showFresh = () => {
    sort();
    scrollTo({ top: 0 });
  };
  return (
    <main id="main" class={`page${stale ? " stale" : ""}`} tabIndex={-1}>
      <div class="head">
        <h1>Rooms</h1>
        <span class="sub">
          {model.ready ? `${amount(awake)} live, ${amount(asleep)} asleep` : ""}
        </span>
        <span class="grow" />
        <a class="btn" href={searchHref({ text: find.trim() })}>
          Search messages
        </a>
        <FilterSwitch filter={filter} counts={model.filters} onFilter={setFilter} />
        <label class="field find">
          <Icon name="find" size={14} />
          <input
            ref={box}
            type="text"
            placeholder="Room, person or rule"
            aria-label="Find a room"
            value={find}
            onInput={(event) => setFind(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") found.search();
              if (event.key !== "Escape") return;
              if (find === "") event.currentTarget.blur();
              setFind("");
            }}
          />
          <kbd>/</kbd>
        </label>
      </div>
      <Activity activity={model.activity} />
      {places.total > 0 && (
        <RoomList
          places={places}
          second={second}
          nameOf={nameOf}
          hold={hold}
          see={searched === null ? see : ignore}
          begin={searched === null ? () => model.begin() : nowhere}
        >
          {model.fresh > 0 && found.rows === null && (
            <div class="fresh">
              <button type="button" class="btn small" onClick={showFresh}>
                {model.fresh === 1 ? "1 new room" : `${amount(model.fresh)} new rooms`}
              </button>
            </div>
          )}
        </RoomList>
      )}
      {places.total === 0 && model.ready && (
        <section class="panel">
          {filter === "all" && find === "" ? (
            <NoRoom token={token} />
          ) : (
            <NoMatch find={find} filter={filter} asleep={asleep} searched={found.rows !== null} />
          )}
        </section>
      )}
    </main>
  );
}

interface FilterSwitchProps {
  readonly filter: Filter;
  readonly counts: Readonly<Record<Filter, number>>;
  readonly onFilter: (filter: Filter) => void;
}

function FilterSwitch({ filter, counts, onFilter }: FilterSwitchProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip
    <div class="seg" role="group" aria-label="Show">
      {filters.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={filter === name}
          onClick={() => onFilter(name)}
        >
          {titles[name]}
          <span class="n">{amount(counts[name])}</span>
        </button>
      ))}
    </div>
  );
}

/** Nobody has written where the agent can hear. */
function NoRoom({ token }: { readonly token: string }) {
  const { needs } = useNeeds(token, true);
  const why = useNoCopy(token);
  const refused = needs.flatMap((need) => (need.kind === "refused" ? [need] : []));
  if (why !== null) return <NoCopy why={why} />;
  if (refused.length > 0) return <OnlyRefused needs={refused} token={token} />;
  return (
    <div class="empty">
      <h2>No rooms yet</h2>
      <p>
        A room appears here as soon as someone writes in it. You can try the rules without an
        account.
      </p>
      <div class="acts">
        <a class="btn primary" href="/setup">
          Set up an agent
        </a>
        <a class="btn" href="/chat">
          Open the simulator
        </a>
      </div>
      <p class="small muted">
        Or run <code>earshot init</code> in a terminal.
      </p>
    </div>
  );
}

type RefusedNeed = Extract<Need, { kind: "refused" }>;

/** Messages arrive, but access policy refuses all of them. */
function OnlyRefused({ needs, token }: { needs: readonly RefusedNeed[]; token: string }) {
  const groups = needs.filter(({ what }) => what === "group").length;
  const people = needs.length - groups;
  const named = [
    ...(groups === 0 ? [] : [groups === 1 ? "1 group" : `${groups} groups`]),
    ...(people === 0 ? [] : [people === 1 ? "1 person" : `${people} people`]),
  ].join(" and ");
  return (
    <div class="empty">
      <h2>No rooms yet</h2>
      <p>
        Messages arrive, but {named} {needs.length === 1 ? "is" : "are"} not allowed yet.
      </p>
      {needs.slice(0, refusedShownMax).map(({ id, room, name, at, acts }) => (
        <div key={id} class="acts">
          <bdi>{name ?? room}</bdi>
          <Acts acts={actsOf({ id, acts })} token={token} version={at} />
        </div>
      ))}
      <p class="small muted">
        <a href="/health">Health</a> lists everything that needs you.
      </p>
    </div>
  );
}

interface NoMatchProps {
  readonly find: string;
  readonly filter: Filter;
  readonly asleep: number;
  /** The sleepers were searched, too. */
  readonly searched: boolean;
}

function NoMatch({ find, filter, asleep, searched }: NoMatchProps) {
  const what = find.trim() === "" ? `the filter “${titles[filter]}”` : `“${find.trim()}”`;
  const sleepers = `${amount(asleep)} ${asleep === 1 ? "room is" : "rooms are"} asleep`;
  return (
    <div class="empty">
      <h2>No matching rooms</h2>
      <p>
        {searched ? `No live or sleeping room matches ${what}. ` : `No live room matches ${what}. `}
        {!searched && find.trim() !== "" && asleep > 0
          ? `${sleepers}. Press Enter to search them too.`
          : ""}
      </p>
    </div>
  );
}

interface Search {
  /** What Enter found; null: nothing was searched for these words. */
  readonly rows: readonly RoomRow[] | null;
  readonly search: () => void;
}

/** Asks the daemon for rooms, also those that sleep. Other words end the search. */
function useSearch(token: string, find: string): Search {
  const [found, setFound] = useState<{ find: string; rows: readonly RoomRow[] } | null>(null);
  const asking = useMemo(
    () =>
      newestOnly(async (words: string, signal) => {
        const path = `/api/rooms?limit=1000&find=${encodeURIComponent(words.slice(0, findUnitsMax))}`;
        return (await ask(path, { token, signal })) as RoomsPageAnswer;
      }),
    [token],
  );
  useEffect(() => () => asking.cancel(), [asking]);
  const search = () => {
    if (find.trim() === "") return;
    asking.ask(find).then(
      (answer) => answer !== null && setFound({ find, rows: answer.rooms }),
      () => setFound({ find, rows: [] }),
    );
  };
  return { rows: found?.find === find ? found.rows : null, search };
}
