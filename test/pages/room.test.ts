/**
 * The Room page on a real daemon: a room of four people and two bots is played, and what the page
 * says of it is what `earshot why` says in a terminal. The daemon is killed and comes back.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Why } from "../../src/actors/protocol/why.ts";
import { runCommand } from "../support/built/command.ts";
import { builtMain, builtPages } from "../support/built/files.ts";
import {
  type Called,
  call,
  roomKey,
  say,
  viewOf,
  writeRoomConfig,
} from "../support/daemon/room-daemon.ts";
import { closeTabs, haveChromium, openTab, sharedChromium } from "../support/pages/chromium.ts";
import { lostDaemon } from "../support/pages/pages-daemon.ts";
import { rounds } from "../support/rounds.ts";

/** Waits for what is bound to happen; long, since other tests use the same two cores. */
const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read, { timeout: 60_000 });

const lines = [
  ["m1", "ann", "Morning. Build 212 is green.", { mentions: ["bo"] }, "observe mentions-others"],
  ["m2", "bo", "@Scout what changed since 211?", { mentions: ["scout"] }, "engage mention"],
  ["m3", "bo", "risky how?", {}, "engage sticky"],
  ["m4", "ann", "@Bo can you look?", { mentions: ["bo"] }, "observe mentions-others"],
  ["m5", "bo", "@Ann yes, on it", { mentions: ["ann"] }, "observe addressed-elsewhere"],
  ["m6", "relay", "Deploy 212 to staging: done.", {}, "observe default"],
  ["m7", "clerk", "soups today", {}, "observe default"],
  ["m8", "dee", "clerk, two soups", {}, "observe names-peer-bot"],
  ["m9", "cy", "thanks", { replyTo: { id: "m7", authorId: "clerk" } }, "observe reply-to-other"],
] as const;
/** Lines that Scout answers, with what its script says. */
const answers: Readonly<Record<string, string>> = {
  m2: "Three things.",
  m3: "The session cookie.",
};

