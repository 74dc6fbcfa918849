/** Light or dark: the system's choice until someone presses the button, then theirs, remembered. */
const storageKey = "earshot.theme";

/** Shows the remembered theme, if there is one. */
export function applyTheme(): void {
  const kept = localStorage.getItem(storageKey);
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
}

/** Switches to the other theme and remembers it. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const next = (dataset.theme ?? system) === "dark" ? "light" : "dark";
  dataset.theme = next;
  localStorage.setItem(storageKey, next);
}
