/**
 * One row of a room's transcript: a person's line with its decision, a command, the agent's line
 * with its delivery status, or a turn that said nothing.
 */

import { Component, type ComponentChildren } from "preact";
import type { EndedEntry } from "../../../src/daemon/api-types/room.ts";
import { chipWord, withJudgement } from "../explanation/judgement.ts";
import { clockTime, duration, shownName, shownText } from "../lib/sanitize.ts";
import { actedWords } from "../room-actions/words.ts";
import { pieces } from "../simulator/participants.ts";
import { Chip, Face, type FaceKind } from "../ui/chip.tsx";
import { FileWords } from "../ui/file-label.tsx";
import { Icon } from "../ui/icons.tsx";
import { Prose } from "../ui/markdown.tsx";
import { LabelOf } from "./labels.tsx";
import type {
  ActedRow,
  AgentRow,
  CommandRow,
  LineRow,
  PersonRow,
  QuietRow,
  Quoted,
  ReactionRow,
} from "./transcript.ts";

interface LineProps {
  readonly row: LineRow;
  readonly agentName: string;
  /** The judge of the room is asked about it. */
  readonly asked: boolean;
  readonly selected: boolean;
  readonly tabbable: boolean;
  /** Its number among the lines that are loaded, and how many there are; -1: nobody knows. */
  readonly place: number;
  readonly places: number;
  /** Its own offset from the start of the list, px; null: it follows the other rows. */
  readonly apartPx: number | null;
  readonly onSelect: (key: string) => void;
}

/** Says itself whether it is drawn again. */
export class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const names = [
      "row",
      "agentName",
      "asked",
      "selected",
      "tabbable",
      "place",
      "places",
      "apartPx",
    ] as const;
    return names.some((name) => this.props[name] !== next[name]);
  }

  override render(props: LineProps) {
    const { row, agentName, asked, selected, tabbable, place, places, apartPx } = props;
    const isApart = apartPx !== null;
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options
      <div
        class={isApart ? `msg ${row.kind} apart` : `msg ${row.kind}`}
        style={isApart ? { top: `${apartPx}px` } : {}}
        role="option"
        data-key={row.key}
        data-apart={isApart ? "" : undefined}
        aria-selected={selected}
        aria-posinset={place}
        aria-setsize={places}
        tabIndex={tabbable ? 0 : -1}
        onClick={() => this.props.onSelect(row.key)}
      >
        {row.kind === "person" && <Person row={row} asked={asked} />}
        {row.kind === "command" && <Command row={row} />}
        {row.kind === "acted" && <ActedLine row={row} agentName={agentName} />}
        {row.kind === "agent" && <Agent row={row} agentName={agentName} />}
        {row.kind === "reaction" && <Reacted row={row} />}
        {row.kind === "quiet" && <Quiet row={row} agentName={agentName} />}
      </div>
    );
  }
}

interface BodyProps {
  readonly name: string;
  readonly kind: FaceKind;
  readonly time: string;
  readonly chip?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Body({ name, kind, time, chip, children }: BodyProps) {
  return (
    <>
      <Face name={name} kind={kind} big />
      <div>
        <div class="who">
          <bdi class="cut">{shownName(name)}</bdi>
          {kind !== "person" && <span class="tag">{kind}</span>}
          <time>{time}</time>
        </div>
        {children}
      </div>
      {chip !== undefined && <span class="verdict">{chip}</span>}
    </>
  );
}

/** A decision, and what a judge has made of it. */
function Decided({ row, asked }: { readonly row: PersonRow; readonly asked: boolean }) {
  const { judged, entry } = row;
  if (entry.verdict === null) return null;
  const { decision, rule } = withJudgement(entry.verdict, judged);
  const word = rule === "judge" ? { word: chipWord({ judgement: judged, asked }) } : {};
  return <Chip decision={decision} rule={rule} {...word} />;
}

function Person({ row, asked }: { readonly row: PersonRow; readonly asked: boolean }) {
  const { author, mentions, files, verdict, at, history, fellow: isSibling } = row.entry;
  const members = mentions.map((name) => ({ id: name, name, isBot: false }));
  const time = [
    clockTime(at),
    ...(row.editedAt === null ? [] : [`edited ${clockTime(row.editedAt)}`]),
    ...(history === true ? ["from history"] : []),
  ].join(", ");
  return (
    <Body
      name={author.name}
      kind={author.isBot ? (isSibling === true ? "agent" : "bot") : "person"}
      time={time}
      chip={verdict && <Decided row={row} asked={asked} />}
    >
      {row.quote !== null && <Quote {...row.quote} />}
      {row.deleted ? (
        <span class="text muted">Deleted in the room</span>
      ) : (
        <bdi class="text">
          {pieces(row.text, members).map((piece, index) =>
            piece.who === null ? (
              shownText(piece.text)
            ) : (
              <span key={index} class="at">
                {shownText(piece.text)}
              </span>
            ),
          )}
        </bdi>
      )}
      <MessageFiles files={files} />
      <LabelOf row={row} />
    </Body>
  );
}

/** Files of the line: described, and not available here. */
function MessageFiles({ files }: { readonly files: PersonRow["entry"]["files"] }) {
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label="Files">
      {files.map((file, index) => (
        <li key={index} class="file-chip">
          <FileWords file={file} />
        </li>
      ))}
    </ul>
  );
}

function Quote({ name, text }: Quoted) {
  if (name === "" && text === "") return null;
  return (
    <bdi class="quote cut">
      {shownName(name)}
      {text === "" ? "" : `: ${shownText(text)}`}
    </bdi>
  );
}