describe.skipIf(!haveChromium)("the Room page on a real daemon", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-room-"));
  let child: ChildProcess;
  let daemon: Called;
  let browser: Browser;
  let page: Page;
  let wrong: string[];

  async function start(port: number): Promise<void> {
    const args = ["start", "--state-dir", stateDir, "--port", String(port), "--workers", "1"];
    const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
    child = spawn(process.execPath, [builtMain, ...args], { env, stdio: "pipe" });
    let out = "";
    const address = await new Promise<URL>((found, ended) => {
      const read = (data: unknown) => {
        out += String(data);
        const said = /http:\S+\/(?= \(for)/.exec(out)?.[0];
        if (said !== undefined) found(new URL(said));
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", (data) => {
        out += String(data);
      });
      child.on("close", () => ended(new Error(`it ended: ${out}`)));
    });
    daemon = { base: address.origin, token: readFileSync(join(stateDir, "token"), "utf8") };
  }
  async function why(id: string): Promise<Why> {
    const args = ["why", id, "--json", "--state-dir", stateDir];
    const { code, out, err } = await runCommand(args, { env: { HOME: stateDir } });
    expect([code, err]).toEqual([0, ""]);
    const answer = JSON.parse(out) as { why: Why[] } | Why[];
    return (Array.isArray(answer) ? answer : answer.why)[0] as Why;
  }

  beforeAll(async () => {
    writeRoomConfig(stateDir, [
      ...Object.values(answers).map((text) => ({ steps: [{ text }] })),
      { steps: [{ text: "Staging runs 212, " }, { waitMs: 30_000 }, { text: "as it seems." }] },
    ]);
    [, browser] = await Promise.all([start(0), sharedChromium()]);
    ({ page, wrong } = await openTab(browser));
    // Seen as it comes in, not only afterwards.
    const [first] = lines;
    expect(await say(daemon, first[0], first[1], first[2], first[3])).toBe(first[4]);
    await page.goto(`${daemon.base}/room/${encodeURIComponent(roomKey)}#token=${daemon.token}`);
    await page.getByText("Live", { exact: true }).waitFor();
    for (const [id, who, text, aim, decided] of lines.slice(1)) {
      expect(await say(daemon, id, who, text, aim as never)).toBe(decided);
      const answer = answers[id];
      if (answer !== undefined) await page.locator(".msg.agent", { hasText: answer }).waitFor();
    }
  });
  afterAll(async () => {
    await closeTabs();
    if (child?.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    rmSync(stateDir, { recursive: true, force: true });
  });

  // By its own words: a line that quotes another has that one's words as well.
  const row = (text: string) =>
    page.locator(".msg.person", { has: page.locator(".text", { hasText: text }) });
  const texts = () => page.locator(".msg:not(.writing) .text").allInnerTexts();
  const lit = () =>
    page
      .locator(".chart .node.lit, .chart .node.hot")
      .evaluateAll((nodes) => nodes.map((node) => node.getAttribute("data-node")));
  const expected = lines.flatMap(([id, , text]) => [text, ...(answers[id] ? [answers[id]] : [])]);

  test("every line is there once, with its decision and its rule", async () => {
    await row("thanks").waitFor();
    await soon(texts).toEqual(expected);
    for (const [, , text, , decided] of lines) {
      const chip = row(text).locator(".chip");
      expect(await chip.locator("b").textContent()).toBe(decided.split(" ")[0]);
      expect(await chip.locator(".rule").textContent()).toBe(decided.split(" ")[1]);
    }
    const fate = page.locator(".msg.agent", { hasText: answers.m3 as string }).locator(".sent");
    await soon(() => fate.textContent()).toMatch(/^Sent in \d.*\. Bo has a credit for 15 min$/);
  });

  test("the ladder of each line is the one that `earshot why` shows", async () => {
    for (const id of ["m2", "m5", "m9"]) {
      const explained = await why(id);
      await row(explained.message.text).click();
      await soon(() => page.locator(".why-pane .of").textContent()).toContain(
        explained.message.author.name,
      );
      const rungs = explained.explanation?.rungs ?? [];
      const shown = page.locator(".ladder .rung");
      await soon(() => shown.locator(".rule").allTextContents()).toEqual(
        rungs.map(({ rule }) => rule),
      );
      expect(await shown.locator(".fact").allTextContents()).toEqual(rungs.map(({ fact }) => fact));
      expect(await page.locator(".rung[aria-current] .rule").textContent()).toBe(
        explained.recorded?.rule,
      );
      expect(await page.locator(".why-pane .facts").textContent()).toContain(`earshot why ${id}`);
      expect(await page.locator(".why-pane .facts").textContent()).toContain(
        explained.humans.source,
      );
    }
  });

  test("a ladder that cannot be had just now is asked for again", async () => {
    let refused = 0;
    await page.route("**/api/why/*", (route) => {
      refused += 1;
      return refused === 1 ? route.abort() : route.continue();
    });
    await row("Deploy 212").click();
    const facts = page.locator(".why-pane .facts");
    await soon(async () => (await facts.count()) && (await facts.textContent())).toContain(
      "why m6",
    );
    expect(refused).toBeGreaterThan(1);
    await page.unroute("**/api/why/*");
    expect(wrong.splice(0).join(" ")).toContain("ERR_FAILED");
  });

  test("the column beside says what the machine says: states, credits, what was overheard", async () => {
    const { state } = await viewOf(daemon);
    await soon(lit).toEqual(["attention.observing", "lock.granting", "guard.clear", "typing.off"]);
    expect(state.attention).toBe("observing");
    const side = page.locator(".state-col");
    expect(await side.locator(".cells i.full").count()).toBe(state.buffer.used);
    expect(await side.locator(".cells i").count()).toBe(state.buffer.size);
    expect(await side.locator(".heard li bdi").allTextContents()).toEqual(
      state.buffer.newest.map(({ text }) => text),
    );
    expect(await side.locator(".credits li bdi").allTextContents()).toEqual(
      state.credits.map(({ who }) => who.name),
    );
    expect(await page.locator(".room-bar").textContent()).toContain("4 people, 2 bots");
  });

  test("keys move through the lines, to the engaged ones, to the ladder and back", async () => {
    const selected = () => page.locator(".msg[aria-selected=true] .text").textContent();
    await row("clerk, two soups").click();
    await page.keyboard.press("k");
    await soon(selected).toBe("soups today");
    await page.keyboard.press("E");
    await soon(selected).toBe("risky how?");
    await page.keyboard.press("n");
    await soon(selected).toBe("thanks");
    await page.keyboard.press("Enter");
    await soon(() => page.locator(":focus").getAttribute("class")).toBe("ladder");
    await page.keyboard.press("Escape");
    await soon(() => page.locator(":focus").getAttribute("role")).toBe("option");
    expect(await selected()).toBe("thanks");
  });

  test("a turn is seen while it runs, and a kill of the daemon loses and repeats nothing", async () => {
    expect(await say(daemon, "m10", "cy", "scout, is staging safe?")).toBe("engage alias");
    const writing = page.locator(".msg.writing");
    await soon(() => writing.textContent()).toContain("Staging runs 212");
    await soon(lit).toEqual([
      ...["attention.engaged", "attention.engaged.running", "lock.granting"],
      ...["guard.clear", "typing.on"],
    ]);
    expect(await page.locator(".state-col .kv").textContent()).toContain("Cy, 1 message");
    const recorded = await why("m10");
    expect(recorded.recorded).toMatchObject({ decision: "engage", rule: "alias" });

    const port = Number(new URL(daemon.base).port);
    child.kill("SIGKILL");
    await once(child, "close");
    await page.getByText("Reconnecting", { exact: true }).waitFor();
    expect(await row("scout, is staging safe?").count()).toBe(1);
    await start(port);
    await page.getByText("Live", { exact: true }).waitFor({ timeout: 30_000 });
    await say(daemon, "m11", "ann", "@Bo and now?", { mentions: ["bo"] });
    await row("@Bo and now?").waitFor();
    const heard = [...lines.map(([, , text]) => text), "scout, is staging safe?", "@Bo and now?"];
    await soon(() => page.locator(".msg.person .text").allTextContents()).toEqual(heard);
    // The turn that was lost is tried again, once; the script of its agent begins again.
    const said = [...Object.values(answers), "Three things."];
    await soon(() => page.locator(".msg.agent .text").allTextContents()).toEqual(said);
    await page.reload();
    await row("@Bo and now?").waitFor();
    expect(await page.locator(".msg.person .text").allTextContents()).toEqual(heard);
    expect(await page.locator(".msg.agent .text").allTextContents()).toEqual(said);
    const known = (text: string) => lostDaemon.some((word) => text.includes(word));
    expect(wrong.filter((text) => !known(text))).toEqual([]);
  });

  test("a reader further up stays there, sees what came, and older lines load above", async () => {
    const many = Array.from({ length: 90 }, (_, index) => ({
      channel: "webhook",
      chat: { id: "release", kind: "group" },
      id: `x${index}`,
      author: { id: "relay", name: "Relay", isBot: true },
      text: `log line ${index}`,
    }));
    await call(daemon, "/api/inbound?wait=decision", many);
    await row("log line 89").waitFor();
    await page.reload();
    await row("log line 89").waitFor();
    const box = page.locator(".talk-scroll");
    expect(await page.locator(".msg.person").count()).toBeLessThan(90);
    await box.evaluate((element) => element.scrollTo({ top: 300 }));
    const begin = page.locator(".begin").first();
    await soon(() => begin.textContent()).toContain("Start of the journal");
    const top = () =>
      box.evaluate((element) => {
        const edge = element.getBoundingClientRect().top;
        const first = [...element.querySelectorAll(".msg")].find(
          (line) => line.getBoundingClientRect().top >= edge,
        );
        return first?.textContent ?? "";
      });
    await page.waitForTimeout(300);
    const before = await top();
    await say(daemon, "y1", "dee", "@Bo still there?", { mentions: ["bo"] });
    await page.getByRole("button", { name: "1 new message" }).waitFor();
    expect(await top()).toBe(before);
    await page.getByRole("button", { name: "1 new message" }).click();
    await soon(() => page.getByRole("button", { name: "1 new message" }).count()).toBe(0);
    expect(await box.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight)).toBeLessThan(
      48,
    );
  });

  test("from the list to the room and back, each page keeps its own form", async () => {
    await page.goto(`${daemon.base}/`);
    const link = page.locator(`a.room[href="/room/${encodeURIComponent(roomKey)}"]`);
    await link.waitFor();
    expect((await link.boundingBox())?.height).toBe(64);
    await link.click();
    await row("@Bo still there?").waitFor();
    const size = await page.locator("main").boundingBox();
    expect(size?.height).toBeGreaterThan(700);
    expect((await page.locator(".talk-col").boundingBox())?.x).toBe(size?.x);
    await page.getByRole("link", { name: "All rooms" }).click();
    await link.waitFor();
    expect((await link.boundingBox())?.height).toBe(64);
    await page.goBack();
    await row("@Bo still there?").waitFor();
  });

  // Narrow, with all columns, and every width between and beyond in the longer runs.
  test.each([390, 1200, 768, 1000, 1440, 1600].slice(0, rounds(2, 6)))(
    "nothing runs over the edge at %d px, and every control has a name",
    async (width) => {
      await page.setViewportSize({ width, height: 860 });
      await row("@Bo still there?").waitFor({ state: "attached" });
      expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(width);
      expect(await page.locator("h1").count()).toBe(1);
      const nameless = await page
        .locator("button, a, textarea, input, select")
        .evaluateAll((all) =>
          all
            .filter((one) => !one.textContent?.trim() && !one.getAttribute("aria-label"))
            .map((one) => one.outerHTML),
        );
      expect(nameless).toEqual([]);
    },
  );
});

