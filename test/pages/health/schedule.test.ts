/**
 * The schedule on the Health page, in a real Chromium on a real daemon: entries with their next
 * time, paused, resumed and removed there; axe finds nothing wrong, wide and narrow, light and dark.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { violations, violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { outsideWindow } from "../../support/pages/page-checks.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

const to = { channel: "webhook", chat: { id: "garden", kind: "group" } };
const standup = {
  name: "standup",
  cron: "0 9 * * 1-5",
  timeZone: "Europe/Berlin",
  to,
  prompt: "Ask who is blocked.",
};

describe.skipIf(!haveChromium)("the schedule on the Health page", () => {
  const rig = createPagesRig();

  async function daemonWith(config: Readonly<Record<string, unknown>>): Promise<LiveDaemon> {
    const daemon = await rig.daemon(config);
    await daemon.start();
    return daemon;
  }
  async function open(daemon: LiveDaemon): Promise<Page> {
    const page = await rig.open(daemon.address("/health"));
    await page.locator(".health").waitFor();
    return page;
  }
  const add = (daemon: LiveDaemon, entry: object) =>
    fetch(`${daemon.base}/api/schedules`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
      body: JSON.stringify(entry),
    });
  const panel = (page: Page) => page.getByRole("region", { name: "Schedule" });
  const entry = (page: Page, name: string) => panel(page).locator(".need", { hasText: name });

  test("entries are shown with their next time, wide and narrow; paused, resumed and removed", async () => {
    const daemon = await daemonWith({ schedule: [standup] });
    await add(daemon, { name: "tea", cron: "0 16 * * *", to, text: "Tea? ".repeat(30) });
    const page = await open(daemon);
    await entry(page, "standup").waitFor();
    expect(await entry(page, "standup").textContent()).toMatch(
      /Next \d{4}-\d\d-\d\d \d\d:00 UTC, 0 9 \* \* 1-5 Europe\/Berlin, in webhook garden/,
    );
    expect(await entry(page, "standup").textContent()).toContain("Prompt: Ask who is blocked.");
    // Entries of the config are removed there.
    expect(await entry(page, "standup").getByRole("button").allTextContents()).toEqual(["Pause"]);
    await entry(page, "tea").waitFor();
    for (const width of [390, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await outsideWindow(page), `nothing is outside the window at ${width} px`).toEqual([]);
      expect(await violationsInBothColours(page), `axe at ${width} px`).toEqual([]);
    }
    await entry(page, "standup").getByRole("button", { name: "Pause" }).click();
    await entry(page, "standup").getByText("Paused").waitFor();
    await entry(page, "standup").getByRole("button", { name: "Resume" }).click();
    await entry(page, "standup").getByText("Next").waitFor();
    await entry(page, "tea").getByRole("button", { name: "Remove" }).click();
    await entry(page, "tea").getByText("Remove this entry?").waitFor();
    await entry(page, "tea").getByRole("button", { name: "Remove" }).click();
    await soon(() => panel(page).locator(".need").count()).toBe(1);
  });

  test("without entries there is no panel; one that was not said needs somebody, until paused or removed", async () => {
    const daemon = await daemonWith({});
    const page = await open(daemon);
    await page.getByText("Nothing needs you").first().waitFor();
    expect(await panel(page).count()).toBe(0);
    const unknown = { ...to, chat: { id: "elsewhere" } };
    // One whose time has passed when it arrives is refused.
    const added = async (name: string) => {
      const at = new Date(Date.now() + 500).toISOString();
      return (await add(daemon, { name, at, to: unknown, text: "Tea?" })).ok;
    };
    for (const name of ["one", "two"]) await soon(() => added(name)).toBe(true);
    const needs = page.getByRole("region", { name: "Needs you" });
    const need = (name: string) => needs.locator(".need", { hasText: `${name},` });
    await need("one").getByText("A scheduled message was not sent").waitFor();
    expect(await need("one").textContent()).toMatch(
      /one, \d{4}-\d\d-\d\d \d\d:\d\d UTC\. .*it is unknown whether "elsewhere"/,
    );
    expect(await violations(page, "everything")).toEqual([]);
    await need("one").getByRole("button", { name: "Pause" }).click();
    await need("one").waitFor({ state: "detached" });
    await need("two").getByRole("button", { name: "Remove" }).click();
    await need("two").getByRole("button", { name: "Remove" }).click();
    await needs.getByText("Nothing needs you").waitFor();
    await soon(() => panel(page).locator(".need").count()).toBe(1);
  });
});
