/**
 * What is looked at in a page
 * ===========================
 * Whether every control is reached by the Tab key and shows that it has the focus, and what lies
 * beyond the edge of the window; and how much it loaded.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const stopsMax = 120;

/**
 * Run in the page, whose types this file does not have. Radio buttons of one name are one stop, the
 * one that is checked; arrow keys go on from there.
 */
const tools = `window.looks = (element) => {
  const found = [];
  for (let one = element, up = 0; one !== null && up < 4; one = one.parentElement, up += 1) {
    const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(one);
    found.push([outlineStyle, outlineWidth, boxShadow, borderColor].join(" "));
  }
  return found.join("; ");
};
window.named = (element) => {
  const { tagName, className, textContent } = element;
  const label = element.getAttribute("aria-label") ?? textContent.trim().slice(0, 30);
  return tagName.toLowerCase() + "." + String(className).split(" ").join(".") + " " + label;
};
window.stops = [...document.querySelectorAll(
  "a[href], button, input, textarea, select, [tabindex='0'], iframe",
)].filter((one) => (one.type !== "radio" || one.checked) && one.tabIndex >= 0 && !one.disabled && one.checkVisibility({
  checkVisibilityCSS: true,
}) && (document.querySelector("dialog[open]")?.contains(one) ?? true));
window.met = new Set();
`;
/** The control that has the focus, and whether one sees that; null: none has it. */
const stop = `() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  // A field for a date has several parts; taking the focus away would begin with the first again.
  if (window.last === element) return { name: window.named(element), shows: true };
  window.last = element;
  const now = window.looks(element);
  window.met.add(element);
  element.blur();
  const before = window.looks(element);
  element.focus();
  return { name: window.named(element), shows: now !== before };
}`;
/** Keeps what each Tab came to: asking after every one would take as long again. */
const follow = `window.stopped = [];
addEventListener("keyup", window.following ??= ({ key }) => {
  if (key === "Tab") window.stopped.push(window.stopHere());
}, true);`;
const read = `({
  stopped: window.stopped.splice(0),
  missed: window.stops.filter((one) => one.isConnected && !window.met.has(one)).map(window.named),
})`;
const stopsAtOnce = 6;

interface Read {
  readonly stopped: readonly ({ readonly name: string; readonly shows: boolean } | null)[];
  readonly missed: readonly string[];
}

export interface FocusOrder {
  /** Controls that have the focus and do not show it. */
  readonly unseen: readonly string[];
  /** Controls the key never came to. */
  readonly missed: readonly string[];
  /** Whether it came past the last one. */
  readonly ends: boolean;
}

/**
 * Goes through a page by the Tab key, from where the focus is to the end, and goes on from its beginning while a
 * control is missed: the focus may have been in the middle, and a part of the page that is drawn again
 * meanwhile loses it, which looks like the end.
 */
export async function readFocusOrder(page: Page): Promise<FocusOrder> {
  await page.evaluate(`${tools}window.stopHere = ${stop};${follow}`);
  const unseen: string[] = [];
  let ends = false;
  for (let count = 0; ; count += stopsAtOnce) {
    for (let n = 0; n < stopsAtOnce; n += 1) await page.keyboard.press("Tab");
    const { stopped, missed } = await page.evaluate<Read>(read);
    expect(stopped.length, "the page sees each Tab").toBe(stopsAtOnce);
    ends ||= stopped.includes(null);
    unseen.push(...stopped.filter((one) => one?.shows === false).map((one) => one?.name ?? ""));
    if (count >= stopsMax || (ends && missed.length === 0)) return { unseen, missed, ends };
  }
}

/** What is wider than the window, unless it lies in something that scrolls by itself. */
const wider = `(() => {
  const scrolls = (one) => one !== document.body && one !== document.documentElement &&
    ["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(one).overflowX);
  const inside = (one) => one !== null && (scrolls(one) || inside(one.parentElement));
  const over = [...document.body.querySelectorAll("*")].filter((one) =>
    one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1 && !inside(one));
  const wide = document.documentElement.scrollWidth - innerWidth;
  return [...(wide > 0 ? ["the page: " + wide] : []),
    ...over.map((one) => one.tagName + "." + one.getAttribute("class"))];
})()`;

/** Parts of the page that are beyond the edge of its window. */
export const outsideWindow = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(wider);

/** Bytes of the scripts and styles that the page loaded, as gzip sends them. */
export async function loadedBytes(page: Page, pagesDir: string): Promise<number> {
  const names = await page.evaluate<string[]>(
    `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)`,
  );
  const assets = [...new Set(names.filter((name) => name.startsWith("/assets/")))];
  const files = await Promise.all(assets.map((name) => readFile(join(pagesDir, name))));
  return files.reduce((sum, file) => sum + gzipSync(file).byteLength, 0);
}
