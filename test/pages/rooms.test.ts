/**
 * The Rooms page in a real Chromium on a real daemon: what is listed, how it changes live, and that
 * nothing moves under the pointer. Every test also claims that nothing went wrong in the console.
 */
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aside, group, type LiveDaemon, person, toScout } from "../support/daemon/live-daemon.ts";
import { haveChromium, type PageOptions } from "../support/pages/chromium.ts";
import { createPagesRig, lostDaemon, soon } from "../support/pages/pages-daemon.ts";
import { rounds } from "../support/rounds.ts";

const row = (page: Page, title: string) =>
  page.locator(".room", { has: page.locator(".name", { hasText: title }) });
const titles = (page: Page) => page.locator(".room .name").allTextContents();
const calmMs = 2_000;

/** Nodes the page keeps alive, in its document or out of it. */
async function liveNodes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await session.send("HeapProfiler.enable");
  // What script and document hold of each other takes more than one round.
  for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "Nodes")?.value ?? Number.NaN;
}

describe.skipIf(!haveChromium)("the Rooms page", () => {
  const rig = createPagesRig({ forgiven: lostDaemon });
  let daemon: LiveDaemon;

  beforeEach(async () => {
    daemon = await rig.daemon();
    await daemon.start();
  });

  async function open(options: PageOptions = {}, path = "/"): Promise<Page> {
    const page = await rig.open(daemon.address(path), options);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  }

  test("find and filters narrow the list, and Enter looks among the sleepers", async () => {
    await daemon.say({
      chat: group("#asleep"),
      author: person("Kit"),
      text: "good night",
      ...aside,
    });
    await daemon.stop();
    await daemon.start();
    await daemon.say({ chat: group("#garden"), text: "hello", ...aside });
    const page = await open();
    await soon(() => titles(page)).toEqual(["#garden", "#asleep"]);
    await page.keyboard.press("/");
    await page.keyboard.type("garden");
    await soon(() => titles(page)).toEqual(["#garden"]);
    await page.keyboard.press("Escape");
    await page.keyboard.type("nowhere");
    await page.getByText("Press Enter to search them too").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("No live or sleeping room").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Engaged" }).click();
    await page.getByRole("heading", { name: "No matching rooms" }).waitFor();
    await page.getByRole("button", { name: "All" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("kit");
    await page.keyboard.press("Enter");
    await soon(() => titles(page)).toEqual(["#asleep"]);
  });

  test("a daemon that comes back finds the page with nothing lost or doubled", async () => {
    await daemon.say({ chat: group("#garden"), text: "before", ...aside });
    const page = await open();
    await row(page, "#garden").waitFor();
    await daemon.stop();
    await page.getByText("Reconnecting", { exact: true }).waitFor();
    expect(await titles(page)).toEqual(["#garden"]);
    await daemon.start();
    await page.getByText("Live", { exact: true }).waitFor({ timeout: 20_000 });
    await soon(() => row(page, "#garden").locator(".state").textContent()).toBe("asleep");
    await daemon.say({ chat: group("#garden"), text: "after", ...aside });
    await row(page, "#garden").getByText("after").waitFor();
    expect(await titles(page)).toEqual(["#garden"]);
    const strip = await row(page, "#garden").locator(".strip").getAttribute("aria-label");
    expect(strip).toBe("Last 2 decisions: 0 engaged, 2 observed");
  });

  test("a thousand rooms and more are a window of rows, and the last one is a scroll away", async () => {
    const count = rounds(1_000, 10_000);
    for (let first = 0; first < count; first += 1_000)
      await daemon.say(
        ...Array.from({ length: 1_000 }, (_, n) => ({
          chat: group(`#room-${first + n}`),
          text: "hello",
          ...aside,
        })),
      );
    const page = await open();
    await soon(() => page.locator(".seg [aria-pressed=true] .n").textContent()).toBe(
      count.toLocaleString("en"),
    );
    expect(await page.locator(".room").count()).toBeLessThan(60);
    const size = () => page.locator(".rooms li").first().getAttribute("aria-setsize");
    await soon(size).toBe(String(count));
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await soon(() => page.locator(`.rooms li[aria-posinset="${count}"]`).count()).toBe(1);
    expect(await page.locator(".room").count()).toBeLessThan(60);
    expect(await size()).toBe(String(count));
    // Rows that left the window are let go.
    const before = await liveNodes(page);
    await page.evaluate(`new Promise((done) => {
      let left = ${rounds(30, 60)};
      const step = () => {
        scrollBy(0, -640);
        left -= 1;
        if (left === 0) done(); else requestAnimationFrame(step);
      };
      step();
    })`);
    await soon(() => liveNodes(page)).toBeLessThan(before + 4_000);
  });
});

describe.skipIf(!haveChromium)("the Rooms page, from its first room", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  let page: Page;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
    page = await rig.open(daemon.address("/"));
    await page.getByText("Live", { exact: true }).waitFor();
  });

  test("the printed address opens it, and without a room it says what would be here", async () => {
    await page.getByRole("heading", { name: "No rooms yet" }).waitFor();
    expect(await page.title()).toBe("Rooms · earshot");
    expect(page.url()).not.toContain("token");
    await page.getByRole("link", { name: "Open the simulator" }).click();
    await page.getByRole("heading", { name: "Chat", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "No rooms yet" }).waitFor();
  });

  test("rows stay under the pointer, new rooms wait, and order comes when both have left", async () => {
    await daemon.say({ chat: group("#old"), text: "first", ...aside });
    await daemon.say({ chat: group("#new"), text: "second", ...aside });
    await soon(() => titles(page)).toEqual(["#new", "#old"]);
    await row(page, "#new").hover();
    await daemon.say({ chat: group("#old"), text: "third", ...aside });
    await row(page, "#old").getByText("third").waitFor();
    await daemon.say({ chat: group("#late"), text: "fourth", ...aside });
    const pill = page.getByRole("button", { name: "1 new room" });
    await pill.waitFor();
    await page.waitForTimeout(calmMs + 1_500);
    expect(await titles(page)).toEqual(["#new", "#old"]);
    await pill.click();
    await soon(() => titles(page)).toEqual(["#late", "#old", "#new"]);
    await daemon.say({ chat: group("#new"), text: "fifth", ...aside });
    await page.mouse.move(0, 0);
    await page.keyboard.press("Escape");
    await soon(() => titles(page)).toEqual(["#new", "#late", "#old"]);
  });

  test("the keyboard alone is enough: next, previous, open, back, another page", async () => {
    await daemon.say({ chat: group("#one"), text: "hello", ...aside });
    await daemon.say({ chat: group("#two"), text: "hello", ...aside });
    await row(page, "#one").waitFor();
    const focused = () => page.locator(".room:focus .name").textContent();
    await page.keyboard.press("j");
    await soon(focused).toBe("#two");
    await page.keyboard.press("j");
    await soon(focused).toBe("#one");
    await page.keyboard.press("k");
    await soon(focused).toBe("#two");
    await page.keyboard.press("Enter");
    await soon(() => decodeURIComponent(new URL(page.url()).pathname)).toMatch(
      /^\/room\/agent:main:/,
    );
    await page.goBack();
    await row(page, "#one").waitFor();
    await soon(focused).toBe("#two");
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "Health", level: 1 }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await row(page, "#one").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
  });
});

