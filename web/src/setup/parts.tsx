/** Parts of the Setup page: a step with its number, a labelled field, a line that says how it went. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "../ui/icons.tsx";

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}

export function Step({ number, title, about, children }: StepProps) {
  const id = useId();
  return (
    <section class="panel setup-step" aria-labelledby={id}>
      <header>
        <span class="setup-number" aria-hidden="true">
          {number}
        </span>
        <h2 id={id}>{title}</h2>
      </header>
      <div class="setup-body">
        <p class="setup-about">{about}</p>
        {children}
      </div>
    </section>
  );
}

interface LineProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly isSecret?: boolean;
  /** Known values that may be chosen. */
  readonly options?: readonly string[];
}

export function Line({ label, value, onChange, hint, placeholder, isSecret, options }: LineProps) {
  const id = useId();
  return (
    <div class="setup-line">
      <label for={id}>{label}</label>
      <div class="field">
        <input
          id={id}
          type={isSecret ? "password" : "text"}
          autocomplete="off"
          spellcheck={false}
          value={value}
          placeholder={placeholder}
          {...(options !== undefined && { list: `${id}-options` })}
          {...(hint !== undefined && { "aria-describedby": `${id}-hint` })}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        {options !== undefined && (
          <datalist id={`${id}-options`}>
            {options.map((option) => (
              <option key={option} value={option} />
            ))}
          </datalist>
        )}
      </div>
      {hint !== undefined && (
        <p id={`${id}-hint`} class="setup-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly string[];
  /** What the empty value is called. */
  readonly none: string;
}

export function Choice({ label, value, onChange, options, none }: ChoiceProps) {
  const id = useId();
  return (
    <div class="setup-line">
      <label for={id}>{label}</label>
      <div class="field">
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option} value={option}>
              {option === "" ? none : option}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

export type Outcome =
  | { readonly state: "ok" | "warn" | "bad"; readonly text: string }
  | { readonly state: "wait"; readonly text: string };

/** How something went that was tried. */
export function OutcomeLine({ outcome }: { readonly outcome: Outcome | null }) {
  return (
    <p class={`setup-outcome ${outcome?.state ?? ""}`} role="status">
      {outcome !== null && <Icon name={outcome.state} />}
      <bdi>{outcome?.text ?? ""}</bdi>
    </p>
  );
}
