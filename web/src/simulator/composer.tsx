/**
 * The composer of the simulated room: author, text, mention, reply, the live decision, Send. The
 * decision shows what would happen to the draft and changes while it is typed.
 */
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { shownName, shownText } from "../lib/sanitize.ts";
import { Chip } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import { CastRow } from "./participant-row.tsx";
import { type AgentName, agentMember, type ReplyTo } from "./scenario.ts";
import type { Simulator, SimView } from "./simulator.ts";

export interface RoomComposerProps {
  readonly sim: Simulator;
  readonly view: SimView;
  readonly agent: AgentName;
  readonly box: RefObject<HTMLTextAreaElement>;
  /** What Reply would answer: the selected line or the newest. */
  readonly target: ReplyTo | null;
  readonly onSend: () => void;
  readonly onTyping: () => void;
}

export function RoomComposer(props: RoomComposerProps) {
  const { sim, view, agent, box, target, onSend, onTyping } = props;
  const [mentioning, setMentioning] = useState(false);
  const mention = (name: string) => {
    const space = view.text === "" || /\s$/.test(view.text) ? "" : " ";
    sim.write(`${view.text}${space}@${name} `);
    setMentioning(false);
    onTyping();
    box.current?.focus();
  };
  const reply = () => {
    sim.reply(target);
    onTyping();
    box.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      onSend();
    } else if (event.key === "Escape" && (view.text !== "" || view.replyTo !== null)) {
      event.stopPropagation();
      sim.write("");
      sim.reply(null);
    }
  };
  const verdict = view.draft?.explanation?.verdict ?? view.draft?.recorded ?? null;
  return (
    <div class="composer">
      <CastRow
        cast={view.cast}
        writer={view.writer}
        onWriteAs={(id) => {
          sim.writeAs(id);
          onTyping();
        }}
        onAdd={(name, isBot) => sim.add(name, isBot)}
      />
      {view.problem !== null && (
        <p class="sent bad" role="alert">
          {view.problem}
        </p>
      )}
      <div class="box">
        {view.replyTo !== null && <Replying to={view.replyTo} onOut={() => sim.reply(null)} />}
        {mentioning && <MentionMenu view={view} agent={agent} onPick={mention} />}
        <textarea
          rows={1}
          ref={box}
          aria-label="Message in the simulated room"
          placeholder={`Write as ${shownName(view.writer.name)}`}
          value={view.text}
          onInput={(event) => {
            sim.write(event.currentTarget.value);
            onTyping();
          }}
          onKeyDown={keys}
        />
        <div class="tools">
          <button
            type="button"
            class="btn quiet small"
            aria-expanded={mentioning}
            onClick={() => setMentioning(!mentioning)}
          >
            @ Mention
          </button>
          <button type="button" class="btn quiet small" disabled={target === null} onClick={reply}>
            Reply
          </button>
          <span class="end">
            <span class="would" aria-hidden="true">
              {verdict !== null && <Chip decision={verdict.decision} rule={verdict.rule} />}
            </span>
            <button type="button" class="btn primary small" onClick={onSend}>
              Send
            </button>
          </span>
        </div>
      </div>
    </div>
  );
}

function Replying({ to, onOut }: { readonly to: ReplyTo; readonly onOut: () => void }) {
  return (
    <div class="replying">
      <bdi class="cut">
        Replying to {shownName(to.authorName)}: {shownText(to.text)}
      </bdi>
      <button type="button" class="btn quiet small" aria-label="Do not reply" onClick={onOut}>
        <Icon name="x" />
      </button>
    </div>
  );
}

interface MentionMenuProps {
  readonly view: SimView;
  readonly agent: AgentName;
  readonly onPick: (name: string) => void;
}

function MentionMenu({ view, agent, onPick }: MentionMenuProps) {
  const others = view.cast.filter((member) => member.id !== view.writer.id);
  return (
    <fieldset class="menu" aria-label="Mention">
      {[agentMember(agent), ...others].map((member) => (
        <button
          key={member.id}
          type="button"
          class="btn quiet small"
          onClick={() => onPick(member.name)}
        >
          <bdi>@{shownName(member.name)}</bdi>
        </button>
      ))}
    </fieldset>
  );
}
