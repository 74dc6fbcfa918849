/**
 * Room
 * ====
 * One conversation, live: its transcript with each decision, the explanation of the selected line,
 * and its state. Narrower windows show fewer panes at a time.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import type { FoundView } from "../../../src/daemon/api-types/search.ts";
import { type Judging, withJudgement } from "../explanation/judgement.ts";
import { askAgain } from "../lib/api.ts";
import { useChannelNames } from "../lib/channel-names.ts";
import { useKeys } from "../lib/keys.ts";
import type { PageProps } from "../lib/page-props.ts";
import { navigate, roomHref } from "../lib/route.ts";
import { clockTime, shownName } from "../lib/sanitize.ts";
import { shellWord } from "../lib/shell-quote.ts";
import { AgentInput } from "../room/agent-input.tsx";
import { Transcript } from "../room/build-rows.ts";
import { canLabel, LabelButtons, useLabels } from "../room/labels.tsx";
import { type Pane, RoomBar } from "../room/room-bar.tsx";
import type { Room } from "../room/room-reducer.ts";
import { Side } from "../room/state-panel.tsx";
import {
  isLine,
  type LineRow,
  messageName,
  type Named,
  newestDecided,
  type PersonRow,
  type Row,
} from "../room/transcript.ts";
import { TranscriptPane, type Ways } from "../room/transcript-pane.tsx";
import { TransitionsPanel } from "../room/transitions-panel.tsx";
import { type Pages, useAsked, useRoom } from "../room/use-room.ts";
import { useTransitions } from "../room/use-transitions.ts";
import { RoomActions } from "../room-actions/actions.tsx";
import { RoomFind } from "../search/room-find.tsx";
import { NoCopy, useNoCopy } from "../ui/no-copy.tsx";
import "../styles/room.css";
import "../styles/room-actions.css";
import { WhyPane, type WhyPaneProps } from "../explanation/pane.tsx";

interface RoomPageProps extends PageProps {
  readonly roomKey: string;
  /** The message to open with; null: the newest decided one. */
  readonly message: string | null;
  /** Its journal number, if it may be far up. */
  readonly at: number | null;
}

export function RoomPage({ token, roomKey, message, at, onLink, onHelp }: RoomPageProps) {
  const { room, missing, link, pages } = useRoom(token, roomKey, at);
  useEffect(() => onLink(link), [link]);
  if (room === null)
    return (
      <>
        <RoomBar title={roomKey} />
        <main id="main" tabIndex={-1}>
          {missing && <UnknownRoom token={token} />}
        </main>
      </>
    );
  const stale = link.state !== "live";
  return (
    <Shown
      token={token}
      room={room}
      message={message}
      at={at}
      pages={pages}
      onHelp={onHelp}
      stale={stale}
    />
  );
}

function UnknownRoom({ token }: { readonly token: string }) {
  const why = useNoCopy(token);
  if (why !== null) return <NoCopy why={why} />;
  return (
    <div class="empty">
      <h2>No messages here yet</h2>
      <p>The room appears as soon as someone writes in it. This page updates by itself.</p>
      <div class="acts">
        <a class="btn" href="/">
          All rooms
        </a>
      </div>
    </div>
  );
}

interface ShownProps {
  readonly token: string;
  readonly room: Room;
  readonly message: string | null;
  readonly at: number | null;
  readonly pages: Pages;
  readonly onHelp: () => void;
  readonly stale: boolean;
}

