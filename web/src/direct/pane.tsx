/**
 * Direct chat
 * ===========
 * A real conversation with the agent, over the daemon's own channel. Streaming text grows in the
 * last bubble; a line of mine shows as soon as it is written and says whether the daemon has it.
 */
import { useEffect } from "preact/hooks";
import { LinkBadge } from "../parts/badge.tsx";
import { useFollow } from "../parts/follow.ts";
import { clockTime, duration, shownName, shownText } from "../parts/harmless.ts";
import { Jump } from "../parts/jump.tsx";
import { isBack } from "../parts/pictures.ts";
import { Prose } from "../parts/prose.tsx";
import { DirectComposer } from "./composer.tsx";
import { Files } from "./files.tsx";
import { draftOf, type Entry, type Mine, type Pending, type Said, type Talk } from "./talk.ts";
import { useUploads } from "./use-uploads.ts";
import type { Direct } from "./use-webchat.ts";

export interface DirectPaneProps {
  readonly token: string;
  readonly direct: Direct;
  readonly agentName: string;
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
}

export function DirectPane({ token, direct, agentName, selected, onSelect }: DirectPaneProps) {
  const { talk, link } = direct;
  const files = useUploads(token, talk, link);
  useEffect(() => {
    if (link.state === "live") isBack();
  }, [link.state]);
  const draft = draftOf(talk);
  const busy = talk.writing !== null || talk.typing;
  const follow = useFollow(talk.entries.length + talk.pending.length);
  const nothing = talk.entries.length === 0 && talk.pending.length === 0;
  return (
    <section class="pane direct" aria-label="Direct chat">
      <div class="cap">
        <h2>Direct chat</h2>
        <span class="end">
          <LinkBadge link={link} up="Connected" />
        </span>
      </div>
      <div class="scroll" ref={follow.ref}>
        {nothing && <SayHello agentName={agentName} />}
        <div class="dm" role="log" aria-label={`Direct chat with ${agentName}`}>
          {talk.entries.map((entry, index) => (
            <EntryView
              key={`${entry.kind} ${entry.id}`}
              entry={entry}
              talk={talk}
              token={token}
              agentName={agentName}
              cause={causeOf(talk.entries, index)}
              lastOfTurn={isLastOfTurn(talk.entries, index)}
              selected={entry.kind === "mine" && entry.message === selected}
              onSelect={onSelect}
            />
          ))}
          {talk.pending.map((line) => (
            <PendingView
              key={`mine ${line.id}`}
              line={line}
              token={token}
              live={link.state === "live"}
              onDiscard={direct.discard}
            />
          ))}
          {draft !== "" && (
            // Told once it is whole, not word by word.
            <div class="bubble it" aria-live="off">
              <Prose text={shownText(draft)} tail={<span class="caret" />} />
            </div>
          )}
          {busy && <p class="meta">{shownName(agentName)} is writing</p>}
          {talk.error !== null && (
            <p class="meta bad" role="alert">
              {talk.error}
            </p>
          )}
        </div>
        <Jump follow={follow} />
      </div>
      <DirectComposer
        agentName={agentName}
        commands={direct.commands}
        files={files}
        onSay={(text, attached) => {
          direct.say(text, attached);
          follow.toEnd();
        }}
      />
    </section>
  );
}

interface PendingViewProps {
  readonly line: Pending;
  readonly token: string;
  readonly live: boolean;
  readonly onDiscard: (id: string) => void;
}

/** A line of mine that the daemon has not taken yet, or will not. */
function PendingView({ line, token, live, onDiscard }: PendingViewProps) {
  const { id, text, files, refused } = line;
  return (
    <div class="dm-line mine">
      <Files files={files} token={token} mine />
      {text !== "" && (
        <p class="bubble me">
          <bdi>{shownText(text)}</bdi>
        </p>
      )}
      {refused === undefined ? (
        <p class="meta me">{live ? "sending" : "waits for the connection"}</p>
      ) : (
        <p class="meta me bad" role="alert">
          Not sent. {shownText(refused)}
          <button type="button" class="btn quiet small" onClick={() => onDiscard(id)}>
            Discard
          </button>
        </p>
      )}
    </div>
  );
}

