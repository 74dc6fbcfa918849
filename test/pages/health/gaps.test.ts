/** What an account could not recover, on the Health page: lost messages need a person, edits do not. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeGapPlugin } from "../../support/daemon/gap-plugin.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

describe.skipIf(!haveChromium)("a time that was not recovered", () => {
  const rig = createPagesRig();

  test("is named with its rooms, and Seen takes it off the page", async () => {
    const from = Date.UTC(2026, 10, 24, 3, 0);
    const span = { from, to: from + 12 * 60_000 };
    const folder = mkdtempSync(join(tmpdir(), "gap-"));
    const config = writeGapPlugin(folder, [
      { ...span, rooms: ["#garden"], lost: "messages" },
      { ...span, rooms: ["#shed"], lost: "edits" },
    ]);
    const daemon = await rig.daemon(config);
    await daemon.start();
    const page = await rig.open(daemon.address("/health"));
    const need = page.getByRole("region", { name: "Needs you" }).locator(".need");
    await need.getByText("Pigeon was disconnected, and messages may be lost").waitFor();
    const list = page.getByRole("list", { name: "Not recovered" });
    await soon(() => list.locator("li").allTextContents()).toEqual([
      "Pigeon: messages of 12 min, from 2026-11-24 03:00 UTC, were not recovered (#garden)",
      "Pigeon: edits and deletions of 12 min, from 2026-11-24 03:00 UTC, were not recovered (#shed)",
    ]);
    await need.getByRole("button", { name: "Seen" }).click();
    await page.getByText("Nothing needs you", { exact: true }).waitFor();
    await soon(() => list.locator("li").count()).toBe(1);
    expect(await list.textContent()).toContain("#shed");
  });
});
