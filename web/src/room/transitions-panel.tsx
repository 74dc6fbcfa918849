/** The last transitions: stepping back through them, by button, by key, or by choosing one. */
import type { RoomPlace } from "../../../src/daemon/api-types/room-transitions.ts";
import { clockTime, shownName } from "../lib/sanitize.ts";
import { takenEdges } from "./chart-edges.ts";
import { stateWord } from "./state-panel.tsx";
import type { Named } from "./transcript.ts";
import type { Transitions } from "./use-transitions.ts";

interface TransitionsPanelProps {
  readonly transitions: Transitions;
  /** Shows a message in the transcript. */
  readonly onMessage: (message: Named) => void;
  /** Address of the Stately inspector for this room. */
  readonly inspector: string;
}

const wordOf = (state: string): string => {
  const [region = "", ...rest] = state.split(".");
  const word = stateWord(rest.join("."));
  return region === "attention" ? word : `${region} ${word}`;
};

/** From where to where, in each region in which something changed. */
const wayWords = (from: RoomPlace, to: RoomPlace): string =>
  takenEdges(from, to, "")
    .map((edge) => `${wordOf(edge.from)} → ${stateWord(edge.to.split(".").slice(1).join("."))}`)
    .join(", ");

export function TransitionsPanel({ transitions, onMessage, inspector }: TransitionsPanelProps) {
  const { list, chosen, choose, step } = transitions;
  const at = chosen === null ? list.length : list.indexOf(chosen) + 1;
  return (
    <div class="panel transitions">
      <header>
        <h2>Transitions</h2>
        <span class="end">
          {chosen === null ? `now, ${list.length} kept` : `${at} of ${list.length}`}
        </span>
      </header>
      <div class="steps">
        <button
          type="button"
          class="btn small"
          aria-keyshortcuts="["
          aria-disabled={at <= 1}
          onClick={() => step(-1)}
        >
          Back
        </button>
        <button
          type="button"
          class="btn small"
          aria-keyshortcuts="]"
          aria-disabled={chosen === null}
          onClick={() => chosen !== null && step(1)}
        >
          Forward
        </button>
        <button
          type="button"
          class="btn small"
          aria-disabled={chosen === null}
          onClick={() => choose(null)}
        >
          Now
        </button>
        <span class="grow" />
        {chosen?.message != null && (
          <button
            type="button"
            class="btn quiet small"
            onClick={() => onMessage({ ...chosen, id: chosen.message as string })}
          >
            Show message
          </button>
        )}
      </div>
      <p class="sr" aria-live="polite">
        {chosen !== null && `${chosen.event}: ${wayWords(chosen.from, chosen.to)}`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable */}
      <ol class="taken-list" aria-label="Transitions, the latest first" data-scrolls tabIndex={0}>
        {[...list].reverse().map((one, index) => (
          <li key={`${one.seq} ${index}`}>
            <button
              type="button"
              aria-current={one === chosen ? "step" : undefined}
              onClick={() => choose(one)}
            >
              <time>{clockTime(one.at)}</time>
              <b class="mono">{shownName(one.event)}</b>
              <span>{wayWords(one.from, one.to)}</span>
            </button>
          </li>
        ))}
      </ol>
      <p class="rest">
        <a href={inspector} target="_blank" rel="noreferrer">
          Open in the Stately inspector
        </a>
        . It needs a network; without one, step through the transitions here.
      </p>
    </div>
  );
}