function Command({ row }: { readonly row: CommandRow }) {
  const { author, at, command, text } = row.entry;
  return (
    <Body
      name={author.name}
      kind={author.isBot ? "bot" : "person"}
      time={clockTime(at)}
      chip={<Chip decision="command" rule="command" word={shownName(command)} />}
    >
      <bdi class="text">{shownText(text)}</bdi>
    </Body>
  );
}

function ActedLine({ row, agentName }: { readonly row: ActedRow; readonly agentName: string }) {
  const { by, at } = row.entry;
  return (
    <Body
      name={by}
      kind="person"
      time={clockTime(at)}
      chip={<Chip decision="command" rule="command" word="action" />}
    >
      <bdi class="text muted">{`${shownName(by)} ${actedWords(row.entry, agentName)}`}</bdi>
    </Body>
  );
}

function Agent({ row, agentName }: { readonly row: AgentRow; readonly agentName: string }) {
  const { entry, quote, text } = row;
  return (
    <Body name={agentName} kind="agent" time={clockTime(entry.at)}>
      {quote !== null && <Quote {...quote} />}
      <div class="text">
        <Prose text={shownText(text)} />
      </div>
      <Fate row={row} />
    </Body>
  );
}

/** What became of the agent's line, in one line. */
function Fate({ row: { entry, tookMs, failure } }: { readonly row: AgentRow }) {
  const { status, error, credited, aside } = entry;
  if (failure !== null) return <Failed entry={failure} />;
  if (status === "in-doubt") return <div class="sent warn">May not have arrived</div>;
  if (status !== "sent")
    return (
      <div class="sent bad">
        <bdi>
          Not sent{status === "expired" ? ": it came too late" : error && `: ${shownText(error)}`}
        </bdi>
      </div>
    );
  const took = tookMs === null ? "Sent" : `Sent in ${duration(tookMs)}`;
  const names = credited.map(({ name }) => shownName(name)).join(", ");
  const longest = Math.max(0, ...credited.map(({ ms }) => ms));
  const plural = credited.length === 1 ? "has a credit" : "have credits";
  return (
    <div class="sent">
      <Icon name="ok" />
      <bdi class="cut">
        {aside === undefined ? took : `${took}, beside the answer`}
        {credited.length > 0 && `. ${names} ${plural} for ${duration(longest)}`}
      </bdi>
    </div>
  );
}

/** What went wrong with an agent, in words. */
const failureWords = {
  auth: "access was denied",
  "not-found": "it was not found",
  "rate-limit": "too many requests",
  timeout: "it took too long",
  refused: "no connection",
  invalid: "the request or the response was invalid",
  server: "the server failed",
  crashed: "it crashed",
} as const;

function failureText({ failure, reason }: EndedEntry): string {
  const words = failure === undefined ? "" : failureWords[failure];
  if (reason === null) return words;
  return words === "" ? shownText(reason) : `${words}. ${shownText(reason)}`;
}

/** The turn of this line failed, whatever of it is in the room. */
function Failed({ entry }: { readonly entry: EndedEntry }) {
  return (
    <div class="sent bad">
      <Icon name="warn" />
      <bdi>The agent failed: {failureText(entry)}</bdi>
    </div>
  );
}

const quietWords = {
  silent: "chose not to answer",
  failed: "could not answer",
  cancelled: "was stopped",
  expired: "answered too late",
  undelivered: "answered, but nothing was delivered",
  partly: "answered, but only part was delivered",
  replied: "answered",
} as const;

function Quiet({ row, agentName }: { readonly row: QuietRow; readonly agentName: string }) {
  const { outcome, reason, at, unsent } = row.entry;
  return (
    <Body name={agentName} kind="agent" time={clockTime(at)}>
      <bdi class={`text ${outcome === "failed" ? "bad" : "muted"}`}>
        {shownName(agentName)} {quietWords[outcome]}
        {reason === null ? "" : `: ${failureText(row.entry)}`}
      </bdi>
      {unsent !== undefined && (
        <div class="text unsent">
          <span class="sr">What it had said, not sent:</span>
          <Prose text={shownText(unsent)} />
          <div class="sent">Stopped here. The room did not get this.</div>
        </div>
      )}
    </Body>
  );
}

function Reacted({ row }: { readonly row: ReactionRow }) {
  const { author, at, added, removed } = row.entry;
  const parts = [
    added.length === 0 ? "" : `reacted ${added.join(" ")}`,
    removed.length === 0 ? "" : `took back ${removed.join(" ")}`,
  ].filter((part) => part !== "");
  return (
    <Body name={author.name} kind={author.isBot ? "bot" : "person"} time={clockTime(at)}>
      <bdi class="text muted">
        {shownName(author.name)} {shownName(parts.join(", "))}
      </bdi>
    </Body>
  );
}

interface WritingProps {
  readonly agentName: string;
  readonly text: string;
  readonly forMs: number;
}

/** The agent at work: its words so far, and a line reserved for what becomes of them. */
export function Writing({ agentName, text, forMs }: WritingProps) {
  return (
    <div class="msg writing">
      <Body name={agentName} kind="agent" time="now">
        <div class="text">
          <Prose text={shownText(text)} tail={<span class="caret" />} />
        </div>
        <div class="sent">
          {text === "" ? "Thinking" : "Writing"}, {duration(forMs)}
        </div>
      </Body>
    </div>
  );
}
