/**
 * The pages for those who see little, or less colour, or want nothing that moves: no motion, no
 * chatter for those who listen, room in a small window, and every state shown by more than a colour.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { aside, group, type LiveDaemon, person } from "../support/daemon/live-daemon.ts";
import { announced, recordAnnouncements } from "../support/pages/announcements.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { crowdedDaemon, gardenPath } from "../support/pages/crowded-rooms.ts";
import { outsideWindow } from "../support/pages/page-checks.ts";
import { createPagesRig, soon } from "../support/pages/pages-daemon.ts";

/** Run in the page, whose types this file does not have. */
const moving = "document.getAnimations().map((one) => one.animationName ?? one.transitionProperty)";

describe.skipIf(!haveChromium)("for everybody", () => {
  const rig = createPagesRig({ kept: true });
  let crowded: LiveDaemon;
  let calm: LiveDaemon;
  let slow: LiveDaemon;
  /** Pages that are looked at one after the other, as none of it needs a fresh one: a room, the list, Chat. */
  let room: Page;
  let list: Page;
  let chat: Page;

  beforeAll(async () => {
    calm = await rig.daemon();
    const steps = [{ text: "I am " }, { waitMs: 1_500 }, { text: "Scout, and I listen." }];
    const driver = { kind: "scripted", runs: [{ steps }] };
    slow = await rig.daemon({ agents: { list: [{ id: "main", name: "Scout", driver }] } });
    [crowded] = await Promise.all([crowdedDaemon(rig), calm.start(), slow.start()]);
    room = await rig.open(crowded.address(gardenPath));
    list = await rig.open(crowded.address("/"));
    chat = await rig.open(calm.address("/chat"));
    await room.locator(".msg.writing .caret").waitFor();
    await list.getByText("#garden").first().waitFor();
  });

  const say = (text: string) =>
    crowded.say({ chat: group("#garden"), author: person("Ann"), text, ...aside });

  const startOver = async (page: Page, size: { width: number; height: number }) => {
    await page.setViewportSize(size);
    await page.getByRole("button", { name: "Start over" }).click();
  };

  test("nothing moves where no motion is wanted, while much happens", async () => {
    await room.getByRole("button", { name: /^Switch between/ }).hover();
    for (const text of ["still one", "still two"]) {
      await say(text);
      await room.getByText(text).first().waitFor();
      expect(await room.evaluate(moving)).toEqual([]);
      expect(await list.evaluate(moving)).toEqual([]);
    }
    await chat.getByRole("button", { name: "Show an example" }).click();
    await chat.locator(".msg.new").first().waitFor();
    expect(await chat.evaluate(moving)).toEqual([]);
  });

  test("elsewhere what is being written blinks", async () => {
    await room.emulateMedia({ reducedMotion: "no-preference" });
    expect(await room.evaluate(moving)).toContain("blink");
    await room.emulateMedia({ reducedMotion: "reduce" });
  });

  test("a screen reader does not announce every line that others say", async () => {
    const pages = [list, room, await rig.open(crowded.address("/health"))];
    for (const page of pages) {
      await page.getByText("Live", { exact: true }).waitFor();
      await page.waitForTimeout(700);
      await page.evaluate(recordAnnouncements);
    }
    for (let count = 0; count < 5; count += 1) await say(`chatter ${count}`);
    await pages[1]?.getByText("chatter 4").first().waitFor();
    await pages[0]?.getByText("chatter 4").waitFor();
    for (const page of pages) expect(await page.evaluate(announced)).toEqual([]);
  });

  test("who listens to the direct chat hears an answer once, whole", async () => {
    const page = await rig.open(slow.address("/chat"));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate(recordAnnouncements);
    const direct = page.getByRole("region", { name: "Direct chat" });
    await direct.getByRole("textbox").fill("who are you?");
    await direct.getByRole("textbox").press("Enter");
    await direct.locator(".bubble.it", { hasText: "I am" }).locator(".caret").waitFor();
    await direct.getByText("sent in").waitFor();
    const heard = await page.evaluate<string[]>(announced);
    const words = "I am Scout, and I listen.";
    expect(heard.filter((text) => text.includes("I am") && !text.includes(words))).toEqual([]);
    expect(heard.some((text) => text.includes(words))).toBe(true);
  });

  test("in a low window the page scrolls, so that there is room for every part", async () => {
    for (const [width, height] of [
      [320, 256],
      [844, 390],
    ] as const) {
      const page = chat;
      await startOver(page, { width, height });
      await page.getByRole("heading", { name: "Say something" }).waitFor();
      const pane = page.getByRole("region", { name: "Room simulator" });
      const box = await pane.locator(".scroll").boundingBox();
      expect(box?.height).toBeGreaterThan(120);
      await pane.getByLabel("Message in the simulated room").fill("@Scout hi");
      await pane.getByRole("button", { name: "Send" }).click();
      await pane.locator(".msg .chip.engage").waitFor();
      expect(await outsideWindow(page)).toEqual([]);
    }
  });

  test("on a phone, who writes is in sight", async () => {
    const page = chat;
    await startOver(page, { width: 390, height: 844 });
    const add = page.getByRole("button", { name: "Add a person or bot" });
    for (const name of ["Dee", "Eve", "Fay", "Gus"]) {
      await add.click();
      await page.getByLabel("Name", { exact: true }).fill(name);
      await page.getByRole("button", { name: "Add person" }).click();
    }
    const inSight = (name: string) =>
      page.getByRole("radio", { name }).evaluate((pill) => {
        const { left, right } = pill.getBoundingClientRect();
        return left >= 0 && right <= 390;
      });
    await soon(() => inSight("Gus")).toBe(true);
    expect(await inSight("Ann")).toBe(false);
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press("Alt+1");
    await soon(() => inSight("Ann")).toBe(true);
  });

  test("where the system chooses the colours, outlines and glyphs show the states", async () => {
    const look = (page: Page, where: string, ...names: readonly string[]) =>
      page
        .locator(where)
        .first()
        .evaluate(
          (one, all) => all.map((name) => getComputedStyle(one).getPropertyValue(name)),
          [...names],
        );
    const page = room;
    await page.emulateMedia({ forcedColors: "active" });
    expect(await look(page, ".chip.engage", "border-top-style")).toEqual(["solid"]);
    expect(await look(page, ".chip.observe", "border-top-style")).toEqual(["none"]);
    expect(await look(page, '.msg[aria-selected="true"]', "outline-style")).toEqual(["solid"]);
    expect(await look(page, ".rung.matched", "outline-style")).toEqual(["solid"]);
    expect(await look(page, ".face", "border-top-style")).toEqual(["solid"]);
    const [unlit] = await look(page, ".node:not(.lit) rect", "stroke-width");
    expect(await look(page, ".node.lit rect", "stroke-width")).not.toEqual([unlit]);
    expect(await look(page, ".node.lit circle", "display")).not.toEqual(["none"]);
    const rooms = list;
    await rooms.emulateMedia({ forcedColors: "active" });
    await rooms.getByText("guard tripped").waitFor();
    const dot = (where: string) =>
      rooms
        .locator(where)
        .first()
        .evaluate((one) => {
          const { borderTopStyle, backgroundColor } = getComputedStyle(one, "::before");
          return [borderTopStyle, backgroundColor];
        });
    const [ring, hollow] = await dot(".state:not(.on)");
    expect(ring).toBe("solid");
    expect((await dot(".state.on"))[1]).not.toBe(hollow);
    expect(await look(rooms, '.seg [aria-pressed="true"]', "border-top-width")).toEqual(["2px"]);
    expect(await look(rooms, '.seg [aria-pressed="false"]', "border-top-style")).toEqual(["none"]);
  });
});
