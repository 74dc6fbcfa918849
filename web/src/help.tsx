/** The list of keys, and the switch for single letters. */
import { useEffect, useRef } from "preact/hooks";
import { lettersOn, setLetters } from "./lib/keys.ts";

const keys: readonly (readonly [readonly string[], string])[] = [
  [["/"], "find"],
  [
    ["g"],
    "then r, s, c, w, h, e or u: go to Rooms, Search, Chat, What-if, Health, Settings, Setup",
  ],
  [["j", "k"], "next, previous row or message"],
  [["Enter"], "open the room; on a message: show why"],
  [["Esc"], "go back, close, or clear the draft"],
  [["e", "E"], "next, previous engaged message"],
  [["n"], "newest message"],
  [["a", "s"], "label a message: should have answered, should have stayed quiet"],
  [["u"], "remove the label; the same key does it too"],
  [["[", "]"], "in a room: step its statechart back, forward; Esc: now"],
  [["x"], "in a room: open its actions"],
  [["Home", "End"], "first, last loaded message"],
  [["Alt+1", "Alt+9"], "in the simulator: write as person 1 to 9"],
  [["t"], "switch between light and dark"],
  [["?"], "show this list"],
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl>
        {keys.map(([names, does]) => (
          <div class="help-row" key={does}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          defaultChecked={lettersOn()}
          onChange={(event) => setLetters(event.currentTarget.checked)}
        />
        Use single-letter shortcuts
      </label>
      <button type="button" class="btn" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
