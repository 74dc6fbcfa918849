/**
 * The Chat page on a real daemon: SQLite, the guide, the webchat channel, the simulation. What the
 * page shows here is what a person sees after the first start, and what an agent sends besides text: a
 * picture with its caption, a file to save, and buttons whose press is a message of the person.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LiveDaemon } from "../support/daemon/live-daemon.ts";
import { violations } from "../support/pages/axe.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig, lostDaemon, soon } from "../support/pages/pages-daemon.ts";
import { samplePicture } from "../support/pages/sample-picture.ts";
import { rounds } from "../support/rounds.ts";

describe.skipIf(!haveChromium)("the Chat page on a real daemon", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  /** As a person has it open, from the first line to the restart. */
  let page: Page;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
    page = await open();
    await page.getByText("Live", { exact: true }).waitFor();
  });
  const open = () => rig.open(daemon.address("/chat"));

  const mine = (page: Page, text: string) =>
    page.locator(".direct .dm-line.mine", { hasText: text });
  const answers = (page: Page) => page.locator(".direct .bubble.it:not(:has(.caret))");
  const textbox = (page: Page) => page.locator(".direct textarea");

  async function say(page: Page, text: string): Promise<void> {
    await textbox(page).fill(text);
    await textbox(page).press("Enter");
    await mine(page, text).getByText("engage dm").waitFor();
  }

  test("the guide answers in the direct chat, and the ladder of the line says why", async () => {
    await say(page, "hello there");
    await answers(page).first().waitFor();
    expect(await answers(page).first().textContent()).toContain("built-in guide");
    await page.locator(".direct .meta", { hasText: "sent in" }).first().waitFor();
    await mine(page, "hello there").getByRole("button").click();
    await page.locator(".rung[aria-current]").waitFor();
    expect(await page.locator(".rung[aria-current] .rule").textContent()).toBe("dm");
    expect(await page.locator(".facts").textContent()).toContain("earshot why ");
  });

  test("a second page sees the same talk, and both see what is new", async () => {
    const second = await open();
    await mine(second, "hello there").waitFor();
    await say(page, "seen by both");
    await mine(second, "seen by both").getByText("engage dm").waitFor();
  });

  test("a simulated room of four people and two bots decides by the rules and names of the config", async () => {
    for (const [who, kind] of [
      ["Dee", "Add person"],
      ["Clerk", "Add bot"],
    ] as const) {
      await page.getByRole("button", { name: "Add a person or bot" }).click();
      await page.getByLabel("Name", { exact: true }).fill(who);
      await page.getByRole("button", { name: kind }).click();
    }
    const lines = [
      ["Ann", "lunch at one?", "observe default"],
      ["Relay", "Menu for today: soup", "observe default"],
      ["Dee", "@Bo are you coming?", "observe mentions-others"],
      ["Clerk", "@Scout any orders?", "engage mention"],
      ["Clerk", "two soups then", "engage sticky"],
      ["Cy", "relay, one for me", "observe names-peer-bot"],
      ["Ann", "scout, is there a vegan dish?", "engage alias"],
    ] as const;
    let answered = 0;
    for (const [who, text, decided] of lines) {
      await page.getByRole("radio", { name: who, exact: true }).click();
      const box = page.getByLabel("Message in the simulated room");
      await box.fill(text);
      await soon(() => chipOf(page.locator(".room-pane .would .chip"))).toBe(decided);
      await box.press("Enter");
      const row = page.locator(".msg", { hasText: text }).first();
      await soon(() => chipOf(row.locator(".chip"))).toBe(decided);
      // The floor of one who is being answered is weighed otherwise.
      if (!decided.startsWith("engage")) continue;
      answered += 1;
      await soon(() => page.getByText(/^Sent in /).count()).toBe(answered);
    }
    await page
      .getByText(/Sent in .* Clerk has a credit for 15 min/)
      .first()
      .waitFor();
  });

  test("a restart of the daemon loses and repeats nothing", async () => {
    await say(page, "before the restart");
    await soon(() => answers(page).count()).toBeGreaterThanOrEqual(3);
    rig.forgive(...lostDaemon);
    await daemon.stop();
    await page.getByText(/^Reconnecting, attempt/).waitFor();
    await textbox(page).fill("while it was away");
    await textbox(page).press("Enter");
    await daemon.start();
    await mine(page, "while it was away").getByText("engage dm").waitFor();
    await soon(() => answers(page).count()).toBeGreaterThanOrEqual(4);
    const texts = await page.locator(".direct .bubble.me").allInnerTexts();
    expect(texts).toEqual([
      "hello there",
      "seen by both",
      "before the restart",
      "while it was away",
    ]);
    await page.reload();
    await mine(page, "while it was away").getByText("engage dm").waitFor();
    expect(await page.locator(".direct .bubble.me").allInnerTexts()).toEqual(texts);
  });
});

