/**
 * Keys
 * ====
 * One key map for the page. Single letters do nothing while a text field or a list has the focus,
 * and can be switched off for people whose tools type letters; the list of keys still opens by its
 * button.
 */
import { useEffect, useRef } from "preact/hooks";

const storageKey = "earshot.letters";

/** Whether single letters do something. */
export const lettersOn = (): boolean => localStorage.getItem(storageKey) !== "off";
export function setLetters(on: boolean): void {
  if (on) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, "off");
}

/** Key (as in KeyboardEvent.key; "Alt+1", "g c" for a sequence) to what it does. */
export type KeyMap = Readonly<Record<string, () => void>>;

const inText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

/** Whether arrows scroll what has the focus: a part of the page says so by `data-scrolls`. */
const scrolls = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("[data-scrolls]") !== null;

/** Listens on the whole page. The newest map counts. */
export function useKeys(map: KeyMap): void {
  const current = useRef(map);
  current.current = map;
  useEffect(() => {
    let before = "";
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      if (document.querySelector("dialog[open]") !== null) return;
      // With Alt some layouts give another letter: the digit is read from the place of the key.
      const key = event.altKey ? `Alt+${event.code.replace("Digit", "")}` : event.key;
      const letter = !event.altKey && key.length === 1;
      if (!event.altKey && inText(event.target)) return;
      if (letter && !lettersOn()) return;
      if (key.startsWith("Arrow") && scrolls(event.target)) return;
      const act = current.current[`${before} ${key}`] ?? current.current[key];
      before = letter ? key : "";
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
