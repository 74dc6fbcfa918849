/**
 * Actions on the Room page: by keys alone, on an open page and after a reload, with what a stopped turn
 * had said, the divider of a new session, and the reason where something cannot be done.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { roomHref } from "../../../web/src/lib/route.ts";
import {
  aside,
  group,
  type LiveDaemon,
  person,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { violations, violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

const key = "agent:main:webhook:group:#shed";
const begun = "I begin with the **roof**. And then";
const runs = [
  { steps: [{ text: begun }, { waitMs: 600_000 }, { text: "the door." }] },
  { steps: [{ text: "The door is done." }] },
];

describe.skipIf(!haveChromium)("actions on the Room page", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  /** As a person has it open, from the first line to the last. */
  let page: Page;
  const ann = { chat: group("#shed"), author: person("Ann") };

  beforeAll(async () => {
    daemon = await rig.daemon({
      agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
      messages: { inbound: { debounceMs: 0 } },
      turn: { idleMs: 600_000 },
    });
    await daemon.start();
    await daemon.say({ ...ann, text: "It rains in.", ...aside });
    page = await open();
  });

  const open = async () => {
    const page = await rig.open(daemon.address(roomHref(key)));
    await page.locator(".msg").first().waitFor();
    return page;
  };
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const dialog = (page: Page) => page.getByRole("dialog");
  /** Tab to a button of the dialog, as somebody without a mouse does. */
  const reach = async (page: Page, name: string) => {
    const wanted = dialog(page).getByRole("button", { name, exact: true });
    for (let step = 0; step < 30; step += 1) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`no way by Tab to ${name}`);
  };
  const press = async (page: Page, name: string) => {
    await reach(page, name);
    await page.keyboard.press("Enter");
  };

  test("what cannot be done says why, in the dialog", async () => {
    rig.forgive("409");
    await page.keyboard.press("x");
    await press(page, "New session");
    await press(page, "Start session");
    await dialog(page)
      .getByRole("alert")
      .getByText("the agent has not answered here yet")
      .waitFor();
    await reach(page, "Stop");
    expect(
      await dialog(page).getByRole("button", { name: "Stop" }).getAttribute("aria-disabled"),
    ).toBe("true");
    await page.keyboard.press("Escape");
    await soon(() => dialog(page).count()).toBe(0);
  });

  test("Stop ends the turn; what was partly said stays, for every reader and after a reload", async () => {
    const other = await open();
    await daemon.say({ ...ann, text: "@Scout mend it", ...toScout });
    await page.locator(".msg.writing", { hasText: "I begin with the roof" }).waitFor();
    await button(page, "Stop").click();
    await page.getByRole("status").getByText("The turn is being stopped").waitFor();
    for (const one of [page, other]) {
      await one.locator(".msg.quiet", { hasText: "Scout was stopped" }).waitFor();
      await one.locator(".msg.acted", { hasText: "operator stopped the turn" }).waitFor();
    }
    await page.reload();
    const cut = page.locator(".msg.quiet .unsent");
    await cut.getByText("Stopped here. The room did not get this.").waitFor();
    expect(await cut.locator("b").textContent()).toBe("roof");
  });

  test("all by keys: activation, a text as the agent after a question, disengage, a new session", async () => {
    await daemon.say({ ...ann, text: "@Scout and the door?", ...toScout });
    await page.locator(".msg.agent", { hasText: "The door is done." }).waitFor();
    await page.keyboard.press("x");
    await press(page, "mention");
    await dialog(page).getByText("Activation: mention.").waitFor();
    await soon(() => dialog(page).locator('[aria-pressed="true"]').allInnerTexts()).toEqual([
      "mention",
    ]);
    await press(page, "default");
    await dialog(page).getByText("Activation: as configured.").waitFor();
    await press(page, "Disengage");
    await dialog(page).getByText("Disengaged:").waitFor();
    for (const _ of Array(6)) await page.keyboard.press("Tab");
    await page.keyboard.type("We close at six.");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("It cannot be undone.").waitFor();
    expect(await page.locator(".msg.agent", { hasText: "We close" }).count()).toBe(0);
    expect(await violations(page, "everything")).toEqual([]);
    // The question has the focus.
    await page.keyboard.press("Enter");
    await dialog(page).getByText("It is on its way").waitFor();
    await press(page, "New session");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("Started a new session.").waitFor();
    await press(page, "Close");
    for (const text of [
      "operator set the activation to mention",
      "operator reset the activation to the config",
      "operator disengaged Scout",
      "operator said something as Scout",
    ])
      await page.locator(".msg.acted", { hasText: text }).waitFor();
    await page.locator(".msg.agent", { hasText: "We close at six." }).waitFor();
    await page.locator(".day", { hasText: "New session, by operator" }).waitFor();
    await page.reload();
    await page.locator(".day", { hasText: "New session, by operator" }).waitFor();
  });

  test("nothing is wrong with it in light and dark, wide and narrow", async () => {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await button(page, "Actions").click();
      expect(await violationsInBothColours(page)).toEqual([]);
      if (process.env.SHOTS)
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: `/tmp/rooms-${width}-${colorScheme}.png` });
        }
      await page.keyboard.press("Escape");
      if (process.env.SHOTS) await page.screenshot({ path: `/tmp/rooms-${width}-page.png` });
    }
  });
});