/** A chip as its words: "engage mention". */
async function chipOf(chip: ReturnType<Page["locator"]>): Promise<string> {
  const parts = await chip.locator("b, .rule").allInnerTexts();
  return parts.join(" ");
}

const send = (input: object) => ({ tool: "channel_send", input });
const widths = [390, 1_280] as const;
const long = "A label that is as long as a label may be, for a narrow window";
const runs = [
  {
    steps: [
      send({ text: "our **best** month", media: { source: "chart.png" } }),
      send({ media: { source: "notes.txt" } }),
      send({ text: "What **next**?", choices: { options: ["Again", "Enough", long] } }),
      { text: "Press one." },
    ],
  },
  { steps: [{ text: "Then again." }] },
  { steps: [{ text: "Then enough." }] },
];

describe.skipIf(!haveChromium)("what an agent sends besides text", () => {
  const rig = createPagesRig();
  let daemon: LiveDaemon;

  beforeEach(async () => {
    const driver = { kind: "scripted", runs };
    daemon = await rig.daemon({ agents: { list: [{ id: "main", name: "Scout", driver }] } });
    const workspace = join(daemon.stateDir, "agents", "main");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "chart.png"), samplePicture(640, 480));
    writeFileSync(join(workspace, "notes.txt"), "two soups and a spoon");
    await daemon.start();
  });

  // On a phone it is harder; the longer runs do all of it at both widths.
  test.each(widths.slice(0, rounds(1, 2)))(
    "is shown, saved and pressed, %d wide",
    async (width) => {
      const page = await rig.open(daemon.address("/chat"), { width });
      await page.getByText("Live", { exact: true }).waitFor();
      const pane = page.getByRole("button", { name: "Direct chat", exact: true });
      if (await pane.isVisible()) await pane.click();
      await page.getByLabel("Message to Scout").fill("show me");
      await page.getByLabel("Message to Scout").press("Enter");
      await page.getByText("Press one.").waitFor();
      const answers = page.locator(".direct .bubble.it");
      await soon(() => answers.allInnerTexts()).toEqual([
        "our best month",
        "What next?",
        "Press one.",
      ]);
      const picture = page.locator(".direct").getByRole("img", { name: "chart.png" });
      await picture.scrollIntoViewIfNeeded();
      await soon(() =>
        picture.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
      ).toBe(480);
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save notes.txt" }).click();
      expect((await saved).suggestedFilename()).toBe("notes.txt");

      const question = page.getByRole("group", { name: "Options" });
      expect(await question.getByRole("button").allInnerTexts()).toEqual(["Again", "Enough", long]);
      const { EARSHOT_SHOTS: shots } = process.env;
      const others = rounds(0, 1) > 0 ? widths.filter((one) => one !== width) : [];
      for (const seen of [...others, width]) {
        await page.setViewportSize({ width: seen, height: 900 });
        await question.getByRole("button", { name: "Again" }).waitFor();
        expect(await violations(page, "everything"), `at ${seen} px`).toEqual([]);
        if (shots !== undefined) await page.screenshot({ path: `${shots}/outgoing-${seen}.png` });
      }
      await question.getByRole("button", { name: "Again" }).dblclick();
      await page.getByText("Then again.").waitFor();
      await question.getByRole("button", { name: "Enough" }).press("Enter");
      await page.getByText("Then enough.").waitFor();
      expect(await page.locator(".direct .bubble.me").allInnerTexts()).toEqual([
        "show me",
        "Again",
        "Enough",
      ]);
      await page.reload();
      await page.getByText("Then enough.").waitFor({ state: "attached" });
      expect(await page.locator(".direct .choices button").count()).toBe(3);
    },
  );
});
