/**
 * Labels by hand
 * ==============
 * What somebody says about the decision on a line: two buttons in the Why pane, and keys for the
 * selected line. The same button or key takes it back. What is shown is what the daemon stored; until
 * its word comes, what was pressed last.
 */
import { useRef, useState } from "preact/hooks";
import type { Expected } from "../../../src/domain/decision.ts";
import { shouldHave } from "../explanation/words.ts";
import { ApiError, ask } from "../lib/api.ts";
import type { KeyMap } from "../lib/keys.ts";
import { shownName } from "../lib/sanitize.ts";
import { Icon } from "../ui/icons.tsx";
import type { LineRow, PersonRow } from "./transcript.ts";

/** A line on which the ladder decided. */
export const canLabel = (row: LineRow | null): row is PersonRow => {
  const decision = row?.kind === "person" ? row.entry.verdict?.decision : undefined;
  return decision === "engage" || decision === "observe";
};

export interface Labels {
  /** What is said about the line; null: nothing. */
  readonly of: (row: PersonRow) => Expected | null;
  /** Says it, or takes back the same. */
  readonly toggle: (row: PersonRow, expected: Expected) => void;
  /** What was done last, for screen readers; null: nothing yet. */
  readonly done: string | null;
  /** Why the last one was not stored. */
  readonly failed: string | null;
  readonly keys: KeyMap;
}

/** What was pressed and is not confirmed: it counts until an entry after `since` comes. */
interface Pressed {
  readonly expected: Expected | null;
  readonly since: number;
}

const seqOf = ({ label }: PersonRow) => label?.seq ?? 0;

export function useLabels(token: string, roomKey: string, selected: LineRow | null): Labels {
  const [pressed, setPressed] = useState<ReadonlyMap<string, Pressed>>(new Map());
  const [done, setDone] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  /** One after the other, so that the last one pressed is the last one stored. */
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const of = (row: PersonRow): Expected | null => {
    const mine = pressed.get(row.key);
    if (mine !== undefined && mine.since === seqOf(row)) return mine.expected;
    return row.label?.expected ?? null;
  };
  const put = (key: string, mine: Pressed | null) =>
    setPressed((before) => {
      const next = new Map(before);
      if (mine === null) next.delete(key);
      else next.set(key, mine);
      return next;
    });
  const say = (row: PersonRow, expected: Expected | null) => {
    const { id, seq } = row.entry;
    put(row.key, { expected, since: seqOf(row) });
    setFailed(null);
    setDone(expected === null ? "Label removed" : `Labelled: ${shouldHave[expected]}`);
    const path = `/api/rooms/${encodeURIComponent(roomKey)}/label`;
    sending.current = sending.current
      .then(() => ask(path, { token, body: { id, seq, expected } }))
      .catch((error: unknown) => {
        put(row.key, null);
        setDone(null);
        setFailed(error instanceof ApiError ? error.message : "Cannot reach earshot.");
      });
  };
  const toggle = (row: PersonRow, expected: Expected) =>
    say(row, of(row) === expected ? null : expected);
  const keys = {
    a: () => canLabel(selected) && toggle(selected, "engage"),
    s: () => canLabel(selected) && toggle(selected, "observe"),
    u: () => canLabel(selected) && of(selected) !== null && say(selected, null),
  };
  return { of, toggle, done, failed, keys };
}

const words = [
  ["engage", "Should have answered", "a"],
  ["observe", "Should have stayed quiet", "s"],
] as const;

/** The buttons for one line. */
export function LabelButtons({
  row,
  labels,
}: {
  readonly row: PersonRow;
  readonly labels: Labels;
}) {
  const said = labels.of(row);
  return (
    <div class="labels">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip */}
      <div class="seg" role="group" aria-label="What would have been right">
        {words.map(([expected, word, key]) => (
          <button
            key={expected}
            type="button"
            aria-pressed={said === expected}
            aria-keyshortcuts={key}
            onClick={() => labels.toggle(row, expected)}
          >
            {word}
          </button>
        ))}
      </div>
      {labels.failed !== null && (
        <p class="ask" role="alert">
          {labels.failed}
        </p>
      )}
    </div>
  );
}

/** Below the line: what is stored about it. */
export function LabelOf({ row: { label } }: { readonly row: PersonRow }) {
  if (label === null || label.expected === null) return null;
  return (
    <div class="sent">
      <Icon name={label.expected} />
      <bdi class="cut">
        {label.expected === "engage" ? "Should have answered" : "Should have stayed quiet"}
        {`, labelled by ${shownName(label.by)}`}
      </bdi>
    </div>
  );
}
