/**
 * The Health page in a real Chromium on a real daemon: what needs a person, and what becomes of it.
 */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { group, type LiveDaemon, toScout } from "../../support/daemon/live-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";
import { writeUnsettledSends } from "../../support/runtime/unsettled-sends.ts";

describe.skipIf(!haveChromium)("the Health page", () => {
  const rig = createPagesRig();
  let daemon: LiveDaemon;

  beforeEach(async () => {
    daemon = await rig.daemon();
  });

  async function open(): Promise<Page> {
    const page = await rig.open(daemon.address("/health"));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.locator(".health").waitFor();
    return page;
  }
  const leave = (state: "in-doubt" | "dead", ids: readonly string[]) =>
    writeUnsettledSends(daemon.stateDir, state, ids);
  /** Leaves sends behind as a process does that ended while it sent them. */
  const leaveInDoubt = (...ids: readonly string[]) => leave("in-doubt", ids);

  const panel = (page: Page, name: string) => page.getByRole("region", { name });
  const fact = (page: Page, where: string, name: string) =>
    panel(page, where).locator(`dt:text-is("${name}") + dd`).textContent();

  test("a calm daemon says so, and its parts are listed", async () => {
    await daemon.start();
    const page = await open();
    await panel(page, "Needs you").getByText("Nothing needs you").waitFor();
    expect(await page.locator(".head .sub").textContent()).toMatch(
      /^Up \d+ s\. Nothing needs you\.$/,
    );
    await panel(page, "Connections").getByText("3 of 3 connected").waitFor();
    expect(await panel(page, "Workers").locator("tbody tr").count()).toBe(1);
    // As `earshot status` and the log call it.
    await panel(page, "Workers").getByText("host 0", { exact: true }).waitFor();
    await panel(page, "Turn slots").getByText("0 of 4 busy").waitFor();
    await panel(page, "Store").getByText("Writing").waitFor();
    await daemon.say({ chat: group("garden"), text: "hello", ...toScout });
    await soon(() => fact(page, "Deliveries", "Sent")).toBe("1");
    const webhook = panel(page, "Connections").locator("tr", { hasText: "Webhook" });
    await soon(() => webhook.locator("td").nth(4).textContent()).toMatch(/^(now|\d+ s)$/);
    await daemon.say({ id: "m1", chat: group("garden"), text: "hello", ...toScout });
    await soon(() => fact(page, "Deliveries", "Duplicates dropped since start")).toBe("1");
  });

  test("a doubtful delivery is sent again on request, and only then", async () => {
    await leaveInDoubt("T1:0");
    await daemon.start();
    const page = await open();
    const need = panel(page, "Needs you").locator(".need");
    expect(await need.locator("h3").textContent()).toBe("One delivery may or may not have arrived");
    expect(await need.textContent()).toContain(
      "The connection broke while sending. “text of T1:0”",
    );
    expect(await fact(page, "Deliveries", "In doubt")).toBe("1");
    await need.getByRole("button", { name: "Resend" }).click();
    await panel(page, "Needs you").getByText("Nothing needs you").waitFor();
    await soon(() => fact(page, "Deliveries", "Sent")).toBe("1");
    expect(await fact(page, "Deliveries", "In doubt")).toBe("0");
  });

  test("dropping asks once, in its place, and may be taken back; no width scrolls sideways", async () => {
    await leaveInDoubt("T1:0", "T1:1");
    await daemon.start();
    const page = await open();
    const need = panel(page, "Needs you").locator(".need", { hasText: "text of T1:0" });
    await need.getByRole("button", { name: "Drop" }).click();
    await need.getByText("Drop it? It will not be sent.").waitFor();
    await need.getByRole("button", { name: "Keep" }).click();
    expect(await need.getByRole("button", { name: "Resend" }).count()).toBe(1);
    await need.getByRole("button", { name: "Drop" }).click();
    await need.getByRole("button", { name: "Drop" }).click();
    await soon(() => need.count()).toBe(0);
    await page.getByText("1 thing needs you.").waitFor();
    expect(await panel(page, "Needs you").locator(".need").textContent()).toContain("text of T1:1");
    for (const width of [390, 768, 1200, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wide, `nothing scrolls sideways at ${width} px`).toBe(0);
    }
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Health");
  });

  test("a dead delivery is listed until somebody has seen it", async () => {
    await leave("dead", ["T1:0"]);
    await daemon.start();
    const page = await open();
    const need = panel(page, "Needs you").locator(".need", {
      hasText: "One delivery was not sent",
    });
    await need.getByRole("button", { name: "Drop" }).click();
    await need.getByRole("button", { name: "Drop" }).click();
    await panel(page, "Needs you").getByText("Nothing needs you").waitFor();
    expect(await fact(page, "Deliveries", "Dead")).toBe("1");
  });
});