function Shown({ token, room, message, at, pages, onHelp, stale }: ShownProps) {
  const transcript = useRef<Transcript | null>(null);
  transcript.current ??= new Transcript();
  const rows = transcript.current.rows(room.entries, room.amends);
  const [selected, setSelected] = useState<string | null>(null);
  const [pane, setPane] = useState<Pane>("talk");
  const [opening, setOpening] = useState(false);
  const ways = useRef<Ways | null>(null);
  const wanted = useRef(message === null ? null : { id: message });
  if (selected === null) {
    const first =
      rowAt(rows, at, message) ?? rowOfMessage(rows, wanted.current) ?? newestDecided(rows);
    if (first !== null) setSelected(first.key);
  }
  const row = useSelected(rows, selected);
  const explained = useWhy(token, room, row);
  const asked = useAsked(room);
  const { title } = room.view;
  useEffect(() => {
    document.title = `${shownName(title)} · earshot`;
  }, [title]);
  const toLadder = () => {
    setPane("why");
    setOpening(true);
  };
  const back = () => {
    setPane("talk");
    if (selected !== null) ways.current?.reveal(selected, "nearest", true);
  };
  const labels = useLabels(token, room.view.key, row);
  const [acting, setActing] = useState(false);
  const moves = roomKeys({ rows, selected, select: setSelected, ways: ways.current });
  const box = useRef<HTMLInputElement>(null);
  const transitions = useTransitions(token, room.view.key, room.state);
  useKeys({
    ...moves,
    ...labels.keys,
    ...transitions.keys,
    x: () => setActing(true),
    "/": () => box.current?.select(),
  });
  const toFound = ({ seq, id }: FoundView, find: string) => {
    const line = rowAt(rows, seq, id);
    if (line === null)
      return navigate(`${roomHref(room.view.key, id, seq)}&find=${encodeURIComponent(find)}`);
    setSelected(line.key);
    ways.current?.reveal(line.key, "center");
  };
  const toMessage = (message: Named) => {
    const found = rowOfMessage(rows, message);
    if (found === null) return navigate(roomHref(room.view.key, message.id));
    setSelected(found.key);
    setPane("talk");
    ways.current?.reveal(found.key, "center", true);
  };
  const agentName = room.view.agent.name;
  const channel = useChannelNames(token)(room.view.channel);
  return (
    <>
      <RoomBar room={room} title={title} channel={channel} pane={pane} onPane={setPane}>
        <RoomFind token={token} roomKey={room.view.key} box={box} at={at} onGo={toFound} />
        <RoomActions
          token={token}
          roomKey={room.view.key}
          title={title}
          agentName={agentName}
          running={room.state.turn !== null}
          activation={room.state.activation}
          open={acting}
          onOpen={setActing}
        />
      </RoomBar>
      <main id="main" class={stale ? "one-room stale" : "one-room"} data-pane={pane} tabIndex={-1}>
        <TranscriptPane
          room={room}
          rows={rows}
          agentName={agentName}
          asked={asked}
          selected={selected}
          pages={pages}
          ways={ways}
          atSelected={message !== null || at !== null}
          onSelect={setSelected}
          onOpen={toLadder}
        />
        <div class="right">
          <WhyPane
            {...whyOf(row, explained, agentName)}
            judging={judgingOf(row, asked)}
            isDraft={false}
            onBack={back}
            onHelp={onHelp}
            wantsFocus={opening}
            onFocused={() => setOpening(false)}
          >
            {canLabel(row) && <LabelButtons row={row} labels={labels} />}
            {row?.kind === "person" && explained?.why?.fate.turnId != null && (
              <AgentInput
                key={row.entry.id}
                messageId={row.entry.id}
                turnId={explained.why.fate.turnId}
                token={token}
              />
            )}
          </WhyPane>
          <p class="sr" aria-live="polite">
            {labels.done}
          </p>
          <Side
            state={room.state}
            before={room.before}
            agentName={agentName}
            ahead={room.ahead}
            taken={transitions.chosen ?? transitions.list.at(-1) ?? null}
            isPast={transitions.chosen !== null}
          >
            <TransitionsPanel
              transitions={transitions}
              onMessage={toMessage}
              inspector={`/inspect?key=${encodeURIComponent(room.view.key)}#token=${encodeURIComponent(token)}`}
            />
          </Side>
        </div>
      </main>
    </>
  );
}

/** The selected line; as it was last where it is not kept any more. */
function useSelected(rows: readonly Row[], selected: string | null): LineRow | null {
  const last = useRef<LineRow | null>(null);
  const found = useMemo(() => rows.find(({ key }) => key === selected), [rows, selected]);
  if (found !== undefined && isLine(found)) last.current = found;
  return last.current?.key === selected ? last.current : null;
}

/** The line of a journal row; read history has several in one. */
function rowAt(rows: readonly Row[], at: number | null, id: string | null): LineRow | null {
  if (at === null) return null;
  const there = rows.filter(isLine).filter(({ entry }) => entry.seq === at);
  return there.find(({ entry }) => "id" in entry && entry.id === id) ?? there[0] ?? null;
}

/** The line of a message; of one whose chat is not known the newest. */
function rowOfMessage(rows: readonly Row[], message: Named | null): LineRow | null {
  if (message === null) return null;
  const { id, chat } = message;
  const isIt = (row: Row): row is PersonRow =>
    row.kind === "person" && row.entry.id === id && (chat === undefined || row.entry.chat === chat);
  return rows.findLast(isIt) ?? null;
}

interface RoomKeyTools {
  readonly rows: readonly Row[];
  readonly selected: string | null;
  readonly select: (key: string) => void;
  readonly ways: Ways | null;
}

function roomKeys({ rows, selected, select, ways }: RoomKeyTools) {
  /** Looks from the selected line on; without one, from the end. */
  const go = (step: 1 | -1, isIt: (line: LineRow) => boolean) => {
    const at = rows.findIndex(({ key }) => key === selected);
    const from = at < 0 ? rows.length : at;
    for (let index = from + step; index >= 0 && index < rows.length; index += step) {
      const row = rows[index];
      if (row === undefined || !isLine(row) || !isIt(row)) continue;
      select(row.key);
      return ways?.reveal(row.key, "nearest", true);
    }
    // There is no further one: the line itself comes back into sight.
    if (at >= 0 && selected !== null) ways?.reveal(selected, "nearest", true);
  };
  const any = () => true;
  const engaged = (line: LineRow) =>
    line.kind === "person" &&
    line.entry.verdict !== null &&
    withJudgement(line.entry.verdict, line.judged).decision === "engage";
  return {
    j: () => go(1, any),
    ArrowDown: () => go(1, any),
    k: () => go(-1, any),
    ArrowUp: () => go(-1, any),
    e: () => go(1, engaged),
    E: () => go(-1, engaged),
    n: () => {
      const newest = rows.findLast(isLine);
      if (newest === undefined) return;
      select(newest.key);
      ways?.reveal(newest.key, "nearest", true);
      ways?.toEnd();
    },
    Escape: () => navigate("/"),
  };
}

