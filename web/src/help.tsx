/** The list of keys, and the switch for single letters. */
import { useEffect, useRef } from "preact/hooks";
import { lettersOn, setLetters } from "./lib/keys.ts";

const keys: readonly (readonly [readonly string[], string])[] = [
  [["/"], "find"],
  [["g"], "then r, s, c, w, h, e or u: Rooms, Search, Chat, What-if, Health, Settings, Setup"],
  [["j", "k"], "next, previous row or message"],
  [["Enter"], "open the room; on a message: its ladder"],
  [["Esc"], "back: ladder to transcript, transcript to list, draft to nothing"],
  [["e", "E"], "next, previous engaged message"],
  [["n"], "newest message"],
  [["a", "s"], "in a room, on a message: should have answered, should have stayed quiet"],
  [["u"], "take that back; the same key does, too"],
  [["[", "]"], "in a room: one transition of its statechart back, forward; Esc: now"],
  [["x"], "in a room: actions (stop, disengage, new session, activation, say)"],
  [["Home", "End"], "first, last message that is loaded"],
  [["Alt+1", "Alt+9"], "write as person 1 to 9"],
  [["t"], "light or dark"],
  [["?"], "this list"],
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
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
        Single letters do something
      </label>
      <button type="button" class="btn" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
