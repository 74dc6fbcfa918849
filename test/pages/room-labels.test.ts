/**
 * Labels on the Room page: by key and by button, taken back, stored by the daemon, and shown to
 * every reader. Only decided lines of somebody else can be labelled.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RoomEntry, RoomView } from "../../src/daemon/api-types/room.ts";
import { violationsInBothColours } from "../support/pages/axe.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { answer, gardenKey, gardenPath, twoDaemons } from "../support/pages/crowded-rooms.ts";
import { createPagesRig, soon } from "../support/pages/pages-daemon.ts";

describe.skipIf(!haveChromium)("labels on the Room page", () => {
  const rig = createPagesRig({ kept: true });
  const daemons = twoDaemons(rig);

  async function stored(): Promise<readonly (string | null)[]> {
    const { history } = (await daemons.crowded.ask(
      `/rooms/${encodeURIComponent(gardenKey)}`,
    )) as RoomView;
    return history.entries.flatMap((entry: RoomEntry) =>
      entry.kind === "labelled" ? [`${entry.id} ${entry.expected}`] : [],
    );
  }
  const open = async () => {
    const page = await rig.open(daemons.crowded.address(gardenPath));
    await page.locator(".rung[aria-current]").waitFor();
    return page;
  };
  /** What most of it happens on, one after the other. */
  let shared: Page;
  beforeAll(async () => {
    shared = await open();
  });
  const row = (page: Page, text: string) =>
    page.locator(".msg", { has: page.locator(".text", { hasText: text }) });
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const pressed = (page: Page) => page.locator('.labels [aria-pressed="true"]').allInnerTexts();

  test("a key labels the selected line, the same key or u takes it back", async () => {
    const page = shared;
    const beans = row(page, "The beans are up.").first();
    await beans.click();
    expect(await pressed(page)).toEqual([]);
    await page.keyboard.press("a");
    await beans.getByText("Should have answered, labelled by operator").waitFor();
    expect(await pressed(page)).toEqual(["Should have answered"]);
    expect(await page.getByText("Labelled: should have answered").count()).toBe(1);
    await page.keyboard.press("s");
    await beans.getByText("Should have stayed quiet, labelled by operator").waitFor();
    await page.keyboard.press("s");
    await soon(() => beans.getByText("Should have").count()).toBe(0);
    expect(await pressed(page)).toEqual([]);
    await page.keyboard.press("a");
    await beans.getByText("Should have answered").waitFor();
    await page.keyboard.press("u");
    await soon(() => beans.getByText("Should have").count()).toBe(0);
    // There is nothing more to take back.
    await page.keyboard.press("u");
    await page.keyboard.press("j");
    expect(await stored()).toEqual(
      ["engage", "observe", null, "engage", null].map((expected) => `m1 ${expected}`),
    );
  });

  test("the buttons do the same, another reader sees it, and it is there after a reload", async () => {
    const [page, other] = await Promise.all([open(), open()]);
    await row(page, "Watered at six.").click();
    await button(page, "Should have stayed quiet").click();
    for (const one of [page, other])
      await row(one, "Watered at six.").getByText("Should have stayed quiet").waitFor();
    await page.reload();
    await row(page, "Watered at six.").getByText("Should have stayed quiet").waitFor();
    await row(page, "Watered at six.").click();
    await soon(() => pressed(page)).toEqual(["Should have stayed quiet"]);
    expect(await violationsInBothColours(page)).toEqual([]);
    await button(page, "Should have stayed quiet").click();
    await soon(() => row(other, "Watered at six.").getByText("Should have").count()).toBe(0);
  });

  test("two presses before the daemon has answered end as the second one says", async () => {
    const page = shared;
    await row(page, "The beans are up.").first().click();
    const before = (await stored()).length;
    await page.route("**/label", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await route.continue();
    });
    await page.keyboard.press("a");
    await page.keyboard.press("a");
    await soon(async () => (await stored()).slice(before)).toEqual(["m1 engage", "m1 null"]);
    await soon(() => pressed(page)).toEqual([]);
    await page.unroute("**/label");
  });

  test("an agent's own line has no buttons, and keys do nothing there", async () => {
    const page = shared;
    const before = await stored();
    await row(page, answer).click();
    await soon(() => page.locator(".labels").count()).toBe(0);
    for (const key of ["a", "s", "u"]) await page.keyboard.press(key);
    await row(page, "Watered at six.").click();
    await page.locator(".labels").waitFor();
    expect(await stored()).toEqual(before);
  });

  test("a label that is not stored says so and is not shown", async () => {
    const page = shared;
    await row(page, "Watered at six.").click();
    const message = "Cannot write the journal. Try again";
    await page.route("**/label", (route) =>
      route.fulfill({ status: 503, json: { error: { code: "EAR_STORE_FAILED", message } } }),
    );
    rig.forgive("503");
    await page.keyboard.press("a");
    await page.getByRole("alert").getByText(message).waitFor();
    expect(await pressed(page)).toEqual([]);
    expect(await row(page, "Watered at six.").getByText("Should have").count()).toBe(0);
    await page.unroute("**/label");
  });

  test("the list of keys names them", async () => {
    const page = shared;
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.getByText("should have answered, should have stayed quiet").waitFor();
    await list.getByText("remove the label").waitFor();
  });
});
