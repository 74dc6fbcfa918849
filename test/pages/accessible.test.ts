/**
 * Every page, with nothing on it and with everything, asked by axe: in light and dark, on a desk,
 * in a window of middling width, and on a phone with each of its panes.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violations } from "../support/axe.ts";
import { haveChromium } from "../support/chromium.ts";
import { type CrowdedHouse, crowdedHouse } from "../support/crowded-house.ts";
import type { LiveDaemon } from "../support/live-daemon.ts";
import { pagesHouse } from "../support/pages-house.ts";
import { views } from "../support/views.ts";

const lostViews = [
  "Rooms",
  "a room with its ladder, while the agent writes",
  "Health with trouble",
];
/** The browser's words for a room that is not there yet, and for a daemon that went away. */
const forgiven = ["404", "ERR_"];

describe.skipIf(!haveChromium)("axe finds nothing", () => {
  const house = pagesHouse({ kept: true, forgiven });
  let crowded: CrowdedHouse;
  let calm: LiveDaemon;

  beforeAll(async () => {
    calm = await house.daemon();
    [crowded] = await Promise.all([crowdedHouse(house), calm.start()]);
  }, 60_000);
  afterAll(() => crowded?.close());

  /** Colours are all that dark changes. */
  async function look(page: Page, where: string): Promise<readonly string[]> {
    await page.emulateMedia({ colorScheme: "light" });
    const light = await violations(page, "everything");
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await violations(page, "colours");
    return [
      ...light.map((one) => `${where}: ${one}`),
      ...dark.map((one) => `${where}, dark: ${one}`),
    ];
  }

  /** At both widths; on a phone with each of its panes. */
  async function lookAll(page: Page, panes: readonly string[]): Promise<readonly string[]> {
    const found = [...(await look(page, "1440 px"))];
    await page.setViewportSize({ width: 1000, height: 700 });
    found.push(...(await violations(page, "everything")).map((one) => `1000 px: ${one}`));
    await page.setViewportSize({ width: 390, height: 844 });
    if (panes.length === 0) found.push(...(await look(page, "390 px")));
    for (const pane of panes) {
      const show = page.getByRole("group", { name: "Show", exact: true }).first();
      await show.getByRole("button", { name: pane }).click();
      found.push(...(await look(page, `390 px, ${pane}`)));
    }
    return found;
  }

  for (const { name, of, path, reach, panes = [] } of views)
    test(`on ${name}`, { timeout: 60_000 }, async () => {
      const page = await house.open((of === "calm" ? calm : crowded.daemon).address(path));
      await reach(page);
      const found = await lookAll(page, panes);
      await page.context().close();
      expect(found).toEqual([]);
    });

  test("on what a page keeps when its connection is lost", { timeout: 60_000 }, async () => {
    const kept = views.filter(({ name }) => lostViews.includes(name));
    const pages = await Promise.all(
      kept.map(async ({ path, reach }) => {
        const page = await house.open(crowded.daemon.address(path));
        await reach(page);
        return page;
      }),
    );
    await crowded.daemon.stop();
    const found: string[] = [];
    for (const page of pages) {
      await page.getByText("Reconnecting", { exact: true }).waitFor();
      found.push(...(await look(page, page.url())));
    }
    expect(found).toEqual([]);
    expect(pages.length).toBe(lostViews.length);
  });
});
