/**
 * Every page, with nothing on it and with everything: axe finds nothing wrong in light and dark, on
 * a wide screen and on a phone with each of its panes; the Tab key reaches every control, and each shows
 * it; nothing lies beyond the edge of a small window. And each page loads little.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations, violationsInBothColours } from "../support/pages/axe.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { gardenPath, twoDaemons } from "../support/pages/crowded-rooms.ts";
import { loadedBytes, outsideWindow, readFocusOrder } from "../support/pages/page-checks.ts";
import { createPagesRig, lostDaemon } from "../support/pages/pages-daemon.ts";
import { views } from "../support/pages/views.ts";
import { rounds } from "../support/rounds.ts";

const lostViews = [
  "Rooms",
  "a room with its ladder, while the agent writes",
  "Health with trouble",
];
/** A wide screen shows all panes beside each other: on a phone axe looks at the others in the longer runs. */
const panesMax = rounds(1, 10);
/** The browser's words for a room that is not there yet, and for a daemon that went away. */
const forgiven = ["404", ...lostDaemon];

describe.skipIf(!haveChromium)("everybody can use", () => {
  const rig = createPagesRig({ kept: true, forgiven });
  const daemons = twoDaemons(rig);

  const look = async (page: Page, where: string): Promise<readonly string[]> =>
    (await violationsInBothColours(page)).map((one) => `${where}: ${one}`);

  /** At both widths, on a phone with each of its panes; then narrower, and zoomed in. */
  async function lookAll(page: Page, panes: readonly string[]): Promise<readonly string[]> {
    const found = [...(await look(page, "1440 px"))];
    for (const [at, pane] of (panes.length === 0 ? [""] : panes).entries()) {
      await page.setViewportSize({ width: 390, height: 844 });
      const show = page.getByRole("group", { name: "Show", exact: true }).first();
      if (pane !== "") await show.getByRole("button", { name: pane }).click();
      if (at < panesMax) found.push(...(await look(page, `390 px ${pane}`)));
      for (const [width, height] of [
        [720, 450],
        [320, 256],
      ] as const) {
        await page.setViewportSize({ width, height });
        found.push(...(await outsideWindow(page)).map((one) => `${width} px ${pane}: ${one}`));
      }
    }
    return found;
  }

  for (const { of, path, next = [], ...first } of views)
    test([first, ...next].map(({ name }) => name).join("; then "), async () => {
      const page = await rig.open(daemons[of].address(path));
      for (const { name, reach, panes = [] } of [first, ...next]) {
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.emulateMedia({ colorScheme: "light" });
        await reach(page);
        expect(await loadedBytes(page, rig.pagesDir), name).toBeLessThan(64_000);
        const order = { unseen: [], missed: [], ends: true };
        expect(await readFocusOrder(page), name).toEqual(order);
        expect(await lookAll(page, panes), name).toEqual([]);
      }
      await page.close();
    });

  test("contrast in a drawing, which axe leaves open, is looked at as well", async () => {
    const page = await rig.open(daemons.crowded.address(gardenPath));
    await page.locator(".chart text").first().waitFor();
    expect(await violations(page, "colours")).toEqual([]);
    for (const [fill, found] of [
      ["rgb(140, 140, 140)", / of 4\.5: rgb\(140, 140, 140\) on rgb\(2\d\d, /u],
      ["rgba(0, 0, 0, 0.1)", /: 1\.\d\d of 4\.5: rgb\(/u],
    ] as const) {
      await page.evaluate(`document.querySelector(".chart text").style.fill = "${fill}"`);
      expect(await violations(page, "colours")).toEqual([expect.stringMatching(found)]);
    }
    await page.close();
  });

  test("what a page keeps when its connection is lost", async () => {
    const kept = views.filter(({ name }) => lostViews.includes(name));
    const pages = await Promise.all(
      kept.map(async ({ path, reach }) => {
        const page = await rig.open(daemons.crowded.address(path));
        await reach(page);
        return page;
      }),
    );
    await daemons.crowded.stop();
    const found: string[] = [];
    for (const page of pages) {
      await page.getByText("Reconnecting", { exact: true }).waitFor();
      found.push(...(await look(page, page.url())));
    }
    expect(found).toEqual([]);
    expect(pages.length).toBe(lostViews.length);
  });
});
