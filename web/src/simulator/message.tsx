/**
 * One row of the simulated room: someone's line with its decision, the agent's reply, or the agent
 * writing.
 */

import { clockTime, duration, shownName, shownText } from "../lib/sanitize.ts";
import { Chip, Face, type FaceKind } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import { Prose } from "../ui/markdown.tsx";
import type { Member } from "./participants.ts";
import { pieces } from "./participants.ts";
import type { AgentRow, PersonRow, Row, WritingRow } from "./rows.ts";
import type { Line } from "./scenario.ts";
import type { Granted } from "./simulator.ts";

export interface MessageProps {
  readonly row: Row;
  readonly agent: Member;
  readonly at: number;
  readonly selected: boolean;
  readonly tabbable: boolean;
  readonly granted: Granted | null;
  readonly onSelect: (id: string) => void;
}

/** Author, time, text, decision and rule in one sentence, for screen readers. */
export function Message(props: MessageProps) {
  const { row, selected, tabbable, onSelect } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options
    <div
      class="msg new"
      role="option"
      id={`row-${row.id}`}
      data-id={row.id}
      aria-selected={selected}
      tabIndex={tabbable ? 0 : -1}
      onClick={() => onSelect(row.id)}
    >
      {row.kind === "person" ? (
        <PersonBody {...props} row={row} />
      ) : (
        <AgentBody {...props} row={row} />
      )}
    </div>
  );
}

interface HeadProps {
  readonly name: string;
  readonly kind: FaceKind;
  readonly at: number;
  readonly acks?: readonly string[];
}

function Head({ name, kind, at, acks = [] }: HeadProps) {
  return (
    <div class="who">
      <bdi class="cut">{shownName(name)}</bdi>
      {kind !== "person" && <span class="tag">{kind}</span>}
      <time>{clockTime(at)}</time>
      {acks.length > 0 && <span title="Reaction of the agent">{acks.join(" ")}</span>}
    </div>
  );
}

function PersonBody({ row, agent, at }: MessageProps & { readonly row: PersonRow }) {
  const { line } = row;
  const kind = line.author.isBot ? "bot" : "person";
  return (
    <>
      <Face name={line.author.name} kind={kind} big />
      <div>
        <Head name={line.author.name} kind={kind} at={at} acks={row.acks} />
        {line.replyTo !== null && (
          <bdi class="quote cut">
            {shownName(line.replyTo.authorName)}: {shownText(line.replyTo.text)}
          </bdi>
        )}
        <bdi class="text">
          {pieces(line.text, [...line.cast, agent]).map((piece, index) =>
            piece.who === null ? (
              shownText(piece.text)
            ) : (
              <span key={index} class="at">
                {shownText(piece.text)}
              </span>
            ),
          )}
        </bdi>
      </div>
      <span class="verdict">
        {row.verdict && <Chip decision={row.verdict.decision} rule={row.verdict.rule} />}
      </span>
    </>
  );
}

function Quote({ line }: { readonly line: Line | null }) {
  if (line === null) return null;
  return (
    <bdi class="quote cut">
      {shownName(line.author.name)}: {shownText(line.text)}
    </bdi>
  );
}

function AgentBody({
  row,
  agent,
  at,
  granted,
}: MessageProps & { readonly row: AgentRow | WritingRow }) {
  return (
    <>
      <Face name={agent.name} kind="agent" big />
      <div>
        <Head name={agent.name} kind="agent" at={at} />
        {row.kind === "agent" && <Quote line={row.quote} />}
        <div class="text">
          {row.kind === "writing" ? <span class="caret" /> : <Prose text={shownText(row.text)} />}
        </div>
        <Outcome row={row} granted={granted} />
      </div>
    </>
  );
}

function Outcome({
  row,
  granted,
}: {
  readonly row: AgentRow | WritingRow;
  readonly granted: Granted | null;
}) {
  if (row.kind === "writing") return <div class="sent">writing</div>;
  if (row.status === "in-doubt") return <div class="sent bad">May not have arrived</div>;
  if (row.status === "dead") return <div class="sent bad">Not sent</div>;
  const credit =
    granted === null ? "" : `. ${shownName(granted.name)} has a credit for ${duration(granted.ms)}`;
  return (
    <div class="sent">
      <Icon name="ok" />
      <span>
        Sent in {duration(row.tookMs)}
        <bdi>{credit}</bdi>
      </span>
    </div>
  );
}
