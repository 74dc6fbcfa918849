/**
 * A room with many more lines than are sent at once, in a real Chromium on a real daemon: only what is near the window
 * is in the document, and whatever comes, goes or proves higher than thought, what the reader looks
 * at stays where it is.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { builtPages } from "../support/built/files.ts";
import {
  closeTabs,
  haveChromium,
  openTab,
  type PageOptions,
  sharedChromium,
  type WatchedPage,
} from "../support/pages/chromium.ts";
import {
  type LongRoom,
  lineAtTop,
  openLongRoom,
  passing,
  textOf,
  watchShifts,
} from "../support/pages/long-room.ts";
import { rounds } from "../support/rounds.ts";

/** Waits for what is bound to happen; long, since other tests use the same two cores. */
const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read, { timeout: 60_000 });
const lineCount = rounds(240, 700);
const rowsMax = 130;

describe.skipIf(!haveChromium)("a room of many lines", () => {
  let browser: Browser;
  let room: LongRoom;
  let page: Page;
  let wrong: string[] = [];
  /** For what needs no fresh page: it begins at the end, as that does. */
  let shared: WatchedPage | null = null;

  async function open(options: PageOptions = {}): Promise<void> {
    const opened = await openTab(browser, options);
    ({ page, wrong } = opened);
    await page.addInitScript(watchShifts);
    await page.goto(room.address);
    await page.locator(".msg").first().waitFor();
    await soon(below).toBeLessThan(2);
  }

  async function share(): Promise<void> {
    if (shared === null) {
      await open();
      shared = { page, wrong };
      return;
    }
    ({ page, wrong } = shared);
    await page.bringToFront();
    await box().evaluate((e) => e.scrollTo({ top: e.scrollHeight }));
    await soon(below).toBeLessThan(2);
    await page.evaluate("shifts = []");
  }

  beforeAll(async () => {
    browser = await sharedChromium();
    room = await openLongRoom(builtPages);
    await room.say(lineCount);
  });
  afterAll(async () => {
    await closeTabs();
    await room?.close();
  });
  afterEach(async () => {
    expect(wrong).toEqual([]);
    // Nothing was pushed away by something else while nobody had a hand in it.
    expect(await page.evaluate("shifts")).toEqual([]);
    if (page !== shared?.page) await page.close();
  });

  const box = () => page.locator(".talk-scroll");
  const below = () => box().evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
  const inDocument = () => page.locator(".lines > *").count();
  const line = (n: number) =>
    page.locator(".msg.person", { hasText: `${n}: ` }).filter({
      has: page.locator(".text", { hasText: new RegExp(`^${n}: `) }),
    });
  const top = (n: number) => line(n).evaluate((e) => e.getBoundingClientRect().top);
  const isWhole = () =>
    page
      .locator(".begin")
      .first()
      .textContent()
      .then((text) => text?.startsWith("Start of the journal"));
  async function toBeginning(): Promise<void> {
    await soon(async () => {
      await box().evaluate((e) => e.scrollTo({ top: 0 }));
      return isWhole();
    }).toBe(true);
    await box().evaluate((e) => e.scrollTo({ top: 0 }));
    await line(1).waitFor();
  }

  test("every line comes by once on the way up and down, in order, and few are in the document", async () => {
    await share();
    const up = await passing(page, -600);
    expect(up.lines).toEqual(Array.from({ length: lineCount }, (_, n) => lineCount - n));
    const down = await passing(page, 600);
    expect(down.lines).toEqual(Array.from({ length: lineCount }, (_, n) => n + 1));
    for (const { rows } of [up, down]) expect(rows).toBeLessThan(rowsMax);
    // Estimates were corrected on the way up, and pages put above: no line moved but by the scroll.
    for (const { jumps } of [up, down]) expect(jumps).toEqual([]);
    // A script that scrolls half a window a frame is nobody's hand: the browser takes a line that it
    // brings into sight for one that was pushed there.
    await page.evaluate("shifts = []");
  });

  test("a turned wheel goes as far as it was turned through lines that nobody has seen", async () => {
    await open();
    // All of it is loaded and next to nothing was in the document.
    await soon(async () => {
      await box().evaluate((e) => e.scrollTo({ top: 1_500 }));
      return isWhole();
    }).toBe(true);
    await page.keyboard.press("End");
    await soon(below).toBeLessThan(2);
    await page.waitForTimeout(300);
    await box().hover();
    for (let n = 0; n < 20; n += 1) {
      await page.mouse.wheel(0, -300);
      await page.waitForTimeout(30);
    }
    // Everything below was seen by now, so the distance is what it is.
    await soon(below).toBe(20 * 300);
  });

  test("it follows what comes, stays where somebody reads, and counts what came below", async () => {
    await share();
    await room.say(rounds(60, 300));
    await line(room.said).waitFor();
    expect(await below()).toBeLessThan(2);
    await box().evaluate((e) => e.scrollBy({ top: -1_500 }));
    const read = await lineAtTop(page);
    const before = await top(read);
    const times = rounds(1, 4);
    for (let n = 0; n < times; n += 1) await room.say(100);
    const pill = page.getByRole("button", { name: `${times * 100} new messages` });
    await pill.waitFor();
    expect(Math.abs((await top(read)) - before)).toBeLessThan(1);
    expect(await inDocument()).toBeLessThan(rowsMax);
    await pill.click();
    await line(room.said).waitFor();
    expect(await below()).toBeLessThan(2);
    expect(await pill.count()).toBe(0);
  });

  test("the line with the focus keeps it, however far the list is scrolled, and keys go on from it", async () => {
    await share();
    const focused = () => page.locator(":focus").getAttribute("aria-posinset");
    await toBeginning();
    await line(3).click();
    await line(3).focus();
    expect(await focused()).toBe("3");
    await page.evaluate("before = document.activeElement");
    for (let n = 0; n < 12; n += 1) {
      await box().evaluate((e) => e.scrollBy({ top: 1_700 }));
      await page.waitForTimeout(20);
    }
    expect(await page.evaluate("before === document.activeElement && before.isConnected")).toBe(
      true,
    );
    expect(await inDocument()).toBeLessThan(rowsMax);
    expect(await line(3).isVisible()).toBe(true);
    await page.keyboard.press("ArrowDown");
    await soon(focused).toBe("4");
    await soon(() => line(4).evaluate(isInSight)).toBe(true);
    expect(await page.locator(".msg[aria-selected=true] .text").textContent()).toBe(textOf(4));
    // A key that comes before the page has heard that it was scrolled.
    await box().evaluate((e) => {
      e.scrollBy({ top: 5_000 });
      const key = new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true });
      document.activeElement?.dispatchEvent(key);
    });
    await soon(focused).toBe("5");
    await soon(() => line(5).evaluate(isInSight)).toBe(true);
  });

  test("the selected line and its ladder are as they were when it comes back", async () => {
    await open();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/why/")) asked.push(request.url());
    });
    await line(room.said - 8).click();
    const ladder = page.locator(".ladder .rung .rule");
    await soon(() => ladder.count()).toBeGreaterThan(3);
    const rungs = await ladder.allTextContents();
    await toBeginning();
    expect(await ladder.allTextContents()).toEqual(rungs);
    // Asked again, it would say of a line that newer ones have pushed out of the context that it was dropped: one
    // row more, at any time.
    expect(asked).toEqual([expect.stringContaining(`/api/why/l${room.said - 8}?`)]);
    await page.keyboard.press("n");
    await line(room.said - 8).waitFor();
    await box().evaluate((e) => e.scrollBy({ top: -900 }));
    await page.keyboard.press("ArrowUp");
    await soon(() => page.locator(".msg[aria-selected=true] .text").textContent()).toBe(
      textOf(room.said - 1),
    );
  });

  test("Home, End, Page Up and Page Down lead to lines, and a screen reader announces where", async () => {
    await open();
    const selected = page.locator(".msg[aria-selected=true]");
    const number = async () =>
      Number((await selected.locator(".text").textContent())?.split(":")[0]);
    await page.keyboard.press("End");
    await soon(number).toBe(room.said);
    expect(await selected.getAttribute("aria-setsize")).toBe("-1");
    await page.keyboard.press("PageUp");
    await soon(number).toBeLessThan(room.said - 4);
    const up = await number();
    expect(up).toBeGreaterThan(room.said - 25);
    expect(await selected.evaluate(isInSight)).toBe(true);
    await page.keyboard.press("PageDown");
    await soon(number).toBeGreaterThan(up + 3);
    await toBeginning();
    await page.keyboard.press("Home");
    await soon(number).toBe(1);
    expect(await selected.evaluate(isInSight)).toBe(true);
    expect(await selected.getAttribute("aria-posinset")).toBe("1");
    expect(await selected.getAttribute("aria-setsize")).toBe(String(room.said));
    await page.keyboard.press("End");
    await soon(number).toBe(room.said);
    await soon(below).toBeLessThan(2);
    expect(await selected.getAttribute("aria-posinset")).toBe(String(room.said));
    // In the ladder beside it these keys scroll the ladder.
    await page.locator(".ladder").focus();
    await page.keyboard.press("Home");
    expect(await number()).toBe(room.said);
  });

  test("text that is selected over several lines stays selected while the list goes on", async () => {
    await share();
    await box().evaluate((e) => e.scrollBy({ top: -1_200 }));
    const first = (await lineAtTop(page)) + 1;
    const range = await page.evaluate(
      ([from, to]) => {
        const texts = [...document.querySelectorAll(".msg .text")];
        const node = (n: number) => texts.find((one) => one.textContent?.startsWith(`${n}: `));
        const [one, other] = [node(from as number), node(to as number)];
        if (one === undefined || other === undefined) return null;
        getSelection()?.setBaseAndExtent(one, 0, other, 1);
        return getSelection()?.toString() ?? null;
      },
      [first, first + 2] as const,
    );
    expect(range).toContain(textOf(first + 1));
    await box().evaluate((e) => e.scrollBy({ top: -3_000 }));
    await room.say(50);
    await page.getByRole("button", { name: "50 new messages" }).waitFor();
    expect(await page.evaluate("getSelection().toString()")).toBe(range);
    expect(await inDocument()).toBeLessThan(rowsMax + 100);
  });

  test("an edited line shows its new words and that it was edited, a deleted one says so", async () => {
    await share();
    await room.edit(room.said, "other words now");
    await room.remove(room.said - 1);
    const edited = page.locator(".msg.person", { hasText: "other words now" });
    await edited.waitFor();
    expect(await edited.locator("time").textContent()).toMatch(/, edited \d/);
    const deleted = page.locator(".msg.person", { hasText: "Deleted in the room" });
    await deleted.waitFor();
    expect(await deleted.locator(".chip b").textContent()).toBe("observe");
    expect(await page.locator(".talk").textContent()).not.toContain(textOf(room.said - 1));
    // And one far up, which is not in the document when it happens.
    await room.edit(2, "second thoughts");
    await toBeginning();
    await page.locator(".msg.person", { hasText: "second thoughts" }).waitFor();
    await page.reload();
    await deleted.waitFor();
    expect(await edited.count()).toBe(1);
  });

  test("on a phone the list is where it was when the transcript is shown again", async () => {
    await open({ width: 390, height: 844 });
    await box().evaluate((e) => e.scrollBy({ top: -2_000 }));
    await page.waitForTimeout(100);
    const read = await lineAtTop(page);
    const before = await top(read);
    await page.getByRole("button", { name: "State", exact: true }).click();
    await page.locator(".state-col").waitFor();
    await room.say(30);
    await page.getByRole("button", { name: "Transcript", exact: true }).click();
    await line(read).waitFor();
    expect(Math.abs((await top(read)) - before)).toBeLessThan(1);
    await page.setViewportSize({ width: 700, height: 844 });
    await soon(() => top(read).then((px) => Math.abs(px - before) < 60)).toBe(true);
    expect(await inDocument()).toBeLessThan(rowsMax);
  });
});

const isInSight = (element: Element): boolean => {
  const { top, bottom } = element.getBoundingClientRect();
  const edges = element.closest(".talk-scroll")?.getBoundingClientRect();
  return edges !== undefined && top >= edges.top - 1 && bottom <= edges.bottom + 1;
};
