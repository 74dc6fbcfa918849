/**
 * The Chat page on a real daemon: SQLite, the guide, the webchat channel, the simulation. What the
 * page shows here is what a person sees after the first start.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { haveChromium, openPage, startChromium } from "../support/chromium.ts";
import { buildPages } from "../support/servers/pages.ts";

/** Waits for what is bound to happen; long, since other tests use the same two cores. */
const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read, { timeout: 15_000 });
const chatPage = ({ page }: Daemon) => page.replace("/#", "/chat#");
const built = resolve(import.meta.dirname, "..", "..", "dist", "web");

describe.skipIf(!haveChromium)("the Chat page on a real daemon", () => {
  let stateDir: string;
  let daemon: Daemon;
  let browser: Browser;

  const start = (port: number) =>
    startDaemon({ stateDir, port, workers: 0, logLevel: "error", env: {} });

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "earshot-chat-"));
    const config = `{ agents: { list: [{ id: "main", name: "Scout" }] } }`;
    await writeFile(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
    if (!existsSync(join(built, "index.html"))) await buildPages(built);
    [daemon, browser] = await Promise.all([start(0), startChromium()]);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.stop({ drainMs: 0 });
    await rm(stateDir, { recursive: true, force: true });
  });

  const mine = (page: Page, text: string) =>
    page.locator(".direct .dm-line.mine", { hasText: text });
  const answers = (page: Page) => page.locator(".direct .bubble.it:not(:has(.caret))");
  const textbox = (page: Page) => page.locator(".direct textarea");

  async function say(page: Page, text: string): Promise<void> {
    await textbox(page).fill(text);
    await textbox(page).press("Enter");
    await mine(page, text).getByText("engage dm").waitFor();
  }

  test("the guide answers in the direct chat, and the ladder of the line says why", async () => {
    const { page, wrong } = await openPage(browser);
    await page.goto(chatPage(daemon));
    await page.getByText("Live", { exact: true }).waitFor();
    await say(page, "hello there");
    await answers(page).first().waitFor();
    expect(await answers(page).first().textContent()).toContain("built-in guide");
    await page.locator(".direct .meta", { hasText: "sent in" }).first().waitFor();
    await mine(page, "hello there").getByRole("button").click();
    await page.locator(".rung[aria-current]").waitFor();
    expect(await page.locator(".rung[aria-current] .rule").textContent()).toBe("dm");
    expect(await page.locator(".facts").textContent()).toContain("earshot why ");
    expect(wrong).toEqual([]);
  });

  test("a second page sees the same talk, and both see what is new", async () => {
    const first = await openPage(browser);
    const second = await openPage(browser);
    for (const { page } of [first, second]) {
      await page.goto(chatPage(daemon));
      await mine(page, "hello there").waitFor();
    }
    await say(first.page, "seen by both");
    await mine(second.page, "seen by both").getByText("engage dm").waitFor();
    expect([...first.wrong, ...second.wrong]).toEqual([]);
  });

  test("a simulated room of four people and two bots decides by the rules and names of the config", async () => {
    const { page, wrong } = await openPage(browser);
    await page.goto(chatPage(daemon));
    await page.getByText("Live", { exact: true }).waitFor();
    for (const [who, kind] of [
      ["Dee", "Add person"],
      ["Clerk", "Add bot"],
    ] as const) {
      await page.getByRole("button", { name: "Add a person or bot" }).click();
      await page.getByLabel("Name", { exact: true }).fill(who);
      await page.getByRole("button", { name: kind }).click();
    }
    const lines = [
      ["Ann", "lunch at one?", "observe default"],
      ["Relay", "Menu for today: soup", "observe default"],
      ["Dee", "@Bo are you coming?", "observe mentions-others"],
      ["Clerk", "@Scout any orders?", "engage mention"],
      ["Clerk", "two soups then", "engage sticky"],
      ["Cy", "relay, one for me", "observe names-peer-bot"],
      ["Ann", "scout, is there a vegan dish?", "engage alias"],
    ] as const;
    for (const [who, text, decided] of lines) {
      await page.getByRole("radio", { name: who, exact: true }).click();
      const box = page.getByLabel("Message in the simulated room");
      await box.fill(text);
      await soon(() => chipOf(page.locator(".room-pane .would .chip"))).toBe(decided);
      await box.press("Enter");
      const row = page.locator(".msg", { hasText: text }).first();
      await soon(() => chipOf(row.locator(".chip"))).toBe(decided);
    }
    await page
      .getByText(/Sent in .* Clerk has a credit for 15 min/)
      .first()
      .waitFor();
    expect(wrong).toEqual([]);
  });

  test("a restart of the daemon loses nothing and doubles nothing", async () => {
    const { page } = await openPage(browser);
    await page.goto(chatPage(daemon));
    await say(page, "before the restart");
    await soon(() => answers(page).count()).toBeGreaterThanOrEqual(3);
    const port = Number(new URL(daemon.base).port);
    await daemon.stop({ drainMs: 2_000 });
    await page.getByText(/^Reconnecting, try/).waitFor();
    await textbox(page).fill("while it was away");
    await textbox(page).press("Enter");
    daemon = await start(port);
    await mine(page, "while it was away").getByText("engage dm").waitFor();
    await soon(() => answers(page).count()).toBeGreaterThanOrEqual(4);
    const texts = await page.locator(".direct .bubble.me").allInnerTexts();
    expect(texts).toEqual([
      "hello there",
      "seen by both",
      "before the restart",
      "while it was away",
    ]);
    await page.reload();
    await mine(page, "while it was away").getByText("engage dm").waitFor();
    expect(await page.locator(".direct .bubble.me").allInnerTexts()).toEqual(texts);
  });
});

/** A chip as its words: "engage mention". */
async function chipOf(chip: ReturnType<Page["locator"]>): Promise<string> {
  const parts = await chip.locator("b, .rule").allInnerTexts();
  return parts.join(" ");
}
