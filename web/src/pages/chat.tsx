/**
 * Chat
 * ====
 * Direct chat, the room simulator, and the explanation of the selected line or of the draft while
 * it is typed. Narrower windows show fewer panes at a time, by switch.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import type { Talk } from "../direct-chat/chat-reducer.ts";
import { DirectPane } from "../direct-chat/pane.tsx";
import { useWebchat } from "../direct-chat/use-webchat.ts";
import { WhyPane, type WhyPaneProps } from "../explanation/pane.tsx";
import { ask, askAgain } from "../lib/api.ts";
import { useKeys } from "../lib/keys.ts";
import type { PageProps } from "../lib/page-props.ts";
import { clockTime, shownName } from "../lib/sanitize.ts";
import { shellWord } from "../lib/shell-quote.ts";
import { RoomPane } from "../simulator/pane.tsx";
import type { Answer } from "../simulator/rows.ts";
import type { AgentName } from "../simulator/scenario.ts";
import { Simulator, type SimView } from "../simulator/simulator.ts";

/** What the Why pane is about. */
type Focus =
  | { readonly kind: "none" }
  | { readonly kind: "draft" }
  | { readonly kind: "room"; readonly id: string }
  | { readonly kind: "direct"; readonly id: string };
type Pane = "room" | "why" | "direct";

const nothing: Focus = { kind: "none" };
const firstAgent: AgentName = { id: "main", name: "Scout" };

export function ChatPage({ token, onLink, onHelp }: PageProps) {
  const direct = useWebchat(token);
  useEffect(() => onLink(direct.link), [direct.link]);
  const agent = direct.talk.agent ?? firstAgent;
  const [view, setView] = useState<SimView | null>(null);
  const [focus, setFocus] = useState<Focus>(nothing);
  const [pane, setPane] = usePane();
  const [opening, setOpening] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const focusing = useRef(0);
  const sim = useMemo(
    () =>
      new Simulator({
        simulate: async (question, signal) =>
          (await ask("/api/simulate", { token, body: question, signal })) as Answer,
        changed: setView,
      }),
    [token],
  );
  useEffect(() => {
    sim.publish();
    return () => sim.stop();
  }, [sim]);
  useEffect(() => sim.setAgent(agent), [sim, agent.id, agent.name]);
  const explained = useDirectWhy(token, focus, direct.talk);

  const select = (id: string | null) => setFocus(id === null ? nothing : { kind: "room", id });
  const selected = focus.kind === "room" ? focus.id : null;
  useEffect(() => {
    if (selected !== null) void sim.explain(selected);
  }, [sim, selected, agent.id, agent.name]);
  /** In the next frame, when the row is drawn. */
  const focusLater = (id: string) => {
    cancelAnimationFrame(focusing.current);
    focusing.current = requestAnimationFrame(() => document.getElementById(`row-${id}`)?.focus());
  };
  const toLadder = () => {
    // A late frame would take the focus away from it.
    cancelAnimationFrame(focusing.current);
    setPane("why");
    setOpening(true);
  };
  const backToRoom = () => {
    setPane(focus.kind === "direct" ? "direct" : "room");
    if (selected !== null) focusLater(selected);
  };
  useKeys(
    chatKeys({
      view,
      selected,
      select,
      focusLater,
      writeAs: (id) => sim.writeAs(id),
      toDraft: () => setFocus({ kind: "draft" }),
    }),
  );
  if (view === null) return null;
  const why = whyOf({ focus, view, direct: explained, talk: direct.talk, agentName: agent.name });
  return (
    <>
      <section class="page-bar" aria-labelledby="page-title">
        <h1 id="page-title">Chat</h1>
        <span class="small muted cut hide-s">
          The simulator uses your rules and a scripted agent. Nothing here reaches a real room.
        </span>
        <span class="grow hide-s" />
        <PaneSwitch pane={pane} onPane={setPane} />
      </section>
      <main id="main" class="sim" data-pane={pane} data-focus={focus.kind} tabIndex={-1}>
        <DirectPane
          token={token}
          direct={direct}
          agentName={agent.name}
          selected={focus.kind === "direct" ? focus.id : null}
          onSelect={(id) => setFocus({ kind: "direct", id })}
        />
        <RoomPane
          sim={sim}
          view={view}
          agent={agent}
          selected={selected}
          box={box}
          onSelect={select}
          onTyping={() => setFocus({ kind: "draft" })}
          onOpen={toLadder}
        />
        <WhyPane
          {...why}
          onBack={backToRoom}
          onHelp={onHelp}
          wantsFocus={opening}
          onFocused={() => setOpening(false)}
        />
      </main>
    </>
  );
}

const paneKey = "earshot.chat";

/** The pane is the one that was chosen last; the simulator has the first one. */
function usePane() {
  const [pane, setPane] = useState<Pane>(() =>
    localStorage.getItem(paneKey) === "direct" ? "direct" : "room",
  );
  const choose = (next: Pane) => {
    if (next === "direct") localStorage.setItem(paneKey, next);
    else localStorage.removeItem(paneKey);
    setPane(next);
  };
  return [pane, choose] as const;
}

