/** "Write as": everyone in the simulated room as a radio group, and a way to add someone. */
import { useEffect, useRef, useState } from "preact/hooks";
import { shownName } from "../lib/sanitize.ts";
import { Face } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import { type Member, nameUnitsMax } from "./participants.ts";

export interface CastRowProps {
  readonly cast: readonly Member[];
  readonly writer: Member;
  readonly onWriteAs: (id: string) => void;
  readonly onAdd: (name: string, isBot: boolean) => boolean;
}

const steps: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

export function CastRow({ cast, writer, onWriteAs, onAdd }: CastRowProps) {
  const [adding, setAdding] = useState(false);
  const group = useRef<HTMLDivElement>(null);
  const shown = useRef(writer.id);
  useEffect(() => {
    if (shown.current === writer.id) return;
    shown.current = writer.id;
    // In a narrow window the row scrolls sideways: who writes must be in sight.
    const chosen = group.current?.querySelector('[aria-checked="true"]');
    chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [writer.id]);
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const from = cast.findIndex((member) => member.id === writer.id);
    const next = cast[(from + step + cast.length) % cast.length];
    if (next === undefined) return;
    onWriteAs(next.id);
    group.current?.querySelector<HTMLElement>(`[data-who="${CSS.escape(next.id)}"]`)?.focus();
  };
  return (
    <>
      <div class="cast-row">
        <span class="lbl">Write as</span>
        <div class="cast" role="radiogroup" aria-label="Write as" ref={group} onKeyDown={move}>
          {cast.map((member, index) => (
            // biome-ignore lint/a11y/useSemanticElements: a pill with a face cannot be an input
            <button
              key={member.id}
              type="button"
              class="who-btn"
              role="radio"
              data-who={member.id}
              aria-checked={member.id === writer.id}
              tabIndex={member.id === writer.id ? 0 : -1}
              title={index < 9 ? `Alt+${index + 1}` : ""}
              onClick={() => onWriteAs(member.id)}
            >
              <Face name={member.name} kind={member.isBot ? "bot" : "person"} />
              <bdi class="cut">{shownName(member.name)}</bdi>
            </button>
          ))}
        </div>
        <button
          type="button"
          class="btn quiet small"
          aria-label="Add a person or bot"
          aria-expanded={adding}
          onClick={() => setAdding(!adding)}
        >
          <Icon name="plus" />
          <span class="add-word">Add</span>
        </button>
      </div>
      {adding && <AddForm onAdd={onAdd} onDone={() => setAdding(false)} />}
    </>
  );
}

interface AddFormProps {
  readonly onAdd: CastRowProps["onAdd"];
  readonly onDone: () => void;
}

function AddForm({ onAdd, onDone }: AddFormProps) {
  const [refused, setRefused] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const add = (isBot: boolean) => {
    if (onAdd(input.current?.value ?? "", isBot)) onDone();
    else setRefused(true);
  };
  return (
    <form
      class="adding"
      onSubmit={(event) => {
        event.preventDefault();
        add(false);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
      }}
    >
      <input
        ref={(element) => {
          if (element !== null && input.current === null) element.focus();
          input.current = element;
        }}
        type="text"
        aria-label="Name"
        placeholder="Name"
        maxLength={nameUnitsMax}
        onInput={() => setRefused(false)}
      />
      <button type="submit" class="btn small">
        Add person
      </button>
      <button type="button" class="btn small" onClick={() => add(true)}>
        Add bot
      </button>
      {refused && (
        <span class="small muted" role="alert">
          This name is taken.
        </span>
      )}
    </form>
  );
}
