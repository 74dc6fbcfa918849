/**
 * Buttons of a question
 * =====================
 * A press sends the label as a message of the user, in reply to the question. The buttons stay, as on
 * other platforms: a person may press another one later. While a press is on its way they are disabled,
 * so that a double click is one answer.
 */
import { shownText } from "../lib/sanitize.ts";
import type { Choices } from "./frames.ts";

interface ButtonsProps {
  readonly options: Choices["options"];
  /** The label that is being sent; null: none. */
  readonly sending: string | null;
  readonly onPress: (label: string) => void;
}

export function Buttons({ options, sending, onPress }: ButtonsProps) {
  return (
    <fieldset class="choices" aria-label="Options">
      {options.map((label) => (
        <button
          key={label}
          type="button"
          class="btn"
          aria-pressed={label === sending}
          disabled={sending !== null}
          onClick={() => onPress(label)}
        >
          <bdi>{shownText(label)}</bdi>
        </button>
      ))}
    </fieldset>
  );
}
