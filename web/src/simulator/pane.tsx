/**
 * The simulated room
 * ==================
 * A room that needs no account: write as anyone, and see what the rules decide. The transcript is a
 * listbox with one tab stop; the explanation of the selected line is in the Why pane.
 */
import type { RefObject } from "preact";
import { useFollow } from "../lib/follow-scroll.ts";
import { bots, people } from "../lib/sanitize.ts";
import { Jump } from "../ui/jump-to-newest.tsx";
import { RoomComposer } from "./composer.tsx";
import { Message } from "./message.tsx";
import { count, selfId } from "./participants.ts";
import type { Row } from "./rows.ts";
import { type AgentName, agentMember, type ReplyTo } from "./scenario.ts";
import type { Simulator, SimView } from "./simulator.ts";

export interface RoomPaneProps {
  readonly sim: Simulator;
  readonly view: SimView;
  readonly agent: AgentName;
  readonly selected: string | null;
  readonly box: RefObject<HTMLTextAreaElement>;
  readonly onSelect: (id: string | null) => void;
  readonly onTyping: () => void;
  /** Enter on a selected line: go to its ladder. */
  readonly onOpen: () => void;
}

/** A row as something one can reply to. */
function replyToOf(row: Row | undefined, agentName: string): ReplyTo | null {
  if (row === undefined || row.kind === "writing") return null;
  if (row.kind === "agent")
    return { id: row.id, authorId: selfId, authorName: agentName, text: row.text };
  const { author, text } = row.line;
  return { id: row.id, authorId: author.id, authorName: author.name, text };
}

/** Hands a text to the browser as a file. */
function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function RoomPane(props: RoomPaneProps) {
  const { sim, view, agent, selected, box, onSelect, onTyping, onOpen } = props;
  const { rows } = view;
  const follow = useFollow(rows.length);
  const here = count(view.cast);
  const picked = rows.find((row) => row.id === selected);
  const lastReal = rows.filter((row) => row.kind !== "writing").at(-1);
  const send = () => {
    const id = sim.send();
    if (id !== null) onSelect(id);
    follow.toEnd();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || selected === null) return;
    event.preventDefault();
    onOpen();
  };
  const startOver = () => {
    sim.startOver();
    onSelect(null);
    box.current?.focus();
  };
  return (
    <section class="pane room-pane" aria-label="Room simulator">
      <div class="cap">
        <h2>Room simulator</h2>
        <span class="small muted cut hide-s">
          a group of {people(here.humans)}
          {here.bots > 0 && ` and ${bots(here.bots)}`}
        </span>
        <span class="end">
          {rows.length > 0 && (
            <button
              type="button"
              class="btn quiet small hide-s"
              title="Saves the room as a scenario, for earshot replay room.jsonl"
              onClick={() => save("room.jsonl", sim.scenario())}
            >
              Save
            </button>
          )}
          <button type="button" class="btn quiet small" onClick={startOver}>
            Start over
          </button>
        </span>
      </div>
      <div class="scroll" ref={follow.ref}>
        {rows.length === 0 ? (
          <SaySomething agent={agent} onExample={() => sim.example()} box={box} />
        ) : (
          <div
            class="talk"
            role="listbox"
            aria-label="Messages in the simulated room"
            onKeyDown={keys}
          >
            {rows.map((row, index) => (
              <Message
                key={row.id}
                row={row}
                agent={agentMember(agent)}
                at={view.startedAt + row.t}
                selected={row.id === selected}
                tabbable={picked === undefined ? index === rows.length - 1 : row.id === selected}
                granted={view.granted[row.id] ?? null}
                onSelect={(id) => (id === selected ? onOpen() : onSelect(id))}
              />
            ))}
          </div>
        )}
        <Jump follow={follow} />
      </div>
      <RoomComposer
        sim={sim}
        view={view}
        agent={agent}
        box={box}
        target={replyToOf(picked ?? lastReal, agent.name)}
        onSend={send}
        onTyping={onTyping}
      />
    </section>
  );
}

interface SaySomethingProps {
  readonly agent: AgentName;
  readonly box: RefObject<HTMLTextAreaElement>;
  readonly onExample: () => void;
}

function SaySomething({ agent, box, onExample }: SaySomethingProps) {
  return (
    <div class="empty">
      <h2>Say something</h2>
      <p>
        Choose who you are and write a message. Try “@{agent.name} hello”, then the same without the
        name.
      </p>
      <div class="acts">
        <button type="button" class="btn primary" onClick={() => box.current?.focus()}>
          Write a message
        </button>
        <button type="button" class="btn" onClick={onExample}>
          Show an example
        </button>
      </div>
    </div>
  );
}