describe.skipIf(!haveChromium)("a room that is not there", () => {
  test("the page says so in words, and opens by itself when something is heard", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "earshot-room-"));
    writeRoomConfig(stateDir, []);
    const { startDaemon } = await import("../../src/daemon/daemon.ts");
    const quiet = { env: {}, writeLog: () => undefined };
    const daemon = await startDaemon({
      stateDir,
      port: 0,
      workers: 0,
      pagesDir: builtPages,
      ...quiet,
    });
    const browser = await sharedChromium();
    const { page, wrong } = await openTab(browser, { width: 390, height: 844 });
    await page.goto(`${daemon.base}/room/${encodeURIComponent(roomKey)}#token=${daemon.token}`);
    await page.getByText("No messages here yet").waitFor();
    await say(daemon, "m1", "ann", "anyone here?\u001b[2J\u202e <b>bold</b> ".repeat(2_000));
    await page.locator(".msg.person", { hasText: "anyone here?" }).waitFor({ timeout: 15_000 });
    const shown = await page.locator(".msg.person .text").textContent();
    expect(shown).toContain("<b>bold</b>");
    expect(shown).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    for (const pane of ["Why", "State"]) {
      await page.getByRole("button", { name: pane, exact: true }).click();
      await page.getByRole("region", { name: pane }).waitFor();
    }
    const wide = await page.locator("html").evaluate((element) => element.scrollWidth);
    expect(wide).toBe(390);
    expect(wrong.filter((text) => !text.includes("404"))).toEqual([]);
    await page.close();
    await daemon.stop({ drainMs: 0 });
    rmSync(stateDir, { recursive: true, force: true });
  });
});
