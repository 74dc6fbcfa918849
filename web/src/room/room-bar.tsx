/**
 * The bar of the Room page: what the room is called, its state, who is there, and what can be done.
 */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { RoomPerson, RoomState } from "../../../src/daemon/api-types/room.ts";
import { bots, people, shownName } from "../lib/sanitize.ts";
import { Face } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import type { Room } from "./room-reducer.ts";
import { stateWord } from "./state-panel.tsx";

/** What a narrow window shows. */
export type Pane = "talk" | "why" | "state";

interface RoomBarProps {
  readonly room?: Room;
  readonly title: string;
  /** As people call it. */
  readonly channel?: string;
  readonly pane?: Pane;
  readonly onPane?: (pane: Pane) => void;
  /** Buttons at its end. */
  readonly children?: ComponentChildren;
}

const panes: readonly (readonly [Pane, string])[] = [
  ["talk", "Transcript"],
  ["why", "Why"],
  ["state", "State"],
];

export function RoomBar({ room, title, channel = "", pane, onPane, children }: RoomBarProps) {
  return (
    <section class="page-bar room-bar" aria-labelledby="page-title">
      <a class="btn quiet icon" href="/" aria-label="All rooms">
        <Icon name="back" size={16} />
      </a>
      <h1 id="page-title" class="cut">
        <bdi>{shownName(title)}</bdi>
      </h1>
      {room !== undefined && (
        <>
          <State state={room.state} />
          <span class="small muted cut hide-s">
            <bdi>{shownName(channel)}</bdi> <bdi class="mono">{shownName(room.view.key)}</bdi>
          </span>
          <span class="grow hide-s" />
          <Faces state={room.state} />
          {children}
          {onPane !== undefined && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip
            <div class="seg" role="group" aria-label="Show">
              {panes.map(([name, word]) => (
                <button
                  key={name}
                  type="button"
                  aria-pressed={pane === name}
                  onClick={() => onPane(name)}
                >
                  {word}
                </button>
              ))}
            </div>
          )}
        </>
      )}
    </section>
  );
}

function State({ state }: { readonly state: RoomState }) {
  const word = stateWord(state.attention);
  return <span class={word === "observing" ? "state" : "state on"}>{word}</span>;
}

const facesShown = 6;

/** Those who spoke lately, each in the place where the face was before: only the others come and go. */
function useSeats(here: readonly RoomPerson[]): readonly RoomPerson[] {
  const seats = useRef<readonly RoomPerson[]>([]);
  const latest = here.slice(0, facesShown);
  const fresh = latest.filter(({ id }) => !seats.current.some((item) => item.id === id));
  const kept = seats.current.flatMap(
    (item) => latest.find(({ id }) => id === item.id) ?? fresh.shift() ?? [],
  );
  seats.current = [...kept, ...fresh];
  return seats.current;
}

const nameOf = ({ name, isBot }: RoomPerson) => shownName(name) + (isBot ? ", a bot" : "");

/** Who spoke here lately; the count is what the ladder reckons with. */
function Faces({ state: { people: here, humans, bots: botCount } }: { readonly state: RoomState }) {
  const shown = useSeats(here);
  return (
    <>
      <span class="faces hide-s" role="img" aria-label={shown.map(nameOf).join(", ")}>
        {shown.map(({ id, name, isBot }) => (
          <Face key={id} name={name} kind={isBot ? "bot" : "person"} />
        ))}
      </span>
      <span class="small muted hide-s" title={`Counted from ${humans.source}`}>
        {people(humans.count)}
        {botCount > 0 && `, ${bots(botCount)}`}
      </span>
    </>
  );
}
