/**
 * The Chat page in a real Chromium, under the daemon's content policy, against a server that can
 * misbehave on order. Every test also claims that nothing went wrong in the console. They go on in one page, one after
 * the other.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig, soon } from "../support/pages/pages-daemon.ts";
import { rounds } from "../support/rounds.ts";
import { type PagesServer, startPagesServer } from "../support/servers/pages.ts";

const said = (page: Page, pane: "direct" | "room-pane") =>
  page.locator(`.${pane} ${pane === "direct" ? ".bubble" : ".msg"}`);
const room = (page: Page) => page.getByLabel("Message in the simulated room");
const verdict = (page: Page) => page.locator(".room-pane .would .chip");
/** A place in the journal after all that the server gives by itself. */
const later = 1_000;
/** A line of the room's transcript by its text. */
const row = (page: Page, text: string) => page.locator(".msg", { hasText: text }).first();

describe.skipIf(!haveChromium)("the Chat page", () => {
  const rig = createPagesRig({ kept: true });
  let server: PagesServer;
  /** One page for what needs no other, as a visit costs as much as most of what is looked at in it. */
  let page: Page;

  beforeAll(async () => {
    server = await startPagesServer(rig.pagesDir);
    rig.closing(() => server.close());
    page = await rig.open(server.address);
    await page.getByText("Live", { exact: true }).waitFor();
  });
  /** The room as it is at first: nobody else in it, nothing said, nothing chosen. */
  async function startOver(): Promise<void> {
    await page.getByRole("button", { name: "Start over" }).click();
    await page.getByRole("heading", { name: "Say something" }).waitFor();
  }
  async function write(page: Page, as: string, text: string): Promise<void> {
    await page.getByRole("radio", { name: as, exact: true }).click();
    await room(page).fill(text);
    await room(page).press("Enter");
    await row(page, text).locator(".chip").waitFor();
  }

  test("the token leaves the address bar and survives a reload", async () => {
    expect(page.url()).toBe(`${server.origin}/chat`);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
  });

  test("without a token the page says where to get one", async () => {
    const page = await rig.open(server.origin);
    await page.getByText("This page needs a token").waitFor();
    expect(await page.getByText("earshot status").count()).toBe(1);
  });

  test("a refused token is said to be refused, and not tried for ever", async () => {
    const page = await rig.open(`${server.origin}/chat#token=old`);
    await page.getByText("The token was refused").waitFor();
    await page.getByText("Token refused", { exact: true }).waitFor();
  });

  test("a line of the direct chat is answered, with its decision below it", async () => {
    await page.getByLabel("Message to Scout").fill("hello **there**");
    await page.keyboard.press("Enter");
    await said(page, "direct").nth(1).waitFor();
    expect(await said(page, "direct").allInnerTexts()).toEqual([
      "hello **there**",
      "You said: hello there",
    ]);
    expect(await page.locator(".direct .meta").first().textContent()).toContain("engage dm");
  });

  test("lines written while the connection is down arrive once, in order", async () => {
    const [taken, lines] = [server.taken.length, await said(page, "direct").count()];
    // The browser reports the refused connections; that is the fault we made.
    rig.forgive("WebSocket");
    server.cut({ refuse: true });
    await page.getByText(/^Reconnecting, attempt/).waitFor();
    for (const text of ["one", "two", "three"]) {
      await page.getByLabel("Message to Scout").fill(text);
      await page.keyboard.press("Enter");
    }
    expect(server.taken).toHaveLength(taken);
    server.recover();
    await page.getByText("You said: three").waitFor();
    const texts = server.taken.slice(taken).map((one) => one.text);
    expect(texts).toEqual(["one", "two", "three"]);
    expect(await said(page, "direct").count()).toBe(lines + 6);
  });

  test("a line whose receipt was lost is sent again under its id and shown once", async () => {
    const [taken, heard] = [server.taken.length, server.heard()];
    const lines = await said(page, "direct").count();
    server.mute(true);
    await page.getByLabel("Message to Scout").fill("only once");
    await page.keyboard.press("Enter");
    await soon(() => server.heard()).toBe(heard + 1);
    server.mute(false);
    server.cut();
    await page.getByText("You said: only once").waitFor();
    await soon(() => server.heard()).toBe(heard + 2);
    expect(server.taken).toHaveLength(taken + 1);
    expect((await said(page, "direct").allInnerTexts()).slice(lines)).toEqual([
      "only once",
      "You said: only once",
    ]);
  });

  test("an unsent line survives a reload", async () => {
    const [taken, heard] = [server.taken.length, server.heard()];
    server.mute(true);
    await page.getByLabel("Message to Scout").fill("do not forget me");
    await page.keyboard.press("Enter");
    await soon(() => server.heard()).toBe(heard + 1);
    server.mute(false);
    await page.reload();
    await page.getByText("You said: do not forget me").waitFor();
    expect(server.taken).toHaveLength(taken + 1);
    // And one that nobody heard, which only the page has.
    rig.forgive("WebSocket");
    server.cut({ refuse: true });
    await page.getByText(/^Reconnecting, attempt/).waitFor();
    await page.getByLabel("Message to Scout").fill("nor me");
    await page.keyboard.press("Enter");
    await page.reload();
    server.recover();
    await page.getByText("You said: nor me").waitFor();
    expect(server.taken).toHaveLength(taken + 2);
  });

  test("light and dark follow the system, and the switch is remembered", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await background()).toBe("rgb(14, 16, 19)");
    await page.getByRole("button", { name: "Switch between light and dark" }).click();
    expect(await background()).toBe("rgb(247, 248, 250)");
    await page.reload();
    expect(await background()).toBe("rgb(247, 248, 250)");
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByText("Live", { exact: true }).waitFor();
  });

  test("an answer grows as it is written, and the delivered block takes its place", async () => {
    const bubbles = page.locator(".direct .bubble.it");
    const before = await bubbles.count();
    const bubble = bubbles.nth(before);
    server.push({ type: "turn", turnId: "t9", state: "start" });
    server.push({ type: "typing", on: true });
    await page.getByText("Scout is writing").waitFor();
    for (const text of ["Fir", "First line", "First line\n\n- a", "First line\n\n- a\n- b"])
      server.push({ type: "delta", turnId: "t9", text });
    await soon(() => bubble.locator("li").count()).toBe(2);
    expect(await bubble.locator(".caret").count()).toBe(1);
    const said = { id: "t9:0", text: "First line\n\n- a\n- b", replyTo: null, turnId: "t9" };
    server.push({ type: "said", n: later, at: Date.now(), ...said });
    server.push({ type: "typing", on: false });
    server.push({ type: "turn", turnId: "t9", state: "end", outcome: "replied" });
    await soon(() => page.locator(".direct .caret").count()).toBe(0);
    expect(await bubbles.count()).toBe(before + 1);
    expect(await page.getByText("Scout is writing").count()).toBe(0);
  });

  test("a transcript follows its end, but not away from where someone reads", async () => {
    await page.setViewportSize({ width: 1440, height: 420 });
    const push = (n: number) =>
      server.push({
        type: "said",
        n: later + n,
        id: `t${n}:0`,
        text: `block ${n}`,
        replyTo: null,
        at: n,
        turnId: `t${n}`,
      });
    for (let n = 1; n <= 12; n += 1) push(n);
    // While some are on their way the page is at its end, too.
    await page.getByText("block 12", { exact: true }).waitFor();
    const scroll = page.locator(".direct .scroll");
    const below = () =>
      scroll.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await soon(below).toBeLessThan(2);
    // Its box becomes lower in the frame in which the page hears that it was scrolled.
    await scroll.evaluate((box) => {
      box.scrollBy(0, -1);
      (box as HTMLElement).style.maxHeight = "120px";
    });
    await soon(below).toBeLessThan(2);
    await scroll.evaluate((box) => {
      (box as HTMLElement).style.maxHeight = "";
    });
    // Twice: the observer of its size runs after the first.
    const frame = "new Promise((go) => requestAnimationFrame(() => setTimeout(go)))";
    await page.evaluate(`${frame}.then(() => ${frame})`);
    await scroll.evaluate((box) => box.scrollTo(0, 0));
    // The page hears of the scrolling with the next frame.
    await page.evaluate("new Promise((go) => requestAnimationFrame(() => setTimeout(go, 50)))");
    push(13);
    push(14);
    await page.getByRole("button", { name: "2 new messages" }).click();
    await soon(below).toBeLessThan(2);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("the ladder of the draft follows the typing and matches what then happens", async () => {
    await startOver();
    await room(page).fill("lunch at one?");
    await soon(() => verdict(page).textContent()).toMatch(/observe\s*default/);
    await room(page).fill("scout, lunch at one?");
    await soon(() => verdict(page).textContent()).toMatch(/engage\s*alias/);
    const matched = page.locator(".rung[aria-current]");
    expect(await matched.textContent()).toMatch(/alias\s*contains “scout”/i);
    expect(await page.locator(".rung.not-reached").count()).toBeGreaterThan(3);
    await room(page).press("Enter");
    const chip = row(page, "scout, lunch").locator(".chip");
    await soon(() => chip.textContent()).toMatch(/engage\s*alias/);
    await page.getByText(/Ann has a credit for 15 min/).waitFor();
  });

  // On a real daemon it is in chat-daemon.test.ts; here in the longer runs.
  if (rounds(0, 1) > 0)
    test("four people and two bots: mentions, replies and credits decide as the rules say", async () => {
      await startOver();
      await page.getByRole("button", { name: "Add a person or bot" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Dee");
      await page.getByRole("button", { name: "Add person" }).click();
      await page.getByRole("button", { name: "Add a person or bot" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Clerk");
      await page.getByRole("button", { name: "Add bot" }).click();
      await page.getByText("a group of 4 people and 2 bots").waitFor();
      await write(page, "Ann", "lunch at one?");
      await write(page, "Relay", "Menu for today: soup");
      await write(page, "Dee", "@Bo are you coming?");
      await write(page, "Clerk", "@Scout any orders?");
      await page.getByText(/Sent in .* Clerk has a credit/).waitFor();
      await write(page, "Clerk", "two soups then");
      await write(page, "Cy", "relay, one for me");
      const chips = await page.locator(".room-pane .msg .chip").allInnerTexts();
      expect(chips.map((chip) => chip.replace(/\s+/g, " "))).toEqual([
        "observe default",
        "observe default",
        "observe mentions-others",
        "engage mention",
        "engage sticky",
        "observe names-peer-bot",
      ]);
      await row(page, "@Bo are you").click();
      const rung = page.locator(".rung[aria-current]");
      await soon(() => rung.textContent()).toContain("mentions-others");
      expect(await page.locator(".facts").textContent()).toContain("4 people");
    });

  test("a reply quotes what it answers, and replying to the agent engages", async () => {
    await startOver();
    await write(page, "Ann", "@Scout hello");
    await page.locator(".msg .sent svg").waitFor();
    await page.locator(".msg", { hasText: "agent" }).click();
    await page.getByRole("button", { name: "Reply", exact: true }).click();
    await page.getByText(/^Replying to Scout/).waitFor();
    await write(page, "Cy", "me too");
    expect(await row(page, "me too").locator(".chip").textContent()).toMatch(/engage\s*reply/);
    expect(await row(page, "me too").locator(".quote").textContent()).toMatch(/^Scout: /);
  });

  test("Enter on a message of the agent, which has no ladder, goes to what is said of it", async () => {
    await startOver();
    await write(page, "Ann", "@Scout hello");
    await page.locator(".msg .sent svg").waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("n");
    const focused = () => page.evaluate("document.activeElement.className");
    await soon(focused).toContain("msg");
    await page.keyboard.press("Enter");
    const why = page.locator(".why-pane :focus");
    await soon(() => why.textContent()).toContain("It answers Ann");
    await page.keyboard.press("Escape");
    await soon(focused).toContain("msg");
    // The ladder of another line does not draw the focus to itself.
    await page.keyboard.press("k");
    await page.locator(".ladder").waitFor();
    await soon(() => page.locator(".msg:focus").textContent()).toContain("@Scout hello");
  });

  test("a ladder that comes late gets the focus of who waits for it, and of nobody else", async () => {
    await startOver();
    const held: (() => Promise<void>)[] = [];
    await page.route("**/api/simulate", (route) => void held.push(() => route.continue()));
    const answer = () => Promise.all(held.splice(0).map((go) => go()));
    const focused = () => page.evaluate("document.activeElement.className");
    const toWhy = async (text: string) => {
      await room(page).fill(text);
      await room(page).press("Enter");
      await page.locator("main").focus();
      await page.keyboard.press("n");
      await soon(() => page.locator(".msg:focus").textContent()).toContain(text);
      await page.keyboard.press("Enter");
      await soon(() => page.locator(".why-pane :focus").count()).toBe(1);
    };
    await toWhy("is it late?");
    expect(await page.locator(".ladder").count()).toBe(0);
    await answer();
    await soon(focused).toBe("ladder");
    await toWhy("and now?");
    await page.keyboard.press("Escape");
    await soon(focused).toContain("msg");
    await answer();
    await page.locator(".ladder").waitFor();
    expect(await focused()).toContain("msg");
    await page.unroute("**/api/simulate");
    await answer();
  });

  test("hostile names and texts stay text", async () => {
    await startOver();
    const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await page.getByRole("button", { name: "Add a person or bot" }).click();
    await page.getByLabel("Name", { exact: true }).fill("<b>\u202eevE</b>");
    await page.getByRole("button", { name: "Add person" }).click();
    await room(page).fill(`${script}\u202egnirts`);
    await room(page).press("Enter");
    await page.locator(".msg .chip").waitFor();
    expect(await page.locator(".msg .text").textContent()).toBe(`${script}gnirts`);
    expect(await page.locator(".msg .who bdi").textContent()).toBe("<b>evE</b>");
    expect(await page.locator(".msg .text").locator("img, script, b").count()).toBe(0);
    expect(await page.title()).toBe("Chat · earshot");
    server.push({ type: "delta", turnId: "t", text: `${script}\n- [x](javascript:alert(1))` });
    await page.locator(".direct .bubble.it", { hasText: "onerror" }).waitFor();
    expect(await page.locator(".direct .bubble.it").locator("img, script, a").count()).toBe(0);
  });

  test("every control has a name, the landmarks are there, and no width scrolls sideways", async () => {
    await startOver();
    await page.setViewportSize({ width: 1600, height: 844 });
    await page.getByRole("button", { name: "Show an example" }).click();
    await page.locator(".msg .chip").first().waitFor();
    const nameless = await page.evaluate(
      `[...document.querySelectorAll("button, a, input, textarea")].filter((one) =>
        !(one.getAttribute("aria-label") || one.textContent.trim())).length`,
    );
    expect(nameless).toBe(0);
    for (const role of ["banner", "navigation", "main", "heading"] as const)
      expect(await page.getByRole(role).first().isVisible()).toBe(true);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.getByRole("option").count()).toBeGreaterThan(4);
    expect(await page.locator('.msg[tabindex="0"]').count()).toBe(1);
    await room(page).fill(`scout ${"long".repeat(200)}`);
    await verdict(page).waitFor();
    const overflow = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
    let switched = 0;
    for (const width of [1600, 1440, 1200, 768, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(), `at ${width} px`).toBe(0);
      for (const name of ["Why", "Direct chat", "Simulator"]) {
        const button = page.getByRole("button", { name, exact: true });
        if (!(await button.isVisible())) continue;
        await button.click();
        switched += 1;
        expect(await overflow(), `${name} at ${width} px`).toBe(0);
      }
    }
    // A phone shows one pane at a time.
    expect(switched).toBeGreaterThanOrEqual(3);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("the keyboard alone is enough: write as, send, move, open the ladder, come back", async () => {
    await startOver();
    await room(page).focus();
    await page.keyboard.press("Alt+2");
    await page.keyboard.type("@Scout hello");
    await page.keyboard.press("Enter");
    await row(page, "@Scout hello").locator(".chip").waitFor();
    // Its answer has no ladder: it must not be the newest later, wherever the time goes.
    await page.locator(".msg .sent svg").waitFor();
    await page.keyboard.press("Alt+3");
    await page.keyboard.type("nice");
    await page.keyboard.press("Enter");
    await row(page, "nice").locator(".chip").waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("Shift+E");
    await soon(() => page.locator('.msg[aria-selected="true"]').allTextContents()).toEqual([
      expect.stringContaining("Bo"),
    ]);
    // Frames come late on a busy machine.
    await page.evaluate(`window.requestAnimationFrame = (run) => setTimeout(run, 200);
      window.cancelAnimationFrame = clearTimeout;`);
    await page.keyboard.press("n");
    const focused = () => page.evaluate("document.activeElement.className");
    await soon(focused).toContain("msg");
    await page.keyboard.press("Enter");
    await soon(focused).toBe("ladder");
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => done()))");
    expect(await focused()).toBe("ladder");
    await page.keyboard.press("Escape");
    await soon(focused).toContain("msg");
    await page.keyboard.press("t");
    await soon(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await soon(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("the pages hold no inline code", async () => {
    const html = await readFile(join(rig.pagesDir, "index.html"), "utf8");
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=/);
  });
});