/** The line that an answer follows, said where the answer goes. */
function causeOf(entries: readonly Entry[], index: number): Mine | null {
  const answer = entries[index];
  const via = answer?.kind === "said" ? answer.via : null;
  for (let at = index - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (entry?.kind === "mine" && (entry.via?.channel ?? null) === via) return entry;
  }
  return null;
}

function isLastOfTurn(entries: readonly Entry[], index: number): boolean {
  const entry = entries[index];
  const next = entries[index + 1];
  return !(entry?.kind === "said" && next?.kind === "said" && next.turnId === entry.turnId);
}

interface EntryViewProps {
  readonly entry: Entry;
  readonly talk: Talk;
  readonly token: string;
  readonly agentName: string;
  readonly cause: Mine | null;
  readonly lastOfTurn: boolean;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
}

function EntryView(props: EntryViewProps) {
  const { entry } = props;
  if (entry.kind === "mine") return <MineView {...props} entry={entry} />;
  if (entry.kind === "said") return <SaidView {...props} entry={entry} />;
  return <p class="meta">{quietWords(entry.outcome, shownName(props.agentName))}</p>;
}

interface MineViewProps extends EntryViewProps {
  readonly entry: Mine;
}

function MineView({ entry, talk, token, selected, onSelect }: MineViewProps) {
  const verdict = talk.verdicts[entry.id];
  const acks = talk.acks[entry.id] ?? [];
  const { files, text } = entry;
  return (
    <div class="dm-line mine">
      <Files files={files} token={token} mine />
      <button
        type="button"
        class={text === "" ? "bubble me bare" : "bubble me"}
        aria-pressed={selected}
        title="Show why"
        data-id={entry.message}
        onClick={() => onSelect(entry.message)}
      >
        <bdi>{text === "" ? filesWord(files.length) : shownText(text)}</bdi>
      </button>
      <p class="meta me">
        {entry.via !== null && (
          <>
            <bdi>{shownName(entry.via.by)}</bdi> on <Via channel={entry.via.channel} />,{" "}
          </>
        )}
        {clockTime(entry.at)}
        {verdict !== undefined && (
          <>
            , {verdict.decision} <span class="mono">{verdict.rule}</span>
          </>
        )}
        {acks.length > 0 && ` ${acks.join(" ")}`}
      </p>
    </div>
  );
}

/** What stands for a line without words. */
const filesWord = (count: number): string => (count === 1 ? "1 file" : `${count} files`);

/** The channel that words came through, where it is not this one. */
function Via({ channel }: { readonly channel: string }) {
  return <bdi class="via">{shownName(channel)}</bdi>;
}

interface SaidViewProps extends EntryViewProps {
  readonly entry: Said;
}

function SaidView({ entry, talk, token, agentName, cause, lastOfTurn }: SaidViewProps) {
  const quoted =
    entry.replyTo !== null && cause !== null && entry.replyTo !== cause.id
      ? talk.entries.find((other) => other.kind === "mine" && other.id === entry.replyTo)
      : undefined;
  const took = cause === null ? "" : `, sent in ${duration(entry.at - cause.at)}`;
  return (
    <div class="dm-line">
      <div class="bubble it">
        {quoted?.kind === "mine" && <bdi class="quote cut">{shownText(quoted.text)}</bdi>}
        <Prose text={shownText(entry.text)} />
      </div>
      <Files files={entry.files} token={token} />
      {lastOfTurn && (
        <p class="meta">
          <bdi>{shownName(agentName)}</bdi>
          {entry.via !== null && (
            <>
              {" "}
              on <Via channel={entry.via} />
            </>
          )}
          , {clockTime(entry.at)}
          {took}
        </p>
      )}
    </div>
  );
}

/** What to say of a turn that said nothing. */
function quietWords(outcome: string, name: string): string {
  if (outcome === "silent") return `${name} read it and chose to stay quiet.`;
  if (outcome === "cancelled") return "The turn was stopped.";
  if (outcome === "expired") return "The answer came too late and was not sent.";
  return `${name} could not answer. Try again; the daemon's log says why.`;
}

function SayHello({ agentName }: { readonly agentName: string }) {
  return (
    <div class="empty">
      <h2>Talk to {shownName(agentName)}</h2>
      <p>
        In a direct chat every line engages. The room beside it shows how that changes in a group.
        What you say to {shownName(agentName)} directly on other channels stands here, too.
      </p>
    </div>
  );
}