const panes: readonly (readonly [Pane, string])[] = [
  ["room", "Simulator"],
  ["why", "Why"],
  ["direct", "Direct chat"],
];

function PaneSwitch({
  pane,
  onPane,
}: {
  readonly pane: Pane;
  readonly onPane: (pane: Pane) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip
    <div class="seg" role="group" aria-label="Show">
      {panes.map(([name, title]) => (
        <button
          key={name}
          type="button"
          class={name === "why" ? "narrow" : ""}
          aria-pressed={pane === name}
          onClick={() => onPane(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

interface KeyTools {
  readonly view: SimView | null;
  readonly selected: string | null;
  readonly select: (id: string) => void;
  readonly focusLater: (id: string) => void;
  readonly writeAs: (id: string) => void;
  readonly toDraft: () => void;
}

/** Moving through the simulated room, and choosing who writes. */
function chatKeys({ view, selected, select, focusLater, writeAs, toDraft }: KeyTools) {
  const rows = (view?.rows ?? []).filter((row) => row.kind !== "writing");
  const at = rows.findIndex((row) => row.id === selected);
  const go = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    select(row.id);
    focusLater(row.id);
  };
  const engaged = (step: 1 | -1) => {
    const from = at < 0 ? (step === 1 ? -1 : rows.length) : at;
    for (let index = from + step; index >= 0 && index < rows.length; index += step) {
      const row = rows[index];
      if (row?.kind === "person" && row.verdict?.decision === "engage") return go(index);
    }
  };
  const next = () => go(at < 0 ? rows.length - 1 : at + 1);
  const previous = () => go(at < 0 ? rows.length - 1 : at - 1);
  const writers = (view?.cast ?? []).slice(0, 9).map((member, index) => [
    `Alt+${index + 1}`,
    () => {
      writeAs(member.id);
      if (view?.text !== "") toDraft();
    },
  ]);
  return {
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    e: () => engaged(1),
    E: () => engaged(-1),
    n: () => go(rows.length - 1),
    ...Object.fromEntries(writers),
  };
}

interface DirectWhy {
  readonly id: string;
  readonly why: Why | null;
  readonly note: string | null;
}

/** Asks the daemon for the ladder of a line of the direct chat. */
function useDirectWhy(token: string, focus: Focus, talk: Talk): DirectWhy | null {
  const [explained, setExplained] = useState<DirectWhy | null>(null);
  const id = focus.kind === "direct" ? focus.id : null;
  const decided = id === null ? undefined : talk.verdicts[id];
  useEffect(() => {
    if (id === null) return;
    const stop = new AbortController();
    void askAgain(`/api/why/${encodeURIComponent(id)}`, { token, signal: stop.signal }, (note) =>
      setExplained({ id, why: null, note }),
    ).then((found) => {
      if (found !== null) setExplained({ id, why: firstWhy(found.answer), note: null });
    });
    return () => stop.abort();
  }, [token, id, decided]);
  return explained?.id === id ? explained : null;
}

/** One ladder per agent that heard it; the page shows the first. */
function firstWhy(answer: unknown): Why | null {
  const list =
    typeof answer === "object" && answer !== null && "why" in answer ? answer.why : answer;
  return Array.isArray(list) ? ((list[0] as Why | undefined) ?? null) : null;
}

interface WhyOf {
  readonly focus: Focus;
  readonly view: SimView;
  readonly direct: DirectWhy | null;
  readonly talk: Talk;
  readonly agentName: string;
}

type WhyProps = Pick<WhyPaneProps, "of" | "why" | "verdict" | "note" | "command" | "isDraft">;

/** What the Why pane says of what is looked at. */
function whyOf({ focus, view, direct, talk, agentName }: WhyOf): WhyProps {
  const blank = { of: "", why: null, verdict: null, note: null, command: null, isDraft: false };
  if (focus.kind === "draft") {
    if (view.text.trim() === "") return { ...blank, of: "nothing written yet" };
    return {
      ...blank,
      of: `${shownName(view.writer.name)}, draft`,
      why: view.draft,
      isDraft: true,
    };
  }
  if (focus.kind === "direct") {
    const verdict = talk.verdicts[focus.id] ?? null;
    const line = talk.entries.find((entry) => entry.id === focus.id && entry.kind === "mine");
    const of = line?.kind === "mine" ? `You, ${clockTime(line.at)}` : "You";
    const command = `earshot why ${shellWord(focus.id)}`;
    const note = direct?.note ?? (verdict === null ? "Not decided yet." : null);
    return { ...blank, of, verdict, why: direct?.why ?? null, note, command };
  }
  const row = view.rows.find((row) => focus.kind === "room" && row.id === focus.id);
  if (row === undefined) return blank;
  const at = clockTime(view.startedAt + row.t);
  if (row.kind !== "person") {
    const of = `${shownName(agentName)}, ${at}`;
    const cause = row.cause === null ? "" : ` It answers ${shownName(row.cause.author.name)}.`;
    return { ...blank, of, note: `A message of the agent itself. It needs no decision.${cause}` };
  }
  const of = `${shownName(row.line.author.name)}, ${at}`;
  return { ...blank, of, verdict: row.verdict, why: view.why[row.id] ?? null };
}
