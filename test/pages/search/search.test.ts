/**
 * Search on the pages of a real daemon: fields, results with the found words, the address that keeps
 * a search, the way to a message far up in its room, and find inside a room.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  aside,
  group,
  type LiveDaemon,
  person,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, follow, soon } from "../../support/pages/pages-daemon.ts";

const talkLines = 900;
const farLine = 40;

describe.skipIf(!haveChromium)("search", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  /** One for all of it, as nothing here needs a fresh one. */
  let page: Page;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
    const chat = group("garden");
    const lines = Array.from({ length: talkLines }, (_, n) => ({
      chat,
      ...aside,
      author: person(["Ann", "Bo"][n % 2] as string),
      text: n === farLine ? "the rhubarb is ripe" : `line ${n} about the weather`,
    }));
    for (let from = 0; from < talkLines; from += 150)
      await daemon.say(...lines.slice(from, from + 150));
    await daemon.say(
      { chat: group("kitchen"), ...toScout, author: person("Cy"), text: "rhubarb <b>cake</b>?" },
      { chat, ...aside, author: person("Dee"), text: "more Rhubarb, and a café" },
    );
    for (;;) {
      const answer = (await daemon.ask("/search?text=rhubarb&outcome=replied")) as {
        found: unknown[];
        index: { state: string };
      };
      if (answer.found.length > 0 && answer.index.state === "ready") break;
    }
    page = await rig.open(daemon.address("/"));
  });

  async function toRooms(): Promise<void> {
    await page.setViewportSize({ width: 1440, height: 900 });
    await follow(page, "/");
    await page.getByRole("heading", { level: 1, name: "Rooms", exact: true }).waitFor();
  }
  /** The page of the search, from another page, with what its address asks for. */
  async function search(query = ""): Promise<void> {
    await toRooms();
    await follow(page, `/search${query}`);
    await field(page).waitFor();
  }

  const texts = (page: Page) => page.locator(".found .text").allTextContents();
  const field = (page: Page) => page.getByLabel("Text of the message");

  test("words find messages, newest first, grouped by room, with the found words marked", async () => {
    await search();
    await field(page).fill("rhubarb");
    await soon(() => page.locator(".found mark").count()).toBeGreaterThanOrEqual(3);
    const shown = await texts(page);
    expect(shown[0]).toContain("more Rhubarb, and a café");
    expect(shown).toContain("rhubarb <b>cake</b>?");
    expect(shown.at(-1)).toBe("the rhubarb is ripe");
    expect(await page.locator(".found mark").first().textContent()).toBe("Rhubarb");
    expect(await page.locator(".found-room h2").allTextContents()).toContain("kitchen");
    expect(new URL(page.url()).search).toBe("?text=rhubarb");
    await field(page).fill("nothing has that");
    await page.getByRole("heading", { name: "No matching messages" }).waitFor();
  });

  test("the address keeps every field; fields choose", async () => {
    await search();
    await page.getByLabel("Author").fill("cy");
    await page.getByLabel("Decision").selectOption("engage");
    await page.getByLabel("Outcome").selectOption("replied");
    await page.getByLabel("Time").selectOption("1d");
    await soon(() => texts(page)).toEqual(["rhubarb <b>cake</b>?"]);
    await page.reload();
    await soon(() => texts(page)).toEqual(["rhubarb <b>cake</b>?"]);
    expect(await page.getByLabel("Decision").inputValue()).toBe("engage");
    const today = new Date();
    const dayOf = (days: number) => {
      const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, 12);
      return day.toISOString().slice(0, 10);
    };
    await page.getByLabel("From").fill(dayOf(1));
    await page.getByRole("heading", { name: "No matching messages" }).waitFor();
    expect(await page.getByLabel("Time").inputValue()).toBe("");
    await page.getByLabel("From").fill(dayOf(-1));
    await page.getByLabel("To", { exact: true }).fill(dayOf(-1));
    await page.getByRole("heading", { name: "No matching messages" }).waitFor();
    await page.getByLabel("To", { exact: true }).fill(dayOf(0));
    await soon(() => texts(page)).toEqual(["rhubarb <b>cake</b>?"]);
    await page.reload();
    await soon(() => texts(page)).toEqual(["rhubarb <b>cake</b>?"]);
    expect(await page.getByLabel("From").inputValue()).toBe(dayOf(-1));
    await page.getByLabel("Rule").selectOption("sticky");
    await page.getByRole("heading", { name: "No matching messages" }).waitFor();
  });

  test("older messages come page by page", async () => {
    await search("?text=weather");
    await soon(async () => (await texts(page)).length).toBe(50);
    await page.getByRole("button", { name: "Older messages" }).click();
    await soon(async () => (await texts(page)).length).toBe(100);
    expect(new Set(await texts(page)).size).toBe(100);
  });

  test("by keys alone: from Rooms to a message far up in its room", async () => {
    await toRooms();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await field(page).waitFor();
    await soon(() => field(page).evaluate((e) => e.matches(":focus"))).toBe(true);
    await page.keyboard.type('"rhubarb is ripe"');
    await soon(() => texts(page)).toEqual(["the rhubarb is ripe"]);
    await field(page).blur();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const line = page.locator(".msg[aria-selected=true]");
    await soon(() => line.textContent()).toContain("the rhubarb is ripe");
    await soon(() => line.evaluate((e) => e.getBoundingClientRect().top > 0)).toBe(true);
    expect(await line.evaluate((e) => e.getBoundingClientRect().bottom < 2_000)).toBe(true);
    const marked = '[...(CSS.highlights.get("found-text") ?? [])].map(String)';
    await soon(() => page.evaluate(marked)).toEqual(["rhubarb is ripe"]);
    // The keys of the page still work: the field of the room has the text, and not the focus.
    expect(await page.getByLabel("Find in this room").inputValue()).toBe('"rhubarb is ripe"');
    await page.keyboard.press("k");
    await soon(() => line.textContent()).not.toContain("rhubarb");
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/marked.png` });
  });

  test("in a room: / finds, Enter goes to older ones and Shift+Enter to newer ones", async () => {
    const key = encodeURIComponent("agent:main:webhook:group:garden");
    await toRooms();
    await follow(page, `/room/${key}`);
    await page.locator(".msg").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("rhubarb");
    const selected = page.locator(".msg[aria-selected=true]");
    const count = page.locator(".room-find [role=status]");
    await soon(() => count.textContent()).toBe("2");
    await page.keyboard.press("Enter");
    await soon(() => selected.textContent()).toContain("more Rhubarb");
    await page.keyboard.press("Enter");
    await soon(() => selected.textContent()).toContain("the rhubarb is ripe");
    await soon(() => count.textContent()).toBe("2 of 2");
    await page.keyboard.press("Shift+Enter");
    await soon(() => selected.textContent()).toContain("more Rhubarb");
    await page.getByRole("link", { name: "List" }).click();
    await soon(() => texts(page)).toHaveLength(2);
    await page.getByRole("button", { name: "All rooms" }).click();
    await soon(() => texts(page)).not.toHaveLength(2);
  });

  test("axe finds nothing, light and dark", async () => {
    await search("?text=rhubarb");
    await soon(() => page.locator(".found mark").count()).toBeGreaterThanOrEqual(3);
    expect(await violationsInBothColours(page)).toEqual([]);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/search-dark.png` });
  });

  test("an error says so, and Try again asks again", async () => {
    rig.forgive("500");
    await search();
    await page.locator(".found").first().waitFor();
    await page.route("**/api/search?*", (route) =>
      route.fulfill({ status: 500, json: { error: { message: "the disk is on fire" } } }),
    );
    await field(page).fill("café");
    await page.getByText("the disk is on fire").waitFor();
    await page.unroute("**/api/search?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await soon(() => texts(page)).toEqual(["more Rhubarb, and a café"]);
  });

  test("nothing is wider than a narrow window", async () => {
    await search("?text=rhubarb");
    await page.setViewportSize({ width: 390, height: 844 });
    await soon(() => page.locator(".found mark").count()).toBeGreaterThanOrEqual(3);
    const width = "document.documentElement.scrollWidth";
    expect(await page.evaluate(width)).toBeLessThanOrEqual(390);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/search-390.png` });
    const key = encodeURIComponent("agent:main:webhook:group:garden");
    await follow(page, `/room/${key}?find=rhubarb`);
    await page.getByRole("link", { name: "List" }).waitFor();
    expect(await page.evaluate(width)).toBeLessThanOrEqual(390);
  });
});
