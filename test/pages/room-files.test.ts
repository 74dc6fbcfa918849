/**
 * Files in the Room page: what came with a line is shown by name, kind and size, whatever it is
 * called, and nothing of it can be had there.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtPages } from "../support/built/files.ts";
import { aside, createLiveDaemon, group, type LiveDaemon } from "../support/daemon/live-daemon.ts";
import { closeTabs, haveChromium, openTab, sharedChromium } from "../support/pages/chromium.ts";

const evil = `<img src=x onerror="owned=1">\n\u202egnp.exe`;

describe.skipIf(!haveChromium)("files in the Room page", () => {
  let browser: Browser;
  let daemon: LiveDaemon;

  beforeAll(async () => {
    browser = await sharedChromium();
    daemon = await createLiveDaemon({ pagesDir: builtPages });
    await daemon.start();
  });
  afterAll(async () => {
    await closeTabs();
    await daemon?.close();
  });

  test("a line says what came with it, one chip each", async () => {
    const chat = group("Harbour");
    await daemon.say({ chat, ...aside, text: "no files here" });
    await daemon.say({
      chat,
      ...aside,
      text: "from the hike",
      attachments: [
        { id: "p1", kind: "image", mime: "image/png", bytes: 12_345, name: "hat.png" },
        { id: "p2", kind: "audio" },
        { id: "p3", kind: "file", name: evil, url: "https://files.example/secret" },
      ],
    });
    const { page, wrong } = await openTab(browser, { width: 390, height: 844 });
    const key = "agent:main:webhook:group:Harbour";
    await page.goto(daemon.address(`/room/${encodeURIComponent(key)}`));
    const row = page.locator(".msg", { hasText: "from the hike" });
    await row.waitFor();
    const chips = row.locator(".file-chip");
    expect(await chips.allTextContents()).toEqual([
      "hat.png picture, 12 kB",
      "Sound sound",
      '<img src=x onerror="owned=1"> gnp.exe file',
    ]);
    expect(await row.locator("button, a, img").count()).toBe(0);
    expect(await page.evaluate("'owned' in window")).toBe(false);
    const plain = page.locator(".msg", { hasText: "no files here" });
    expect(await plain.locator(".file-chip").count()).toBe(0);
    expect(await page.content()).not.toContain("files.example");
    const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wide)).toBe(0);
    expect(wrong).toEqual([]);
  });
});
