/**
 * What the owner can do to a room from its page: Stop in the bar, the rest in a dialog. What cannot be
 * undone asks once, in place. What happened is said there; the transcript shows it to every reader.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Activation } from "../../../src/domain/decision.ts";
import { limits } from "../../../src/domain/limits.ts";
import { shownName, shownText } from "../lib/sanitize.ts";
import { type Acted, act, type RoomAction } from "./act.ts";

export interface RoomActionsProps {
  readonly token: string;
  readonly roomKey: string;
  readonly title: string;
  readonly agentName: string;
  /** A turn runs that can be stopped. */
  readonly running: boolean;
  /** As it is in force now. */
  readonly activation: string;
  readonly open: boolean;
  readonly onOpen: (open: boolean) => void;
}

type Send = (action: RoomAction) => Promise<boolean>;

export function RoomActions(props: RoomActionsProps) {
  const { token, roomKey, running, open, onOpen } = props;
  const [acted, setActed] = useState<Acted | null>(null);
  const [working, setWorking] = useState(false);
  useEffect(() => setActed(null), [roomKey, open]);
  const send: Send = async (action) => {
    if (working) return false;
    setWorking(true);
    setActed(null);
    const answer = await act(token, roomKey, action);
    setWorking(false);
    setActed(answer);
    return answer.ok;
  };
  const stop = (
    <button
      type="button"
      class="btn small"
      aria-disabled={!running}
      onClick={() => running && void send({ does: "stop" })}
    >
      Stop
    </button>
  );
  return (
    <div class="room-acts">
      <span class="hide-s">{stop}</span>
      <button type="button" class="btn small" aria-keyshortcuts="x" onClick={() => onOpen(true)}>
        Actions
      </button>
      {!open && acted !== null && <Outcome acted={acted} />}
      {open && (
        <ActionsDialog {...props} stop={stop} send={send}>
          {acted !== null && <Outcome acted={acted} />}
        </ActionsDialog>
      )}
    </div>
  );
}

/** In the bar it goes away by itself, as it covers a line of the transcript. */
function Outcome({ acted: { ok, text } }: { readonly acted: Acted }) {
  return (
    <p class={ok ? "acted" : "acted bad"} role={ok ? "status" : "alert"}>
      {shownText(text)}
    </p>
  );
}

interface DialogProps extends RoomActionsProps {
  readonly stop: ComponentChildren;
  readonly send: Send;
  readonly children: ComponentChildren;
}

function ActionsDialog(props: DialogProps) {
  const { title, agentName, activation, stop, send, onOpen, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const name = shownName(agentName);
  return (
    <dialog
      class="help room-dialog"
      ref={dialog}
      aria-labelledby="actions-title"
      onClose={() => onOpen(false)}
    >
      <h2 id="actions-title" class="cut">
        Actions in <bdi>{shownName(title)}</bdi>
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable */}
      <section class="room-act-list" aria-label="Actions" data-scrolls tabIndex={0}>
        <Item title="Stop this turn" about="Parts of the answer that were sent stay.">
          {stop}
        </Item>
        <Item
          title="Disengage"
          about={`Ends all credits. ${name} only listens until someone addresses it again.`}
        >
          <button type="button" class="btn small" onClick={() => void send({ does: "disengage" })}>
            Disengage
          </button>
        </Item>
        <NewSession name={name} send={send} />
        <Activations now={activation} send={send} />
        <Say name={name} title={title} send={send} />
      </section>
      <div class="room-act-end">
        {children}
        <button type="button" class="btn" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

interface ItemProps {
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}

function Item({ title, about, children }: ItemProps) {
  return (
    <div class="room-act">
      <div>
        <h3>{title}</h3>
        <p class="small muted">{about}</p>
      </div>
      {children}
    </div>
  );
}

interface ActProps {
  readonly name: string;
  readonly send: Send;
}

interface ConfirmProps {
  readonly question: string;
  readonly label: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

/** The question before what cannot be undone. */
function Confirm({ question, label, onYes, onNo }: ConfirmProps) {
  return (
    <div class="room-act-ask">
      <p class="small">{question}</p>
      <button type="button" class="btn small" ref={focused} onClick={onYes}>
        {label}
      </button>
      <button type="button" class="btn quiet small" onClick={onNo}>
        Cancel
      </button>
    </div>
  );
}

const focused = (button: HTMLButtonElement | null) => button?.focus();

function NewSession({ name, send }: ActProps) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Item
        title="New session"
        about={`${name} starts without memory of earlier messages. The old session is archived.`}
      >
        <button
          type="button"
          class="btn small"
          aria-expanded={asking}
          onClick={() => setAsking(true)}
        >
          New session
        </button>
      </Item>
      {asking && (
        <Confirm
          question="Start a new session? You cannot go back to the old one."
          label="Start session"
          onYes={() => void send({ does: "new" }).then(() => setAsking(false))}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  );
}

const levels = ["ladder", "mention", "always"] as const satisfies readonly Activation[];
const levelText = {
  ladder: "As the rules decide",
  mention: "Only when mentioned",
  always: "Every message",
} as const;

function Activations({ now, send }: Omit<ActProps, "name"> & { readonly now: string }) {
  return (
    <Item
      title="Activation"
      about={`${levelText[now as keyof typeof levelText] ?? now}. Default: as in the config.`}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip */}
      <div class="seg" role="group" aria-label="Activation">
        {levels.map((level) => (
          <button
            key={level}
            type="button"
            aria-pressed={level === now}
            onClick={() => void send({ does: "activation", level })}
          >
            {level}
          </button>
        ))}
        <button type="button" onClick={() => void send({ does: "activation", level: null })}>
          default
        </button>
      </div>
    </Item>
  );
}

function Say({ name, title, send }: ActProps & { readonly title: string }) {
  const [text, setText] = useState("");
  const [asking, setAsking] = useState(false);
  /** One text is said once, however often it is sent. */
  const id = useRef("");
  const ready = text.trim() !== "";
  const say = async () => {
    id.current ||= crypto.randomUUID();
    const said = await send({ does: "say", text, id: id.current });
    setAsking(false);
    if (!said) return;
    id.current = "";
    setText("");
  };
  return (
    <>
      <Item
        title={`Say something as ${name}`}
        about="It becomes part of the session, as the agent’s own message."
      >
        <button type="button" class="btn small" disabled={!ready} onClick={() => setAsking(true)}>
          Say
        </button>
      </Item>
      <div class="box">
        <textarea
          rows={2}
          aria-label={`Text to say as ${name}`}
          maxLength={limits.sendUnitsMax}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAsking(false);
            id.current = "";
          }}
        />
      </div>
      {asking && (
        <Confirm
          question={`Send this to ${shownName(title)} as ${name}? It cannot be undone.`}
          label="Send"
          onYes={() => void say()}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  );
}
