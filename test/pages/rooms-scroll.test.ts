/**
 * The Rooms page over more rooms than it receives at a time, in a real Chromium on a real daemon:
 * rows are there where somebody looks, the keyboard goes on beyond what was sent, and a reader who comes
 * back from a room finds its row again.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { builtPages } from "../support/built/files.ts";
import { aside, createLiveDaemon, group, type LiveDaemon } from "../support/daemon/live-daemon.ts";
import { closeTabs, haveChromium, openTab, sharedChromium } from "../support/pages/chromium.ts";

const count = 600;
const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read, { timeout: 60_000 });
const focused = (page: Page) => page.locator(".room:focus .name").textContent();

describe.skipIf(!haveChromium)("the Rooms page, scrolled", () => {
  let browser: Browser;
  let daemon: LiveDaemon;
  let wrong: string[] = [];

  beforeAll(async () => {
    browser = await sharedChromium();
    daemon = await createLiveDaemon({ pagesDir: builtPages });
    await daemon.start();
    await daemon.say(
      ...Array.from({ length: count }, (_, n) => ({
        chat: group(`#room-${n}`),
        text: `hello ${n}`,
        ...aside,
      })),
    );
  });
  afterAll(async () => {
    await closeTabs();
    await daemon?.close();
  });
  afterEach(async () => {
    await closeTabs();
    expect(wrong).toEqual([]);
  });

  async function open(): Promise<Page> {
    const opened = await openTab(browser);
    wrong = opened.wrong;
    await opened.page.goto(daemon.address("/"));
    await opened.page.locator(".room .name").first().waitFor();
    return opened.page;
  }

  /** Whether the screen is full of rows, and each of them says something. */
  const isFull = (page: Page) =>
    page.evaluate(`(() => {
      const seen = [...document.querySelectorAll(".rooms li")].filter((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      });
      return seen.length > 8 && seen.every((row) => row.querySelector(".name"));
    })()`) as Promise<boolean>;

  test("wherever it is scrolled to, rows are there, and few questions were asked for them", async () => {
    const page = await open();
    let asked = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") asked += 1;
    });
    for (const part of [0.1, 0.9, 0.5, 1, 0]) {
      await page.evaluate(`scrollTo(0, ${part} * document.documentElement.scrollHeight)`);
      await soon(() => isFull(page)).toBe(true);
    }
    const before = asked;
    // Two seconds of reading: 2,880 px or 45 rows.
    await page.evaluate(`new Promise((done) => {
      let left = 120;
      const step = () => {
        scrollBy(0, 24);
        left -= 1;
        if (left === 0) done(); else requestAnimationFrame(step);
      };
      step();
    })`);
    await soon(() => isFull(page)).toBe(true);
    expect(asked - before).toBeLessThanOrEqual(6);
  });

  test("a row in the middle shows what happens there, and only where somebody looks", async () => {
    const page = await open();
    await page.evaluate("scrollTo(0, 300 * 64)");
    const row = page.locator(".room", { has: page.locator(".name", { hasText: /^#room-300$/ }) });
    await row.getByText("hello 300").waitFor();
    await daemon.say({ chat: group("#room-300"), text: "again", ...aside });
    await row.getByText("again").waitFor();
    await daemon.say({ chat: group("#room-599"), text: "out of sight", ...aside });
    await page.waitForTimeout(600);
    expect(await page.getByText("out of sight").count()).toBe(0);
    await page.evaluate("scrollTo(0, 0)");
    await page.getByText("out of sight").waitFor();
  });

  test("the keyboard goes on beyond the rows that were sent first", async () => {
    const page = await open();
    const order: string[] = [];
    const place = () => page.locator("li:has(.room:focus)").getAttribute("aria-posinset");
    for (let press = 1; press <= 60; press += 1) {
      await page.keyboard.press("j");
      if (press % 15 !== 0) continue;
      // Until the rows are sent, the row before them keeps the focus.
      await soon(async () => Number(await place())).toBeGreaterThanOrEqual(press - 2);
      order.push((await focused(page)) ?? "");
    }
    expect(new Set(order).size).toBe(order.length);
    await soon(() => isFull(page)).toBe(true);
  });

  test("a reader who comes back from a room far down finds its row, in the window and focused", async () => {
    const page = await open();
    await page.evaluate("scrollTo(0, 400 * 64)");
    await soon(() => isFull(page)).toBe(true);
    const title = await page.locator('li[aria-posinset="405"] .room .name').textContent();
    // By its name: until the pointer is there the order may still change.
    await page.getByText(title ?? "", { exact: true }).click();
    await page.getByRole("heading", { level: 1, name: title ?? "" }).waitFor();
    await page.goBack();
    await soon(() => focused(page)).toBe(title);
    // The row may be drawn again meanwhile.
    const top = async () => (await page.locator(".room:focus").boundingBox())?.y ?? -1;
    await soon(top).toBeGreaterThan(0);
    expect(await top()).toBeLessThan(900);
    await soon(() => isFull(page)).toBe(true);
  });

  test("the row with the focus keeps it while the rows around it are not known", async () => {
    const page = await open();
    await page.evaluate("scrollTo(0, 400 * 64)");
    await soon(() => isFull(page)).toBe(true);
    await page.locator('li[aria-posinset="408"] .room').focus();
    const title = await focused(page);
    // Rows elsewhere are asked for, as when the page comes back and is scrolled at the same time.
    await page.route("**/api/rooms/live/*", (route) => {
      const look = route.request().postDataJSON() as Record<string, unknown>;
      return route.continue({ postData: JSON.stringify({ ...look, from: 0, limit: 48 }) });
    });
    await page.evaluate("scrollBy(0, -6 * 64)");
    await soon(() => page.locator(".rooms li[aria-hidden]").count()).toBeGreaterThan(10);
    expect(await page.locator(".room:focus").count()).toBe(1);
    expect(await focused(page)).toBe(title);
  });
});
