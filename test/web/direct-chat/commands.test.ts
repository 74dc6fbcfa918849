/** The list of commands that a slash opens in the direct chat, and what may be typed in it. */
import fc from "fast-check";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { offeredCommands } from "../../../src/machines/commands/help.ts";
import { completed, offersFor, offersIn } from "../../../web/src/direct-chat/commands.ts";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";

const all = offeredCommands();
const named = (line: string) => offersFor(line, all).map(({ name }) => name);

describe("what is offered", () => {
  test("fits the word by its name first, then by its other words", () => {
    expect(named("/se")).toEqual(["send", "session"]);
    expect(named("/T")).toEqual(["think", "tts"]);
    expect(named("/abort")).toEqual(["stop"]);
    expect(named("/")).toHaveLength(8);
  });

  test.each(["", "hello", "/nothing-such", "/status x", " /status", "say /status", "/a\nb", "//"])(
    "is nothing for %j",
    (line) => {
      expect(named(line)).toEqual([]);
    },
  );

  test("is never more than eight, and each is a command that begins so", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\/[a-z]{0,4}$/), (line) => {
        const offers = offersFor(line, all);
        expect(offers.length).toBeLessThanOrEqual(8);
        for (const { name, aliases } of offers)
          expect([name, ...aliases].some((word) => `/${word}`.startsWith(line))).toBe(true);
      }),
    );
  });

  test("is completed with room for its words, where it takes any", () => {
    const one = (name: string) => all.find((offer) => offer.name === name) as (typeof all)[0];
    expect([completed(one("status")), completed(one("queue"))]).toEqual(["/status", "/queue "]);
  });

  test("is only what a daemon's answer has in the right form", () => {
    const [first] = all;
    expect(offersIn({ commands: [first, { name: "x" }, null, 7] })).toEqual([first]);
    for (const odd of [null, 7, {}, { commands: {} }]) expect(offersIn(odd)).toEqual([]);
  });
});

describe.skipIf(!haveChromium)("the list of commands on the page", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
  });

  const box = (page: Page) => page.locator(".direct textarea");
  const options = (page: Page) => page.locator(".direct [role=option]");

  test("opens at a slash, is driven by keys, and a line in full is sent as it is", async () => {
    const page = await rig.open(daemon.address("/chat"));
    await page.getByText("Live", { exact: true }).waitFor();
    await box(page).pressSequentially("/s");
    await options(page).first().waitFor();
    expect(await options(page).allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("/session")]),
    );
    expect(await box(page).getAttribute("aria-controls")).toBe("commands");
    expect(await box(page).getAttribute("aria-activedescendant")).toBeNull();
    await box(page).press("ArrowDown");
    await box(page).press("ArrowDown");
    const chosen = await page.locator(".direct [aria-selected=true]").getAttribute("id");
    expect(await box(page).getAttribute("aria-activedescendant")).toBe(chosen);
    await box(page).press("Enter");
    expect(await box(page).inputValue()).toBe("/stop");
    expect(await options(page).count()).toBe(0);

    await box(page).fill("/que");
    await options(page).first().waitFor();
    await box(page).press("Tab");
    expect(await box(page).inputValue()).toBe("/queue ");
    await box(page).fill("/who");
    await options(page).first().waitFor();
    await box(page).press("Escape");
    expect(await options(page).count()).toBe(0);
    expect(await box(page).inputValue()).toBe("/who");

    await box(page).fill("/whoami");
    await box(page).press("Enter");
    await page.locator(".direct .bubble.it", { hasText: "you are an owner" }).waitFor();
    expect(await box(page).inputValue()).toBe("");
    await box(page).fill("/unknown-word");
    expect(await options(page).count()).toBe(0);
  });

  test("takes a click, and leaves the line in focus", async () => {
    const page = await rig.open(daemon.address("/chat"));
    await box(page).fill("/conf");
    await options(page).filter({ hasText: "/config" }).click();
    expect(await box(page).inputValue()).toBe("/config ");
    expect(await box(page).evaluate((area) => area.matches(":focus"))).toBe(true);
  });
});
