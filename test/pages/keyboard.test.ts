/**
 * The pages by keyboard: keys do what the list of keys says, and stay out of the way of text, lists
 * and whatever scrolls.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { haveChromium } from "../support/pages/chromium.ts";
import { gardenPath, twoDaemons } from "../support/pages/crowded-rooms.ts";
import { createPagesRig, soon } from "../support/pages/pages-daemon.ts";

describe.skipIf(!haveChromium)("by keyboard", () => {
  const rig = createPagesRig({ kept: true });
  const daemons = twoDaemons(rig);

  const path = (page: Page) => new URL(page.url()).pathname;
  async function press(page: Page, ...keys: readonly string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  test("g and a letter open the pages, t turns the light off and on, ? lists the keys", async () => {
    const page = await rig.open(daemons.calm.address("/"));
    await page.getByRole("heading", { level: 1, name: "Rooms" }).waitFor();
    for (const [letter, where, title] of [
      ["c", "/chat", "Chat"],
      ["w", "/replay", "What-if"],
      ["h", "/health", "Health"],
      ["r", "/", "Rooms"],
    ] as const) {
      await press(page, "g", letter);
      await soon(() => path(page)).toBe(where);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await soon(() => page.title()).toBe(`${title} · earshot`);
    }
    const theme = () => page.locator("html").getAttribute("data-theme");
    await press(page, "t");
    expect(await theme()).toBe("dark");
    await press(page, "t", "?");
    expect(await theme()).toBe("light");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.waitFor();
    await press(page, "t", "Escape");
    expect(await theme()).toBe("light");
    expect(await list.count()).toBe(0);
  });

  test("single letters can be switched off, and the list of keys still be opened", async () => {
    const page = await rig.open(daemons.calm.address("/chat"));
    await page.getByText("Pick a message").waitFor();
    await page.getByRole("button", { name: "All shortcuts" }).click();
    await page.getByLabel("Use single-letter shortcuts").uncheck();
    await press(page, "Escape", "g", "h", "t");
    expect(path(page)).toBe("/chat");
    expect(await page.locator("html").getAttribute("data-theme")).toBeNull();
    await page.getByRole("button", { name: "All shortcuts" }).click();
    await page.getByLabel("Use single-letter shortcuts").check();
    await press(page, "Escape", "g", "h");
    await soon(() => path(page)).toBe("/health");
  });

  test("letters and arrows belong to a text or a list of choices that has the focus", async () => {
    const page = await rig.open(daemons.calm.address("/replay"));
    await page
      .getByRole("heading", { name: /^(Change a rule|No messages in that time)/ })
      .waitFor();
    const choices = page.getByLabel("Recording", { exact: true });
    await choices.focus();
    await press(page, "t");
    expect(await page.locator("html").getAttribute("data-theme")).toBeNull();
    await soon(() => choices.inputValue()).toBe("0");
    await press(page, "ArrowDown");
    await soon(() => choices.inputValue()).toBe("1");
    await press(page, "g", "h");
    expect(path(page)).toBe("/replay");
  });

  test("in a room, arrows scroll what has the focus and move through messages elsewhere", async () => {
    const page = await rig.open(daemons.crowded.address(gardenPath), { height: 420 });
    const selected = () => page.locator('.msg[aria-selected="true"] .text').first().textContent();
    await page.locator(".rung[aria-current]").waitFor();
    const before = await selected();
    // The engaged line before: the agent's own line, which has no ladder, may be between them.
    await press(page, "E");
    await soon(selected).not.toBe(before);
    const next = await selected();
    await page.getByRole("list", { name: /^The ladder/ }).focus();
    await press(page, "ArrowDown", "ArrowDown");
    const ladder = page.locator(".why-pane .scroll");
    await soon(() => ladder.evaluate((box) => box.scrollTop)).toBeGreaterThan(0);
    const state = page.getByRole("region", { name: "State" });
    await state.focus();
    await press(page, "ArrowDown");
    await soon(() => state.evaluate((box) => box.scrollTop)).toBeGreaterThan(0);
    expect(await selected()).toBe(next);
    // Letters have nothing else to do there.
    await press(page, "e");
    await soon(selected).toBe(before);
  });

  test("the link before everything else leads past the bar", async () => {
    const page = await rig.open(daemons.calm.address("/health"));
    await page.getByText("Nothing needs you", { exact: true }).waitFor();
    await press(page, "Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to content");
    await press(page, "Enter");
    expect(await page.locator("main:focus").count()).toBe(1);
    expect(await page.getByRole("banner").count()).toBe(1);
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  });
});
