/**
 * What needs a person, in a real Chromium on a real daemon: a count on the Health tab of every page,
 * the empty list of rooms, the buttons by keyboard only; axe finds nothing wrong.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { group, type LiveDaemon, person, toScout } from "../../support/daemon/live-daemon.ts";
import { violations } from "../../support/pages/axe.ts";
import { haveChromium, type PageOptions } from "../../support/pages/chromium.ts";
import { outsideWindow } from "../../support/pages/page-checks.ts";
import { createPagesRig, follow, soon } from "../../support/pages/pages-daemon.ts";
import { inTurn, rounds } from "../../support/rounds.ts";
import { startModelServer } from "../../support/servers/openai.ts";

/** Each width and each colour; in the longer runs each width in each colour. */
const looks = ([1_440, 390] as const).flatMap((width) =>
  (["light", "dark"] as const)
    .filter((colorScheme) => rounds(0, 1) > 0 || (width === 390) === (colorScheme === "dark"))
    .map((colorScheme) => ({ width, colorScheme })),
);
const hostile = '<img src=x onerror="alert(1)"> \u202eevil';

describe.skipIf(!haveChromium)("needs you", () => {
  const rig = createPagesRig();

  async function daemonWithRefused(...titles: readonly string[]): Promise<LiveDaemon> {
    const daemon = await rig.daemon({ access: { groupPolicy: "allowlist" } });
    await daemon.start();
    for (const title of titles)
      await daemon.say({
        chat: { ...group("g"), id: `id-${titles.indexOf(title)}`, title },
        text: "hello",
        outside: true,
        author: person("Ann"),
        ...toScout,
      });
    return daemon;
  }
  async function open(daemon: LiveDaemon, path: string, options: PageOptions = {}): Promise<Page> {
    const page = await rig.open(daemon.address(path), options);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  }
  async function showAs(page: Page, { width, colorScheme }: (typeof looks)[number]): Promise<void> {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
  }
  const tab = (page: Page, name: RegExp) =>
    page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name });

  test("the tab of every page has the count, and the empty list of rooms names the group", async () => {
    const daemon = await daemonWithRefused(hostile);
    const page = await open(daemon, "/chat");
    for (const path of ["/chat", "/replay", "/health", "/"]) {
      if (path !== "/chat" && rounds(0, 1) > 0) await page.goto(daemon.address(path));
      else await follow(page, path);
      await tab(page, /^Health\s+1\s+thing needs you$/).waitFor();
    }
    await page.getByText("Messages arrive, but 1 group is not allowed yet.").waitFor();
    expect(await page.locator(".empty bdi").textContent()).toContain("<img src=x");
    expect(await page.locator(".empty img").count()).toBe(0);
    expect(await violations(page, "everything")).toEqual([]);
    await page.getByRole("button", { name: "Allow this group" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("You can try the rules").waitFor();
    await tab(page, /^Health$/).waitFor();
    await daemon.say({
      chat: { ...group("g"), id: "id-0", title: "garden" },
      text: "hello",
      outside: true,
      author: person("Ann"),
      ...toScout,
    });
    await page.getByText("garden").first().waitFor();
  });

  test("Health lists each with its buttons, wide and narrow, light and dark", async () => {
    const daemon = await daemonWithRefused("Kitchen", hostile.repeat(5), "Shed");
    const page = await open(daemon, "/health");
    for (const look of inTurn(looks, 0)) {
      await showAs(page, look);
      const needs = page.getByRole("region", { name: "Needs you" }).locator(".need");
      await soon(() => needs.count()).toBe(3);
      await tab(page, /^Health\s+3\s+things need you$/).waitFor();
      expect(await violations(page, "everything")).toEqual([]);
      expect(await outsideWindow(page)).toEqual([]);
      if (process.env.EARSHOT_SHOTS !== undefined)
        await page.screenshot({
          path: `${process.env.EARSHOT_SHOTS}-${look.width}-${look.colorScheme}.png`,
        });
    }
    const kitchen = page.locator(".need", { hasText: "Group not allowed yet: Kitchen" });
    await kitchen.getByRole("button", { name: "Ignore" }).focus();
    await page.keyboard.press("Enter");
    await kitchen.waitFor({ state: "detached" });
    await tab(page, /^Health\s+2\s+things need you$/).waitFor();
  });

  test("the line of a refused config is shown by keyboard, with what is around it, without secrets", async () => {
    const daemon = await rig.daemon();
    await daemon.start();
    const lines = [
      "{",
      "  // <img src=x onerror='alert(1)'>",
      '  channels: { telegram: { botToken: "a secret" } },',
      `  agents: 7, // ${"long ".repeat(40)}`,
      "  loopGuard: {},",
      "}",
    ];
    await writeFile(join(daemon.stateDir, "earshot.json5"), lines.join("\n"));
    const page = await open(daemon, "/health");
    for (const look of inTurn(looks, 1)) {
      await showAs(page, look);
      const need = page.locator(".need", { hasText: "The config file was refused" });
      const show = need.getByRole("button", { name: "Show the line" });
      await show.waitFor();
      expect(await need.locator(".excerpt").isVisible()).toBe(false);
      await show.focus();
      await page.keyboard.press("Enter");
      const hide = need.getByRole("button", { name: "Hide the line", expanded: true });
      await hide.waitFor();
      const shown = need.locator(".excerpt li");
      expect(await shown.count()).toBe(5);
      const text = (await shown.allTextContents()).join("\n");
      expect(text).toContain("<img src=x");
      expect(text).toContain("botToken: [redacted]");
      expect(text).not.toContain("a secret");
      expect(await need.locator("mark").textContent()).toContain("agents: 7");
      expect(await violations(page, "everything")).toEqual([]);
      expect(await outsideWindow(page)).toEqual([]);
      if (process.env.EARSHOT_SHOTS !== undefined)
        await page.screenshot({
          path: `${process.env.EARSHOT_SHOTS}-line-${look.width}-${look.colorScheme}.png`,
        });
      await page.keyboard.press("Enter");
      await show.waitFor();
    }
  });

  test("a failing agent is tried again by keyboard: first it says why not, then the entry ends", async () => {
    const model = await startModelServer();
    rig.closing(() => model.close());
    model.key = "sk-right";
    const broken = { status: 401, body: "no" } as const;
    model.reply(broken, broken, broken);
    const driver = {
      kind: "model",
      model: "small",
      baseUrl: model.baseUrl,
      apiKey: "sk-wrong-key",
    };
    const daemon = await rig.daemon({ agents: { list: [{ id: "main", name: "Scout", driver }] } });
    await daemon.start();
    for (const turn of [1, 2, 3]) {
      await daemon.say({ chat: group("garden"), text: `hello ${turn}`, ...toScout });
      await soon(async () => {
        const { failing } = (await daemon.ask("/status")) as { failing: { turns: number }[] };
        return failing[0]?.turns;
      }).toBe(turn);
    }
    // The refusal of the trial is an answer that the browser writes into its console.
    rig.forgive("409");
    const page = await open(daemon, "/health", { width: 390 });
    const need = page.locator(".need", { hasText: "Scout fails: 3 turns in a row" });
    const again = need.getByRole("button", { name: "Try again" });
    await again.focus();
    await page.keyboard.press("Enter");
    await need.getByRole("alert").filter({ hasText: "refuses the key (HTTP 401)" }).waitFor();
    expect(await need.textContent()).not.toContain("sk-");
    expect(await violations(page, "everything")).toEqual([]);
    expect(await outsideWindow(page)).toEqual([]);
    if (process.env.EARSHOT_SHOTS !== undefined) {
      await page.screenshot({ path: `${process.env.EARSHOT_SHOTS}-again-390.png` });
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.screenshot({ path: `${process.env.EARSHOT_SHOTS}-again-1440.png` });
    }
    model.key = "sk-wrong-key";
    await again.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
  });
});
