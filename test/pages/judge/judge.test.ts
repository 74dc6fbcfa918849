/**
 * Lines that a judge decides, on the Room page and in the list of rooms: asked, engaged after all,
 * declined, without an answer; live and after a reload.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RoomView } from "../../../src/daemon/api-types/room.ts";
import { roomHref } from "../../../web/src/lib/route.ts";
import { aside, group, type LiveDaemon, person } from "../../support/daemon/live-daemon.ts";
import { violations, violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, follow, lostDaemon, soon } from "../../support/pages/pages-daemon.ts";
import { type JudgeServer, startJudgeServer } from "../../support/servers/judge.ts";

const key = "agent:main:webhook:group:#kitchen";
const table = "Can somebody book a table?";
const yes = { engage: true, confidence: 0.9, why: "Bo asks for <b>a table</b>" };

describe.skipIf(!haveChromium)("a judge on the pages", () => {
  const rig = createPagesRig({ kept: true });
  let judge: JudgeServer;
  let daemon: LiveDaemon;
  /** As a person has it open, from the first line to the last. */
  let page: Page;

  beforeAll(async () => {
    judge = await startJudgeServer();
    rig.closing(() => judge.close());
    const asked = { kind: "webhook", url: judge.url, secret: "a secret of the test" };
    daemon = await rig.daemon({
      engagement: { judge: { ...asked, minConfidence: 0.6, perMinuteMax: 5, timeoutMs: 30_000 } },
      messages: { inbound: { debounceMs: 0 } },
    });
    await daemon.start();
    const chat = group("#kitchen");
    // Nobody is alone with the agent.
    await daemon.say({ chat, author: person("Zoe"), text: "Good morning", ...aside });
    page = await rig.open(daemon.address(roomHref(key)));
  });

  const say = (text: string, by = "Cy") =>
    daemon.say({ chat: group("#kitchen"), author: person(by), text });
  const row = (page: Page, text: string) =>
    page.locator(".msg.person", { has: page.locator(".text", { hasText: text }) });
  const words = async (page: Page, text: string) =>
    (await row(page, text).locator(".chip").allInnerTexts()).join().replace(/\s+/gu, " ").trim();
  const why = (page: Page) => page.getByRole("region", { name: "Why" });

  test("a line is asked about, then engaged or declined, while the page is open", async () => {
    await say(table, "Bo");
    await soon(() => words(page, table)).toBe("observe judge is asked");
    await row(page, table).click();
    await why(page).getByText("so the judge is asked. Until it answers").first().waitFor();
    judge.answer(table, yes);
    await soon(() => words(page, table)).toBe("engage judge: yes, 90%");
    const sentence = "Its answer: meant for the agent, so a turn starts.";
    // A moment later it is announced to screen readers as well.
    await why(page).getByText(sentence).first().waitFor();
    await why(page)
      .getByText(/yes, 90% sure; took \d/u)
      .waitFor();
    await why(page).getByText("“Bo asks for <b>a table</b>”").waitFor();
    await why(page).locator(".rung.matched.engage").waitFor();

    judge.answer("Nice weather.", { engage: false, confidence: 0.82, why: "small talk" });
    await say("Nice weather.");
    await soon(() => words(page, "Nice weather.")).toBe("observe judge: no, 82%");
    judge.answer("Perhaps.", { engage: true, confidence: 0.4 });
    await say("Perhaps.");
    await soon(() => words(page, "Perhaps.")).toBe("observe judge: yes, 40%");
    judge.answer("It is down.", 500);
    await say("It is down.");
    await soon(() => words(page, "It is down.")).toBe("observe judge: it failed");
    judge.answer("So what?", { engage: "perhaps" });
    await say("So what?");
    await soon(() => words(page, "So what?")).toBe("observe judge: no clear answer");
    await say("Once more?");
    await soon(() => words(page, "Once more?")).toBe("observe judge: not asked");
  });

  test("it is the same after a reload, for keys and for screen readers", async () => {
    await page.reload();
    await soon(() => words(page, table)).toBe("engage judge: yes, 90%");
    await soon(() => words(page, "Nice weather.")).toBe("observe judge: no, 82%");
    await row(page, "Once more?").click();
    // The engaged line before it.
    await page.keyboard.press("E");
    await page.locator('.msg.person[aria-selected="true"]', { hasText: table }).waitFor();
    await why(page)
      .getByText(/yes, 90% sure; took/u)
      .waitFor();
    expect(await violationsInBothColours(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    await soon(wide).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("the API has each answer as an entry, and no question is open", async () => {
    const view = (await daemon.ask(`/rooms/${encodeURIComponent(key)}`)) as RoomView;
    const judged = view.history.entries.flatMap((entry) => (entry.kind === "judged" ? entry : []));
    expect(judged.map(({ engaged, failed = "" }) => [engaged, failed])).toEqual([
      [true, ""],
      [false, ""],
      [false, ""],
      [false, "error"],
      [false, "ill-formed"],
      [false, "budget"],
    ]);
    expect(view.state.asked).toEqual([]);
  });

  test("the list of rooms counts the engaged line as engaged, also after a restart", async () => {
    await follow(page, "/");
    const strip = page.locator(".strip .engage");
    await soon(() => strip.count()).toBe(1);
    const bars = page.getByRole("img", { name: /7 messages, 1 engaged/u });
    await bars.waitFor();
    await daemon.stop();
    rig.forgive(...lostDaemon);
    await daemon.start();
    await page.reload();
    await bars.waitFor();
    await soon(() => strip.count()).toBe(1);
  });

  test("What-if uses the recorded answers, and leaves open what another judge would say", async () => {
    await follow(page, "/replay");
    const box = page.getByLabel("Rules, as JSON5");
    await page.getByText("7 messages in 1 room are ready.").waitFor();
    const rules = await box.inputValue();
    const sum = page.locator(".sum");

    await box.fill(rules.replace("minConfidence: 0.6", "minConfidence: 0.95"));
    await sum.getByText("1 decision changes").waitFor();
    expect(await sum.getByText("undecided").count()).toBe(0);

    await box.fill(rules.replace("/judge", "/another"));
    await sum.getByText("6 undecided: they need the judge").waitFor();
    expect(await sum.getByText("0 decisions change").count()).toBe(1);
    const change = page.locator(".change", { hasText: table });
    const chips = change.locator(".chip");
    expect(await chips.locator("b").allInnerTexts()).toEqual(["engage", "undecided"]);
    expect(await chips.locator(".rule").allInnerTexts()).toEqual(["judge", "needs the judge"]);
    await change.click();
    await page.getByText("the recording has no answer of the judge").waitFor();
    await page.locator(".both .rung[aria-current]").nth(1).waitFor();
    await page.getByRole("button", { name: "Undecided6" }).click();
    await soon(() => page.locator(".change").count()).toBe(6);
    expect(await violations(page, "everything")).toEqual([]);
  });
});
