/**
 * A line of mine from the moment it is written: what a person does to it before the daemon has
 * taken it is still so afterwards. On a real daemon, whose `taken` the connection holds back.
 */
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { announced, recordAnnouncements } from "../support/pages/announcements.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { type HeldConnection, holdTakenFrame } from "../support/pages/hold-taken-frame.ts";
import { createPagesRig, soon } from "../support/pages/pages-daemon.ts";
import { samplePicture } from "../support/pages/sample-picture.ts";
import { tone } from "../support/pages/tone.ts";

const hat = { name: "hat.png", mimeType: "image/png", buffer: samplePicture(640, 480) };
const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") };
const low = { name: "low.wav", mimeType: "audio/wav", buffer: tone(60) };

describe.skipIf(!haveChromium)("a fresh line of the direct chat", () => {
  const rig = createPagesRig({ kept: true });
  let page: Page;
  let taken: HeldConnection;
  /** The words of the line that is looked at: each test says its own, one after the other in one page. */
  let fresh = "";
  let count = 0;

  beforeAll(async () => {
    const daemon = await rig.daemon();
    await daemon.start();
    page = await rig.open("about:blank");
    taken = await holdTakenFrame(page);
    await page.goto(daemon.address("/chat"));
    await page.getByText("Connected", { exact: true }).waitFor();
  });
  beforeEach(() => {
    count += 1;
    fresh = `fresh ${count}`;
  });
  const line = (text: string) => page.locator(".direct .dm-line.mine", { hasText: text });

  async function say(text: string, files: readonly (typeof hat)[] = []): Promise<void> {
    if (files.length > 0) await page.locator(".direct input[type=file]").setInputFiles([...files]);
    const there = page.locator('.direct .chosen[data-state="there"]');
    await soon(() => there.count()).toBe(files.length);
    await page.getByLabel("Message to Scout").fill(text);
    await page.getByLabel("Message to Scout").press("Enter");
  }
  /** Says a line that is held back before the daemon's receipt reaches the page. */
  async function sayHeld(files: readonly (typeof hat)[] = []): Promise<Locator> {
    taken.hold();
    await say(fresh, files);
    await soon(() => line(fresh).locator(".meta").textContent()).toBe("sending");
    return line(fresh);
  }
  /** The receipt comes, and what was decided. */
  async function take(): Promise<void> {
    taken.release();
    await line(fresh).getByText("engage dm").waitFor();
  }
  /** Names the elements as they are now; `theSame` returns those that are still there. */
  const name = (elements: Locator) =>
    elements.evaluateAll((all) => {
      for (const [at, one] of all.entries()) Object.assign(one, { named: at + 1 });
    });
  const theSame = (elements: Locator) =>
    elements.evaluateAll((all) => all.map((one) => (one as { named?: number }).named ?? null));

  const hasFocus = (element: Locator) =>
    element.evaluate((one) => one === one.ownerDocument.activeElement);

  /** Says a line that never reaches the daemon; the answer refuses it. */
  async function sayLost() {
    const text = `never ${count}`;
    taken.lose(text);
    await say(text, [notes]);
    const id = () => taken.sent.find((one) => one.text === text)?.id;
    await soon(id).toBeDefined();
    const refusal = { code: "EAR_INBOUND_INVALID", message: "Its files are gone", final: true };
    return { lost: line(text), refuse: () => taken.say({ type: "error", id: id(), ...refusal }) };
  }

  // What is listened to comes first: no answer to an earlier line is announced meanwhile.
  test("a line that is refused says why, once, and its files stay where they are", async () => {
    const { lost: mine, refuse } = await sayLost();
    const chip = mine.locator("button.file-chip");
    await chip.focus();
    const parts = mine.locator("ul, li, button, .bubble");
    await name(parts);
    const before = await theSame(parts);
    await page.evaluate(recordAnnouncements);
    refuse();
    await soon(() => mine.getByRole("alert").textContent()).toContain("Its files are gone");
    const heard = await page.evaluate<string[]>(announced);
    // The composer's own status falls silent when it will.
    expect(heard.filter((text) => text !== "")).toEqual(["Not sent. Its files are goneDiscard"]);
    expect((await theSame(parts)).slice(0, before.length)).toEqual(before);
    expect(await hasFocus(chip)).toBe(true);
    await mine.getByRole("button", { name: "Discard" }).click();
    await mine.waitFor({ state: "detached" });
  });

  test("a screen reader announces its text and its files once", async () => {
    await page.evaluate(recordAnnouncements);
    await sayHeld([notes]);
    await take();
    const heard = await page.evaluate<string[]>(announced);
    expect(heard.filter((text) => text.includes(fresh))).toHaveLength(1);
    // The composer's own status names the file as it is attached.
    const ofLine = heard.filter((text) => text.includes("notes.txt") && text.includes("Save"));
    expect(ofLine).toHaveLength(1);
    // That it was taken, and how it was decided, is announced once, by its own text.
    expect(heard.filter((text) => /^\d+:\d\d$/u.test(text))).toHaveLength(1);
    expect(heard.filter((text) => text.includes("engage"))).not.toEqual([]);
  });

  test("a chip keeps the focus and what it says when the daemon has taken its line", async () => {
    const mine = await sayHeld([hat, notes, low]);
    const parts = mine.locator("ul, li, .thumb, .thumb img, .file-chip, .btn");
    await mine.getByRole("img", { name: "hat.png" }).waitFor();
    await name(parts);
    await name(mine);
    const before = await theSame(parts);
    expect(before).toHaveLength(9);
    rig.forgive("ERR_FAILED");
    await page.route("**/api/webchat/uploads/*", (route) => route.abort());
    const save = mine.getByRole("button", { name: /Save notes\.txt/ });
    await save.focus();
    await page.keyboard.press("Enter");
    await soon(() => save.textContent()).toContain("earshot is not responding");
    await take();
    expect(await theSame(parts)).toEqual(before);
    expect(await theSame(mine)).toEqual([1]);
    expect(await save.textContent()).toContain("earshot is not responding");
    expect(await hasFocus(save)).toBe(true);
    await page.unroute("**/api/webchat/uploads/*");
  });

  test("a picture that was opened stays open, and gives the focus back to its place", async () => {
    const mine = await sayHeld([hat]);
    await mine.getByRole("button", { name: /Show hat\.png/ }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "hat.png" });
    await dialog.getByRole("img").waitFor();
    await take();
    expect(await dialog.getByRole("img").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await soon(() => dialog.count()).toBe(0);
    await soon(() => page.evaluate("document.activeElement.ariaLabel")).toMatch(/^Show hat\.png/);
  });

  test("a sound that plays goes on, and can be stopped", async () => {
    const mine = await sayHeld([low]);
    await mine.getByRole("button", { name: "Play low.wav" }).click();
    await mine.getByRole("button", { name: "Stop low.wav" }).waitFor();
    await take();
    expect(await mine.getByRole("button", { name: "Stop low.wav" }).count()).toBe(1);
    await mine.getByRole("button", { name: "Stop low.wav" }).click();
    await mine.getByRole("button", { name: "Play low.wav" }).waitFor();
  });

  test("a line without words is its files before and after", async () => {
    taken.hold();
    await say("", [notes]);
    await page.getByText("sending").waitFor();
    const mine = page.locator(".direct .dm-line.mine").last();
    const bubble = mine.locator(".bubble.bare");
    const height = async () => (await bubble.boundingBox())?.height;
    const before = await height();
    expect(await bubble.textContent()).toBe("1 file");
    taken.release();
    await mine.getByText("engage dm").waitFor();
    expect(await bubble.textContent()).toBe("1 file");
    expect(await height()).toBe(before);
  });

  test("a refused line is shown below those on their way, and keeps the focus on Discard", async () => {
    const { lost, refuse } = await sayLost();
    await sayHeld();
    refuse();
    const mine = page.locator(".direct .dm-line.mine .bubble");
    const newest = async () => (await mine.allTextContents()).slice(-2);
    await soon(newest).toEqual([fresh, `never ${count}`]);
    const discard = lost.getByRole("button", { name: "Discard" });
    await discard.focus();
    await take();
    expect(await newest()).toEqual([fresh, `never ${count}`]);
    expect(await hasFocus(discard)).toBe(true);
    await page.keyboard.press("Enter");
    await lost.waitFor({ state: "detached" });
    expect((await newest()).at(-1)).toBe(fresh);
  });
});