interface Explained {
  readonly key: string;
  readonly why: Why | null;
  readonly note: string | null;
}

/** The ladder of a line, asked for again while what became of it is open. */
function useWhy(token: string, room: Room, row: LineRow | null): Explained | null {
  const [explained, setExplained] = useState<Explained | null>(null);
  const person = row?.kind === "person" && row.entry.verdict !== null ? row : null;
  const settled = explained?.key === person?.key && (explained?.why?.fate.outcome ?? null) !== null;
  // What became of it can only change with a turn. An answer by itself is no reason to ask again.
  const turned = useRef("");
  if (!settled) turned.current = `${room.state.turns} ${room.state.turn?.turnId}`;
  useEffect(() => {
    if (person === null) return;
    const stop = new AbortController();
    const { id, seq } = person.entry;
    const { key } = person;
    void askAgain(
      `/api/why/${encodeURIComponent(id)}?seq=${seq}`,
      { token, signal: stop.signal },
      (note) => setExplained({ key, why: null, note }),
    ).then((found) => {
      if (found === null) return;
      setExplained({ key, why: whyIn(found.answer, room.view.key, seq), note: null });
    });
    return () => stop.abort();
  }, [token, person?.key, person?.judged, turned.current]);
  return explained !== null && explained.key === person?.key ? explained : null;
}

/** Several agents may have heard it, and ids are unique in a chat only. */
function whyIn(answer: unknown, key: string, seq: number): Why | null {
  const { why = [] } = (answer ?? {}) as { readonly why?: readonly Why[] };
  return why.find((item) => item.key === key && item.seq === seq) ?? null;
}

/** What the judge made of a line that it was asked about. */
const judgingOf = (row: LineRow | null, asked: ReadonlySet<string>): Judging | null =>
  row?.kind === "person" && row.entry.verdict?.rule === "judge"
    ? { judgement: row.judged, asked: asked.has(messageName(row.entry)) }
    : null;

type About = Pick<WhyPaneProps, "of" | "why" | "verdict" | "note" | "command">;

/** What the Why pane says of a line. */
function whyOf(row: LineRow | null, explained: Explained | null, agentName: string): About {
  const blank = { of: "", why: null, verdict: null, note: null, command: null };
  if (row === null) return blank;
  const at = clockTime(row.entry.at);
  if (row.kind === "person") return personWhy(row, explained, at);
  if (row.kind === "command") {
    const verdict = { decision: "command", rule: "command" } as const;
    return { ...blank, of: `${shownName(row.entry.author.name)}, ${at}`, verdict };
  }
  if (row.kind === "reaction") {
    const note =
      "Reactions to the agent’s messages are shown to it with the next turn. They do not engage " +
      "it.";
    return { ...blank, of: `${shownName(row.entry.author.name)}, ${at}`, note };
  }
  if (row.kind === "acted") {
    const note = "Done from outside the chat. The journal records this name.";
    return { ...blank, of: `${shownName(row.entry.by)}, ${at}`, note };
  }
  const of = `${shownName(agentName)}, ${at}`;
  if (row.kind === "quiet") return { ...blank, of, note: "A turn that sent nothing to the room." };
  const { quote, entry } = row;
  const answered =
    quote === null ? "It was sent as a plain message." : `It answers ${shownName(quote.name)}.`;
  const way = entry.status === "sent" ? "" : ` Its state in the outbox: ${entry.status}.`;
  const note = `A message of the agent itself. It needs no decision. ${answered}${way}`;
  return { ...blank, of, note };
}

function personWhy({ entry }: PersonRow, explained: Explained | null, at: string): About {
  const { author, verdict, id, history, fellow: isSibling } = entry;
  const overheard =
    history === true
      ? "Read from the room’s history. It needs no decision."
      : isSibling === true
        ? author.isBot
          ? "Written by another of your agents. It is kept as context and needs no decision."
          : "The account answers in this person’s name. It is kept as context and needs no " +
            "decision."
        : null;
  return {
    of: `${shownName(author.name)}, ${at}`,
    why: explained?.why ?? null,
    verdict,
    note: overheard ?? explained?.note ?? (verdict === null ? "There is no decision on it." : null),
    command: overheard !== null ? null : `earshot why ${shellWord(id)}`,
  };
}
