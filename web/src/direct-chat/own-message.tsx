/**
 * A line of the user
 * ==================
 * One element from the moment it is written: pending, taken or refused, its files keep their place,
 * content and focus. Only its status below changes, and its text becomes a button once there is a
 * decision to explain.
 */
import { useRef } from "preact/hooks";
import { clockTime, shownName, shownText } from "../lib/sanitize.ts";
import type { Mine, Talk, Unsent } from "./chat-reducer.ts";
import { Files } from "./files.tsx";

export interface MyLineProps {
  readonly line: Mine | Unsent;
  readonly talk: Talk;
  readonly token: string;
  /** Whether the daemon can be reached. */
  readonly live: boolean;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
  readonly onDiscard: (id: string) => void;
}

export function MyLine({ line, talk, token, live, selected, onSelect, onDiscard }: MyLineProps) {
  const refused = line.kind === "unsent" ? line.refused : undefined;
  return (
    <div class="dm-line mine">
      <Files files={line.files} token={token} mine />
      <Words line={line} selected={selected} onSelect={onSelect} />
      {refused === undefined ? (
        <Fate line={line} talk={talk} live={live} />
      ) : (
        <Refusal why={refused} onDiscard={() => onDiscard(line.id)} />
      )}
    </div>
  );
}

type WordsProps = Pick<MyLineProps, "line" | "selected" | "onSelect">;

function Words({ line, selected, onSelect }: WordsProps) {
  // Those who listen heard the words when they were written.
  const wasUnsent = useRef(line.kind === "unsent").current;
  const { files, text } = line;
  const classes = text === "" ? "bubble me bare" : "bubble me";
  const words = <bdi>{text === "" ? filesWord(files.length) : shownText(text)}</bdi>;
  // Plain text until there is something to press it for: words that wait can be copied.
  if (line.kind === "unsent") return <p class={classes}>{words}</p>;
  return (
    <button
      type="button"
      class={classes}
      aria-live={wasUnsent ? "off" : undefined}
      aria-pressed={selected}
      title="Show why"
      data-id={line.message}
      onClick={() => onSelect(line.message)}
    >
      {words}
    </button>
  );
}

type FateProps = Pick<MyLineProps, "line" | "talk" | "live">;

/** What became of it so far. */
function Fate({ line, talk, live }: FateProps) {
  if (line.kind === "unsent")
    return <p class="meta me">{live ? "sending" : "waits for the connection"}</p>;
  const { via } = line;
  const verdict = talk.verdicts[line.id];
  const acks = talk.acks[line.id] ?? [];
  return (
    <p class="meta me">
      {via !== null && (
        <>
          <bdi>{shownName(via.by)}</bdi> on <Via channel={via.channel} />,{" "}
        </>
      )}
      {clockTime(line.at)}
      {verdict !== undefined && (
        <>
          , {verdict.decision} <span class="mono">{verdict.rule}</span>
        </>
      )}
      {acks.length > 0 && ` ${acks.join(" ")}`}
    </p>
  );
}

interface RefusalProps {
  readonly why: string;
  readonly onDiscard: () => void;
}

/** Why the daemon will never take it. */
function Refusal({ why, onDiscard }: RefusalProps) {
  return (
    <p class="meta me bad" role="alert">
      Not sent. {shownText(why)}
      <button type="button" class="btn quiet small" onClick={onDiscard}>
        Discard
      </button>
    </p>
  );
}

/** The label of a line without text. */
const filesWord = (count: number): string => (count === 1 ? "1 file" : `${count} files`);

/** The channel that words came through, where it is not this one. */
export function Via({ channel }: { readonly channel: string }) {
  return <bdi class="via">{shownName(channel)}</bdi>;
}