describe.skipIf(!haveChromium)("the Rooms page, one thing after the other", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  let page: Page;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
    await daemon.say(
      { chat: group("#garden"), text: "the beans are up", ...aside },
      { chat: group("#garden"), author: person("Bo"), text: "so are mine", ...aside },
      { chat: group("#garden"), author: { ...person("Pip"), isBot: true }, text: "beep", ...aside },
    );
    page = await rig.open(daemon.address("/"));
    await page.getByText("Live", { exact: true }).waitFor();
  });

  test("a row shows who was there, what was decided, and the state of the room", async () => {
    const garden = row(page, "#garden");
    await garden.waitFor();
    expect(await garden.locator(".state").textContent()).toBe("observing");
    expect(await garden.locator(".chip").textContent()).toBe("observementions-others");
    expect(await garden.locator(".said").textContent()).toBe("Pip: beep");
    expect(await garden.textContent()).toContain("2 people, 1 bot");
    expect(await garden.locator(".face.bot").count()).toBe(1);
    const strip = await garden.locator(".strip").getAttribute("aria-label");
    expect(strip).toBe("Last 3 decisions: 0 engaged, 3 observed");
    expect(await page.locator(".head .sub").textContent()).toBe("1 live, 0 asleep");
    await soon(() => page.locator(".stat dd").first().textContent()).toBe("3");
  });

  test("landmarks, one heading and a name for every control", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await row(page, "#garden").waitFor();
    for (const role of ["banner", "navigation", "main"] as const)
      expect(await page.getByRole(role).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.locator('.tabs [aria-current="page"]').textContent()).toBe("Rooms");
    expect(await page.locator('.room[tabindex="0"]').count()).toBe(1);
    for (const control of await page.locator("button, input").all())
      expect(
        (await control.getAttribute("aria-label")) ?? (await control.textContent()),
      ).toBeTruthy();
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to content");
  });

  test("a turn is seen from its message to the credit that ticks down", async () => {
    await daemon.say({ chat: group("#garden"), text: "Scout, are you there?", ...toScout });
    const garden = row(page, "#garden");
    await garden.locator(".chip.engage").waitFor();
    const credit = garden.locator(".flag", { hasText: "1 credit, 14:" });
    await credit.waitFor();
    const before = await credit.textContent();
    await soon(() => credit.textContent()).not.toBe(before);
    await soon(() => garden.locator(".state").textContent()).toBe("observing");
  });

  test("at every width rows have one height and nothing scrolls sideways", async () => {
    const long = "x".repeat(60);
    await daemon.say({ chat: group(long), author: person(long), text: long, ...aside });
    await row(page, long).waitFor();
    for (const [width, height] of [
      [390, 112],
      [768, 64],
      [1200, 64],
      [1440, 64],
      [1600, 64],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const tall = async () => (await row(page, long).boundingBox())?.height;
      await expect.poll(tall, { message: `at ${width} px` }).toBe(height);
      const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wide, `at ${width} px`).toBe(0);
    }
  });

  test("hostile names and words stay text on one line", async () => {
    const title = "<img src=x onerror=alert(1)>\u202egpj";
    await daemon.say({ chat: group(title), text: "a\u001b[31m\n<b>b</b>", ...aside });
    const shown = row(page, "onerror=alert");
    await shown.waitFor();
    expect(await shown.locator(".name").textContent()).toBe("<img src=x onerror=alert(1)>gpj");
    expect(await shown.locator(".said").textContent()).toBe("Ann: a[31m <b>b</b>");
    expect((await shown.boundingBox())?.height).toBe(64);
  });
});
