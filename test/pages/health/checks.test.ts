/**
 * "Check everything" on the Health page, in a real Chromium on a real daemon: what has begun is shown
 * at once, each result takes its place, a server that is repaired is fine the next time.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { outsideWindow } from "../../support/pages/page-checks.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";

const key = "sk-a-key-that-no-page-may-show";

describe.skipIf(!haveChromium)("Check everything", () => {
  const rig = createPagesRig();
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
  });
  afterAll(() => model.close());

  const rows = (page: Page) => page.locator(".check");
  const row = (page: Page, check: string) => rows(page).filter({ hasText: check });

  test("shows what is tried, and its results; by keyboard only, and for everybody", async () => {
    model.key = "another key";
    const driver = { kind: "model", model: "small", baseUrl: model.baseUrl, apiKey: key };
    const daemon = await rig.daemon({
      agents: {
        list: [
          { id: "main", name: "Scout", driver },
          { id: "other", driver: { ...driver, baseUrl: "http://127.0.0.1:1/v1" } },
        ],
      },
    });
    await daemon.start();
    const page = await rig.open(daemon.address("/health"));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Check everything" }).focus();
    await page.keyboard.press("Enter");
    await row(page, "agents.list[0].driver").getByText("refuses the key (HTTP 401)").waitFor();
    await row(page, "agents.list[1].driver").getByText("refused: 127.0.0.1:1").waitFor();
    await row(page, "state directory").waitFor();
    const again = page.getByRole("button", { name: "Check again" });
    await again.waitFor();
    expect(await again.evaluate("document.activeElement.textContent")).toBe("Check again");
    await page.getByText(/^2 wrong/u).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await violationsInBothColours(page)).toEqual([]);
    const shots = process.env.EARSHOT_SHOTS;
    for (const [width, scheme] of [
      [1440, "light"],
      [1440, "dark"],
      [390, "light"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      expect(await outsideWindow(page)).toEqual([]);
      if (shots !== undefined)
        await page.screenshot({ path: `${shots}/checks-${width}-${scheme}.png`, fullPage: true });
    }

    model.key = key;
    await page.keyboard.press("Enter");
    await row(page, "agents.list[0].driver").getByText("takes the key and has small").waitFor();
    await page.getByText(/^1 wrong/u).waitFor();
  });
});
