/**
 * A Room page in a real Chromium, of a room whose conversation is active on another node: what is said and answered
 * there appears without a reload, and the list of rooms moves. Health shows both nodes, and what becomes of them.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { group, toScout } from "../support/daemon/live-daemon.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig, follow, soon } from "../support/pages/pages-daemon.ts";
import { haveRestate } from "../support/restate/server.ts";
import { createTwoDaemons, type TwoDaemons } from "../support/restate/two-daemons.ts";

const key = "agent:main:webhook:group:#garden";

describe.skipIf(!haveChromium || !haveRestate)("pages of a node on which nothing is active", () => {
  const rig = createPagesRig({ kept: true });
  let all: TwoDaemons;
  /** As a person has it open on the node on which nothing is active, from page to page. */
  let page: Page;

  beforeAll(async () => {
    all = await createTwoDaemons({ pagesDir: rig.pagesDir });
    await all.back.start();
    await all.front.start();
    rig.closing(() => all.close());
    page = await rig.open(all.front.address("/"));
  });

  test("the Room page shows each new answer as it comes", async () => {
    const { front, back } = all;
    const garden = { chat: group("#garden"), ...toScout };
    await back.say({ ...garden, id: "first", text: "Scout, where are the beans?" });
    await soon(async () =>
      JSON.stringify(await front.ask(`/rooms/${encodeURIComponent(key)}`)),
    ).toContain('"kind":"said"');
    await follow(page, `/room/${encodeURIComponent(key)}`);
    const lines = page.locator(".msg");
    await soon(() => lines.count()).toBe(2);
    const opened = await page.evaluate(() => performance.timeOrigin);
    await back.say({ ...garden, id: "second", text: "Scout, and the turnips?" });
    await page.locator(".msg.person").filter({ hasText: "and the turnips?" }).waitFor();
    await soon(() => lines.count()).toBe(4);
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(opened);
  });

  for (const [width, colorScheme] of [
    [390, "dark"],
    [1_440, "light"],
  ] as const)
    test(`Health lists both nodes at ${width} px`, async () => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await follow(page, "/health");
      const panel = page.getByRole("region", { name: "Nodes" });
      await panel.getByText(/^Restate \d/u).waitFor();
      const rows = panel.locator("tbody tr");
      await soon(() => rows.count()).toBe(2);
      await rows.nth(0).getByText("this one").waitFor();
      await rows.nth(1).getByText("Running").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    });

  test("the direct chat shows an answer that another node made", async () => {
    await follow(page, "/chat");
    const box = page.locator("textarea").first();
    await box.fill("Where are the beans?");
    await box.press("Enter");
    await page.getByText("I am the built-in guide.").first().waitFor();
  });

  test("a node that keeps no copy says so instead of an empty list", async () => {
    const bare = await all.another(false);
    await bare.start();
    rig.forgive("409");
    // The stream of a room that it does not know.
    rig.forgive("404");
    const other = await rig.open(bare.address("/"));
    const empty = other.locator(".empty");
    await empty.getByText("No conversations on this node").waitFor();
    expect(await empty.textContent()).toContain("engine.mirror is false");
    await follow(other, `/room/${encodeURIComponent(key)}`);
    await other.getByRole("link", { name: "All rooms" }).waitFor();
    await empty.getByText("No conversations on this node").waitFor();
    await follow(other, "/health");
    await other.getByText("This node keeps no copy").waitFor();
    await other.close();
    await bare.stop();
  });

  test("Health shows that the server does not answer, and that it reaches no node", async () => {
    await follow(page, "/health");
    const panel = page.getByRole("region", { name: "Nodes" });
    await panel.getByText(/^Restate \d/u).waitFor();
    const needs = page.getByRole("region", { name: "Needs you" }).locator(".need");
    process.kill(all.restate.pid, "SIGSTOP");
    try {
      await panel.getByText(/does not answer$/u).waitFor();
      await needs.getByText("Restate does not answer").waitFor();
    } finally {
      process.kill(all.restate.pid, "SIGCONT");
    }
    await panel.getByText(/^Restate [\d.]+$/u).waitFor();
    await soon(() => needs.count()).toBe(0);
    // It answers the calls of both.
    await all.back.stop();
    await needs.getByText("Leases cannot be renewed").waitFor();
    await panel
      .getByText(/^Heard /u)
      .first()
      .waitFor();
  });
});
