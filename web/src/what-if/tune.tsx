/**
 * Rules from labels
 * =================
 * Asks for rules that decide better on the messages that somebody labelled, and puts them into the
 * form of the page, where they are tried like typed ones. Nothing is applied here.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TuneFound, TuneMeasured } from "../../../src/daemon/api-types/tune.ts";
import { ApiError } from "../lib/api.ts";
import { amount } from "../lib/format.ts";
import { shownText } from "../lib/sanitize.ts";
import { tuneRules } from "./api.ts";

interface TuneProps {
  readonly token: string;
  /** Of the messages that are replayed, ms. */
  readonly since: () => number;
  readonly onRules: (rules: string) => void;
}

type Measure = "precision" | "recall" | "f1";
const names = { precision: "Precision", recall: "Recall", f1: "F1" } as const;

export function Tune({ token, since, onRules }: TuneProps) {
  const [measure, setMeasure] = useState<Measure>("precision");
  const [percent, setPercent] = useState(90);
  const [share, setShare] = useState<number | null>(null);
  const [answer, setAnswer] = useState("");
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), [token]);
  const isFree = measure === "f1";
  const find = () => {
    const stop = new AbortController();
    current.current = stop;
    setAnswer("");
    setShare(0);
    const ended = (words: string) => {
      setShare(null);
      setAnswer(words);
    };
    tuneRules({
      token,
      since: since(),
      measure,
      atLeast: isFree ? null : percent / 100,
      signal: stop.signal,
      onFrame(frame) {
        if (stop.signal.aborted) return;
        if (frame.type === "progress") return setShare(frame.share);
        if (frame.type === "failed") return ended(frame.message);
        ended(answerOf(frame.found, measure, percent));
        const { reached, edits, rules } = frame.found;
        if (reached && edits.length > 0) onRules(rules);
      },
    }).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      ended(error instanceof ApiError ? error.message : "Cannot reach earshot.");
    });
  };
  const stop = () => {
    current.current?.abort();
    setShare(null);
    setAnswer("Stopped");
  };
  return (
    <section class="panel tune" aria-label="Rules from labels">
      <span class="small muted">Rules from labels</span>
      <select
        class="btn"
        aria-label="Target"
        value={measure}
        onChange={(event) => setMeasure(event.currentTarget.value as Measure)}
      >
        <option value="precision">Precision at least</option>
        <option value="recall">Recall at least</option>
        <option value="f1">Highest F1</option>
      </select>
      {!isFree && (
        <label class="small">
          <input
            class="btn mono"
            type="number"
            aria-label="Minimum in percent"
            min={1}
            max={100}
            value={percent}
            onInput={(event) => setPercent(event.currentTarget.valueAsNumber)}
          />
          {" %"}
        </label>
      )}
      {share === null ? (
        <button
          type="button"
          class="btn"
          disabled={!isFree && !(percent >= 1 && percent <= 100)}
          onClick={find}
        >
          Find rules
        </button>
      ) : (
        <button type="button" class="btn quiet" onClick={stop}>
          Stop
        </button>
      )}
      <p class="small" role="status">
        <bdi>{share === null ? shownText(answer) : "Looking for rules"}</bdi>
        {share !== null && <span aria-hidden="true">, {percentOf(share)}</span>}
      </p>
    </section>
  );
}

/** What was found, in one or two sentences. */
function answerOf(found: TuneFound, measure: Measure, percent: number): string {
  const { reached, edits, given, best, heldOut, labels, rooms } = found;
  const on =
    `on ${amount(labels)} ${labels === 1 ? "label" : "labels"} in ` +
    `${amount(rooms)} ${rooms === 1 ? "room" : "rooms"}`;
  if (!reached)
    return `Nothing reaches ${names[measure]} ${percent} % ${on}. Closest: ${shares(best)}.`;
  if (edits.length === 0)
    return `Nothing is clearly better than these rules ${on}: ${shares(given)}.`;
  return (
    `${shares(given)} becomes ${shares(best)} ${on}. On other messages, expect ` +
    `${shares(heldOut)}. The rules are in the editor and not applied yet.`
  );
}

const shares = ({ precision, recall }: TuneMeasured): string =>
  `precision ${percentOf(precision.mean)}, recall ${percentOf(recall.mean)}`;
const percentOf = (share: number) => `${Math.round(share * 100)} %`;
