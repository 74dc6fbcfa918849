/**
 * The direct chat as a page to live in: Stop by button and by Escape, what was partly said, copying, the
 * divider of a session, and its width. On an open page and after a reload.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

const code = `for (const room of rooms) console.log(${"room.title, room.people, ".repeat(4)}room.state)`;
const answer = `${"A sentence that is long enough to be broken. ".repeat(6)}\n\n\`\`\`js\n${code}\n\`\`\``;
const runs = [
  { steps: [{ text: answer }] },
  { steps: [{ text: "I begin with the roof. And then" }, { waitMs: 600_000 }, { text: "." }] },
  { steps: [{ text: "Once more I begin. And then" }, { waitMs: 600_000 }, { text: "." }] },
  { steps: [{ text: "After the roof, the walls." }] },
  { steps: [{ text: "The roof was asked about." }] },
];

describe.skipIf(!haveChromium)("the direct chat as a page", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  /** As a person has it open, from the first line to the last. */
  let page: Page;
  beforeAll(async () => {
    daemon = await rig.daemon({
      agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
      messages: { inbound: { debounceMs: 0 } },
      turn: { idleMs: 600_000 },
    });
    await daemon.start();
    page = await open();
  });
  const open = async () => {
    const page = await rig.open(daemon.address("/chat"));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Direct chat", exact: true }).click();
    return page;
  };
  const box = (page: Page) => page.locator(".direct textarea");
  const say = async (page: Page, text: string) => {
    await box(page).fill(text);
    await box(page).press("Enter");
  };
  const shoot = async (page: Page, name: string) => {
    if (process.env.SHOTS) await page.screenshot({ path: `/tmp/chat-${name}.png` });
  };

  test("text keeps to 75 characters, code is wider, both are copied, and the choice is kept", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await say(page, "how do I list them?");
    const bubble = page.locator(".direct .bubble.it:not(:has(.caret))").first();
    await bubble.waitFor();
    const widthOf = async (selector: string) =>
      (await bubble.locator(selector).first().boundingBox())?.width ?? 0;
    const text = await widthOf("p");
    expect(text).toBeGreaterThan(400);
    expect(text).toBeLessThan(600);
    expect(await widthOf("pre")).toBeGreaterThan(text);
    const copied = () => page.evaluate("navigator.clipboard.readText()");
    await page.getByRole("button", { name: "Copy the code" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await copied()).toBe(code);
    await page.getByRole("button", { name: "Copy the message" }).click();
    await soon(copied).toBe(answer);
    const before = (await box(page).boundingBox())?.height ?? 0;
    await box(page).fill("a line\n".repeat(10));
    expect((await box(page).boundingBox())?.height ?? 0).toBeGreaterThan(before + 100);
    await box(page).fill("");
    await shoot(page, "1440-light");
    await page.reload();
    await page.locator(".direct .bubble.it").first().waitFor();
    expect(await page.locator(".room-pane").isVisible()).toBe(false);
  });

  test("Escape stops the turn; what was partly said stays, marked, also after a reload", async () => {
    const other = await open();
    await say(page, "mend the roof");
    await page.locator(".bubble.it", { hasText: "I begin with the roof" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await box(page).focus();
    await page.keyboard.press("Escape");
    for (const one of [page, other]) {
      await one
        .locator(".bubble.stopped", { hasText: "I begin with the roof. And then" })
        .waitFor();
      await one.getByText(/^Stopped, \d{1,2}:\d\d\. The rest was not sent\./).waitFor();
      await soon(() => one.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
    }
    await page.reload();
    await page.locator(".bubble.stopped", { hasText: "I begin with the roof. And then" }).waitFor();
    expect(await page.getByText("The turn was stopped.").count()).toBe(0);
  });

  test("the button stops, too, and a divider says where a session began", async () => {
    await say(page, "and again");
    await page.locator(".bubble.it", { hasText: "Once more I begin" }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.locator(".bubble.stopped", { hasText: "Once more I begin" }).waitFor();
    await say(page, "/new");
    await page.locator(".direct .day", { hasText: "New session, by /new" }).waitFor();
    await say(page, "what comes after the roof?");
    await page.locator(".bubble.it", { hasText: "After the roof, the walls." }).waitFor();
    await say(page, "/compact");
    const compacted = "Compacted: older messages are summarised for the agent";
    await page.locator(".direct .day", { hasText: compacted }).waitFor();
    await page.reload();
    await page.locator(".direct .day", { hasText: "New session, by /new" }).waitFor();
    await page.locator(".direct .day", { hasText: compacted }).waitFor();
    const room = await rig.open(daemon.address("/room/agent%3Amain%3Amain"));
    await room.locator(".day", { hasText: compacted }).waitFor();
    await room.close();
    expect(await violationsInBothColours(page)).toEqual([]);
    await shoot(page, "1440");
    await page.setViewportSize({ width: 390, height: 900 });
    await page.locator(".direct .day").first().waitFor();
    expect(await violationsInBothColours(page)).toEqual([]);
    await shoot(page, "390");
  });
});
