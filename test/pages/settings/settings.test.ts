/** The Settings page in a real Chromium on a real daemon: found, changed, refused, undone; by keyboard. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violations, violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { outsideWindow } from "../../support/pages/page-checks.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

describe.skipIf(!haveChromium)("the Settings page", () => {
  const rig = createPagesRig();
  const row = (page: Page, path: string) =>
    page
      .locator(".setting")
      .filter({ has: page.getByRole("heading", { name: path, exact: true }) });

  test("finds a setting, checks what is typed, shows the diff, writes, and undoes", async () => {
    const daemon = await rig.daemon({ context: { size: 7 } });
    await daemon.start();
    const file = () => readFileSync(join(daemon.stateDir, "earshot.json5"), "utf8");
    const before = file();
    const page = await rig.open(daemon.address("/settings"));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByLabel("Find a setting").fill("context size");
    await row(page, "context.size").getByText("line 1").waitFor();
    await page.getByRole("button", { name: "Change context.size" }).focus();
    await page.keyboard.press("Enter");
    const box = page.getByLabel("New value of context.size");
    await soon(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      "New value of context.size",
    );
    // The browser's line about a value that is not valid.
    rig.forgive("400");
    await box.fill("-3");
    await row(page, "context.size").getByText("context.size is invalid").waitFor();
    await box.fill("12");
    await row(page, "context.size").locator(".setup-diff .new").getByText("12").waitFor();
    const shots = process.env.EARSHOT_SHOTS;
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await violationsInBothColours(page)).toEqual([]);
      expect(await outsideWindow(page)).toEqual([]);
      if (shots !== undefined) await page.screenshot({ path: `${shots}/settings-${width}.png` });
    }
    await page.keyboard.press("Enter");
    await row(page, "context.size").getByText("Saved and applied.").waitFor();
    await soon(() => row(page, "context.size").locator(".setting-value").textContent()).toBe("12");
    expect(file()).toBe(before.replace('"size":7', '"size":12'));
    await row(page, "context.size").getByRole("button", { name: "Undo" }).click();
    await row(page, "context.size").getByText("Undone.").waitFor();
    await soon(() => row(page, "context.size").locator(".setting-value").textContent()).toBe("7");
    expect(file()).toBe(before);

    await page.getByLabel("Find a setting").fill("");
    await page.getByLabel("Only set values").check();
    await row(page, "agents.list[0].name").waitFor();
    expect(await row(page, "log.showText").count()).toBe(0);
    if (shots !== undefined) await page.screenshot({ path: `${shots}/settings-set.png` });
  });

  test("takes a value out, adds an account and an agent, and takes the last change back after a reload", async () => {
    const daemon = await rig.daemon({ context: { size: 7 } });
    await daemon.start();
    const file = () => readFileSync(join(daemon.stateDir, "earshot.json5"), "utf8");
    const page = await rig.open(daemon.address("/settings"));
    await page.getByLabel("Find a setting").fill("context size");
    await page.getByRole("button", { name: "Change context.size" }).click();
    await page.getByLabel("Remove from the file").check();
    await row(page, "context.size").locator(".setup-diff .old").waitFor();
    await row(page, "context.size").getByRole("button", { name: "Save" }).click();
    await row(page, "context.size").getByText("Saved and applied.").waitFor();
    expect(JSON5.parse(file()).context).toEqual({});
    await page.getByLabel("Find a setting").fill("");

    const panel = page.getByRole("region", { name: "Add or remove an entry" });
    await panel.getByLabel("Value").fill('{ id: "second", name: "Second" }');
    await panel.getByRole("button", { name: "Review change" }).click();
    await panel.locator(".setup-diff .new", { hasText: "second" }).waitFor();
    await panel.getByRole("button", { name: "Save" }).click();
    await panel.getByText("Saved and applied.").waitFor();
    const before = file();
    expect(JSON5.parse(before).agents.list.map(({ id }: { id: string }) => id)).toContain("second");

    await panel.getByLabel("Section").selectOption("access.groups");
    await panel.getByLabel("Name").fill("telegram:-1001");
    await panel.getByLabel("Value").fill("{}");
    await panel.getByRole("button", { name: "Review change" }).click();
    await panel.getByRole("button", { name: "Save" }).click();
    await soon(() => JSON5.parse(file()).access?.groups).toEqual({ "telegram:-1001": {} });
    await panel.getByRole("button", { name: "Remove access.groups" }).waitFor();
    // Beside a few settings: axe looks at each of some hundred.
    await page.getByLabel("Find a setting").fill("access.groups");
    expect(await violations(page, "everything")).toEqual([]);

    await page.reload();
    const last = page.getByRole("region", { name: "Last change" });
    await last.getByText("access.groups.telegram:-1001 added").waitFor();
    await last.getByRole("button", { name: "Undo" }).click();
    await last.getByText("Undone").waitFor();
    expect(file()).toBe(before);
  });
});
