/** The fields of a search. */
import type { RefObject } from "preact";
import { Icon } from "../ui/icons.tsx";
import { decisionWords, type Field, outcomeWords, ruleWords, type Sought, spans } from "./model.ts";

interface FiltersProps {
  readonly sought: Sought;
  readonly box: RefObject<HTMLInputElement>;
  readonly onChange: (change: Partial<Sought>) => void;
}

const spanWords = Object.fromEntries(Object.entries(spans).map(([name, { word }]) => [name, word]));

/** A range and days exclude each other. */
function chosen(field: Field, value: string): Partial<Sought> {
  if (field === "when") return { when: value, from: "", to: "" };
  return { [field]: value, ...(field === "from" || field === "to" ? { when: "" } : {}) };
}

export function Filters({ sought, box, onChange }: FiltersProps) {
  const choice = (field: Field, label: string, any: string, words: Record<string, string>) => (
    <select
      class={sought[field] === "" ? "choice" : "choice on"}
      aria-label={label}
      value={sought[field]}
      onChange={(event) => onChange(chosen(field, event.currentTarget.value))}
    >
      <option value="">{any}</option>
      {Object.entries(words).map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
  const day = (field: "from" | "to", label: string, bounds: Record<string, string>) => (
    <label class={sought[field] === "" ? "choice day-choice" : "choice day-choice on"}>
      {label}
      <input
        type="date"
        {...bounds}
        value={sought[field]}
        onChange={(event) => onChange(chosen(field, event.currentTarget.value))}
      />
    </label>
  );
  return (
    <search class="search-fields">
      <label class="field search-text">
        <Icon name="find" size={14} />
        <input
          ref={box}
          type="text"
          placeholder="Words, “a phrase”, -excluded"
          aria-label="Text of the message"
          value={sought.text}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            if (sought.text === "") event.currentTarget.blur();
            else onChange({ text: "" });
          }}
        />
        <kbd>/</kbd>
      </label>
      <label class="field search-author">
        <input
          type="text"
          placeholder="Author"
          aria-label="Author"
          value={sought.author}
          onInput={(event) => onChange({ author: event.currentTarget.value })}
        />
      </label>
      {choice("decision", "Decision", "Any decision", decisionWords)}
      {choice("rule", "Rule", "Any rule", ruleWords)}
      {choice("outcome", "Outcome", "Any outcome", outcomeWords)}
      {choice("when", "Time", "Any time", spanWords)}
      <span class="days">
        {day("from", "From", { max: sought.to })}
        {day("to", "To", { min: sought.from })}
      </span>
    </search>
  );
}
