/**
 * Direct chat
 * ===========
 * A conversation with the agent over the daemon's own channel. Streaming text grows in the last
 * bubble; a line of the user appears at once and shows whether the daemon has it.
 */
import { useEffect, useState } from "preact/hooks";
import { useFollow } from "../lib/follow-scroll.ts";
import { useKeys } from "../lib/keys.ts";
import { isBack } from "../lib/pictures.ts";
import { clockTime, duration, shownName, shownText } from "../lib/sanitize.ts";
import { type Acted, act } from "../room-actions/act.ts";
import { sessionWords } from "../room-actions/words.ts";
import { LinkBadge } from "../ui/badge.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Jump } from "../ui/jump-to-newest.tsx";
import { Prose } from "../ui/markdown.tsx";
import { Buttons } from "./buttons.tsx";
import {
  type AgentMessage,
  type Cut,
  draftOf,
  type Entry,
  lineKey,
  linesOf,
  type Mine,
  type Quiet,
  type Unsent,
} from "./chat-reducer.ts";
import { DirectComposer } from "./composer.tsx";
import { Files } from "./files.tsx";
import { MyLine, type MyLineProps, Via } from "./own-message.tsx";
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
  const [stopped, setStopped] = useState<Acted | null>(null);
  const running = talk.writing?.key ?? null;
  const stop = async (key: string) => setStopped(await act(token, key, { does: "stop" }));
  useEffect(() => setStopped(null), [running === null]);
  useKeys(running === null ? {} : { Escape: () => void stop(running) });
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
          {linesOf(talk).map((line, index) => (
            <LineView
              key={lineKey(line)}
              line={line}
              talk={talk}
              token={token}
              agentName={agentName}
              live={link.state === "live"}
              cause={causeOf(talk.entries, index)}
              lastOfTurn={isLastOfTurn(talk.entries, index)}
              selected={line.kind === "mine" && line.message === selected}
              onSelect={onSelect}
              onDiscard={direct.discard}
              onPress={(label, question) => {
                direct.press(label, question);
                follow.toEnd();
              }}
            />
          ))}
          {draft !== "" && (
            // Announced once it is complete, not word by word.
            <div class="bubble it" aria-live="off">
              <Prose text={shownText(draft)} tail={<span class="caret" />} />
            </div>
          )}
          {busy && <p class="meta">{shownName(agentName)} is writing</p>}
          {stopped !== null && (
            <p class={stopped.ok ? "meta" : "meta bad"} role={stopped.ok ? "status" : "alert"}>
              {shownText(stopped.text)}
            </p>
          )}
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
        onStop={running === null ? null : () => void stop(running)}
        onSay={(text, attached) => {
          direct.say(text, attached);
          follow.toEnd();
        }}
      />
    </section>
  );
}

/** The line that an answer follows, said where the answer goes. */
function causeOf(entries: readonly Entry[], index: number): Mine | null {
  const answer = entries[index];
  if (answer?.kind !== "said") return null;
  const { via } = answer;
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

interface LineViewProps extends Omit<MyLineProps, "line"> {
  readonly line: Entry | Unsent;
  readonly agentName: string;
  readonly cause: Mine | null;
  readonly lastOfTurn: boolean;
  readonly onPress: (label: string, question: string) => void;
}

function LineView(props: LineViewProps) {
  const { line } = props;
  if (line.kind === "mine" || line.kind === "unsent") return <MyLine {...props} line={line} />;
  if (line.kind === "said") return <AgentMessageView {...props} line={line} />;
  if (line.kind === "cut") return <CutView line={line} agentName={props.agentName} />;
  if (line.kind === "session")
    return (
      <div class="day">
        {sessionWords(line)}, {clockTime(line.at)}
      </div>
    );
  const bad = line.outcome === "failed" ? "meta bad" : "meta";
  return <p class={bad}>{quietWords(line, shownName(props.agentName))}</p>;
}

interface AgentMessageProps extends LineViewProps {
  readonly line: AgentMessage;
}

function AgentMessageView(props: AgentMessageProps) {
  const { line: entry, talk, token, agentName, cause, lastOfTurn, onPress } = props;
  const quoted =
    entry.replyTo !== null && cause !== null && entry.replyTo !== cause.id
      ? talk.entries.find((other) => other.kind === "mine" && other.id === entry.replyTo)
      : undefined;
  const took = cause === null ? "" : `, sent in ${duration(entry.at - cause.at)}`;
  const { choices } = entry;
  const text = choices?.text ?? entry.text;
  return (
    <div class="dm-line">
      {(text !== "" || quoted !== undefined) && (
        <div class="bubble it">
          {quoted?.kind === "mine" && <bdi class="quote cut">{shownText(quoted.text)}</bdi>}
          {text !== "" && <Prose text={shownText(text)} copies />}
        </div>
      )}
      <Files files={entry.files} token={token} />
      {choices !== null && (
        <Buttons
          options={choices.options}
          sending={talk.pending.find(({ replyTo }) => replyTo === entry.id)?.text ?? null}
          onPress={(label) => onPress(label, entry.id)}
        />
      )}
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
          {text !== "" && <CopyButton text={text} what="the message" />}
        </p>
      )}
      {!lastOfTurn && text !== "" && (
        <p class="meta">
          <CopyButton text={text} what="the message" />
        </p>
      )}
    </div>
  );
}

/** A turn that was cut off: what it had said stays, marked. */
function CutView({ line, agentName }: { readonly line: Cut; readonly agentName: string }) {
  const { text, outcome, at } = line;
  const how = outcome === "cancelled" ? "Stopped" : `${shownName(agentName)} failed here`;
  return (
    <div class="dm-line">
      {text !== "" && (
        <div class="bubble it stopped">
          <Prose text={shownText(text)} copies />
        </div>
      )}
      <p class="meta">
        {how}, {clockTime(at)}.{text !== "" && " The rest was not sent."}
        {text !== "" && <CopyButton text={text} what="the text" />}
      </p>
    </div>
  );
}

/** What to say of a turn that said nothing. */
function quietWords({ outcome, cause }: Quiet, name: string): string {
  if (outcome === "silent") return `${name} read it and chose not to answer.`;
  if (outcome === "cancelled") return "The turn was stopped.";
  if (outcome === "partly") return "Part of the answer could not be delivered.";
  if (outcome === "undelivered") return "The answer could not be delivered.";
  if (outcome === "expired") return "The answer came too late and was not sent.";
  return cause === null
    ? `${name} could not answer. See the daemon's log for the reason.`
    : `${name} could not answer: ${shownText(cause)}`;
}

function SayHello({ agentName }: { readonly agentName: string }) {
  return (
    <div class="empty">
      <h2>Talk to {shownName(agentName)}</h2>
      <p>
        In a direct chat every message engages the agent. The simulator next to it shows how that
        differs in a group. What you write to {shownName(agentName)} directly on other channels
        appears here too.
      </p>
    </div>
  );
}
