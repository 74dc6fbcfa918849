/**
 * The What-if page on a real daemon: its journal under other rules, a file dropped on it, mistakes
 * named as one types, and rules that are applied and taken back.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addedLines, diffLines, folded } from "../../../web/src/what-if/diff.ts";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { say } from "../../support/daemon/room-daemon.ts";
import { violations } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";

describe("a diff of two texts", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "{", "}"), { maxLength: 30 });
  const text = lines.map((all) => all.join("\n"));

  test("without what came it is the old text, without what went the new one", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const all = diffLines(before, after);
        const without = (kind: "add" | "del") =>
          all
            .filter((one) => one.kind !== kind)
            .map((one) => one.text)
            .join("\n");
        expect(without("add")).toBe(before);
        expect(without("del")).toBe(after);
        for (const { kind, number, text: said } of all)
          expect((kind === "del" ? before : after).split("\n")[number - 1]).toBe(said);
      }),
    );
  });

  test("folding leaves nothing out but says how much, and every change stays", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const all = diffLines(before, after);
        const short = folded(all);
        const count = short.reduce((sum, one) => sum + (one.kind === "gap" ? one.count : 1), 0);
        expect(count).toBe(all.length);
        const changes = (list: readonly { kind: string }[]) =>
          list.filter(({ kind }) => kind === "add" || kind === "del");
        expect(changes(short)).toEqual(changes(all));
      }),
    );
    expect(addedLines("a\nb\nc", "a\nx\nc")).toEqual(new Set([2]));
  });
});

describe.skipIf(!haveChromium)("the What-if page on a real daemon", () => {
  const rig = createPagesRig({ kept: true, forgiven: ["400"] });
  const files = mkdtempSync(join(tmpdir(), "earshot-what-if-"));
  let daemon: LiveDaemon;
  let page: Page;

  beforeAll(async () => {
    const driver = { kind: "scripted", runs: [] };
    daemon = await rig.daemon({
      agents: { list: [{ id: "main", name: "Scout", aliases: ["scout"], driver }] },
      messages: { inbound: { debounceMs: 50 } },
    });
    await daemon.start();
    await say(daemon, "m1", "ann", "morning", { mentions: ["bo"] });
    await say(daemon, "m2", "bo", "navi, which branch is on staging?");
    await say(daemon, "m3", "cy", "\u001b[31m navi\u202e says hi");
    page = await rig.open(daemon.address("/replay"));
    await page.getByText("Change a rule").waitFor({ timeout: 20_000 });
  });
  afterAll(() => rmSync(files, { recursive: true, force: true }));

  const box = () => page.getByLabel("Rules, as JSON5");
  const big = () => page.locator(".big");
  async function write(change: (rules: string) => string): Promise<void> {
    await box().fill(change(await box().inputValue()));
  }
  const listens = (rules: string) =>
    rules.replace('aliases: ["scout"]', 'aliases: ["scout", "navi"]');

  test("the rules in force are there, and nothing would change under them", async () => {
    expect(await box().inputValue()).toContain('aliases: ["scout"],');
    expect(await page.getByText("3 messages in 1 room are ready.").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
  });

  test("a name more, and the page leads with the number of decisions that change", async () => {
    await write(listens);
    await big().waitFor({ timeout: 20_000 });
    expect(await big().textContent()).toBe("2 decisions change");
    const row = page.locator(".change", { hasText: "which branch is on staging?" });
    expect(await row.locator(".chip b").allTextContents()).toEqual(["observe", "engage"]);
    expect(await row.locator(".chip .rule").allTextContents()).toEqual(["default", "alias"]);
    expect(await page.locator(".changes-list").textContent()).not.toMatch(/\p{Cc}|\u202e/u);
    await row.click();
    const matched = page.locator(".both .rung[aria-current] .rule");
    await expect
      .poll(() => matched.allTextContents(), { timeout: 60_000 })
      .toEqual(["default", "alias"]);
    await page.getByRole("button", { name: "Diff", exact: true }).click();
    expect(await page.locator(".ln.add code").allTextContents()).toEqual([
      '        aliases: ["scout", "navi"],',
    ]);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
  });

  test("a mistake is named with its line as one types, and cannot be applied", async () => {
    const rules = await box().inputValue();
    await write((text) => text.replace(/windowMs: \d+/, "windowMs: -1"));
    await page.locator(".problems").waitFor();
    expect(await page.locator(".problems").textContent()).toMatch(
      /^Line \d+: engagement\.stickiness\.windowMs/,
    );
    // No answer of other rules is shown beside rules that cannot be read.
    expect(await page.getByRole("heading", { name: "Same decisions" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
    await box().fill(rules);
    await expect.poll(() => page.locator(".problems").count()).toBe(0);
  });

  test("applied rules decide the next message; undone, they do not", async () => {
    await expect
      .poll(() => page.getByRole("button", { name: "Apply" }).isEnabled(), { timeout: 60_000 })
      .toBe(true);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.locator(".setup-diff .new", { hasText: "navi" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Applied 1 change").waitFor();
    expect(await say(daemon, "m4", "dee", "navi, and now?")).toBe("engage alias");
    await page.locator(".toast").hover();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => box().inputValue()).toContain('aliases: ["scout"],');
    expect(await say(daemon, "m5", "ann", "navi, still there?")).toBe("observe default");
  });

  test("a recording from a file is asked under its own rules, which cannot be applied here", async () => {
    const file = join(files, "theirs.jsonl");
    const key = "agent:main:x:group:r";
    const config = { agents: { list: [{ id: "main", name: "Hal" }] } };
    const said = { channel: "x", chat: { id: "r", kind: "group" }, text: "hal, open the doors" };
    const lines = [
      { earshot: 1, config },
      { t: 0, in: { ...said, id: "1", author: { id: "dave" }, text: "@frank hi" } },
      { t: 9, in: { ...said, id: "2", author: { id: "frank" } } },
      { t: 9, label: { key, id: "1", expected: "engage" } },
      { t: 9, label: { key, id: "2", expected: "observe" } },
    ];
    writeFileSync(file, lines.map((one) => JSON.stringify(one)).join("\n"));
    await page.getByLabel("Recording file").setInputFiles(file);
    await expect.poll(() => box().inputValue()).toContain('"Hal"');
    await page.getByText("and cannot be applied here").waitFor();
    await write((text) => text.replace('"Hal"', '"Sal"'));
    await expect.poll(() => big().textContent(), { timeout: 60_000 }).toBe("1 decision changes");
    const table = page.getByRole("table", { name: "On 2 labelled messages" });
    const cells = (await table.getByRole("row").allInnerTexts()).map((row) => row.split("\t"));
    expect(cells).toEqual([
      ["", "Current", "New"],
      ["Precision", "50.0 % (1 of 2)", "100.0 % (1 of 1)"],
      ["Recall", "100.0 % (1 of 1)", "100.0 % (1 of 1)"],
    ]);
    expect(await violations(page, "everything")).toEqual([]);
    writeFileSync(file, '{"t":0}');
    await page.getByLabel("Recording file").setInputFiles(file);
    await page.getByText("This recording cannot be used").waitFor();
    expect(await page.locator(".changes").textContent()).toContain("theirs.jsonl:1");
    // The recording from before is still there to be asked.
    await write((text) => text.replace('"Sal"', '"Val"'));
    await expect.poll(() => big().textContent(), { timeout: 60_000 }).toBe("1 decision changes");
  });

  test("what is undone changes nothing about a recording that was loaded since", async () => {
    const reload = page.getByLabel("Recording", { exact: true });
    await reload.selectOption({ label: "Since yesterday, all rooms" });
    await expect.poll(() => box().inputValue()).toContain('aliases: ["scout"],');
    await write(listens);
    await expect
      .poll(() => page.getByRole("button", { name: "Apply" }).isEnabled(), { timeout: 60_000 })
      .toBe(true);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.locator(".setup-diff .new", { hasText: "navi" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Applied 1 change").waitFor();
    await page.locator(".toast").hover();
    const theirs = [{ earshot: 1, config: { agents: { list: [{ id: "main", name: "Hal" }] } } }];
    const said = {
      channel: "x",
      chat: { id: "r", kind: "group" },
      author: { id: "dave" },
      id: "1",
    };
    const lines = [...theirs, { t: 0, in: { ...said, text: "hello" } }];
    const file = join(files, "dropped.jsonl");
    writeFileSync(file, lines.map((one) => JSON.stringify(one)).join("\n"));
    await page.getByLabel("Recording file").setInputFiles(file);
    await page.getByText("1 message in 1 room is ready.").waitFor({ timeout: 20_000 });
    const undone = page.waitForResponse((answer) => answer.url().endsWith("/undo"));
    await page.getByRole("button", { name: "Undo" }).click();
    expect((await undone).ok()).toBe(true);
    expect(await say(daemon, "m6", "cy", "navi, and now?")).toBe("observe default");
    await expect.poll(() => page.locator(".toast").count(), { timeout: 60_000 }).toBe(0);
    expect(await box().inputValue()).toContain('"Hal"');
    expect(await page.getByText("and cannot be applied here").count()).toBe(1);
  });

  test("a long try says how far it is, can be stopped, and the next one runs", async () => {
    const long = join(files, "long.jsonl");
    const said = (index: number) => ({
      t: index * 100,
      in: {
        channel: "x",
        chat: { id: `r${index % 9}`, kind: "group" },
        id: `m${index}`,
        author: { id: `u${index % 5}` },
        text: index % 9 === 0 ? "scout?" : "hm",
      },
    });
    // Many times what is replayed until the button is pressed, whatever else the machine does.
    const all = Array.from({ length: 40_000 }, (_, index) => JSON.stringify(said(index)));
    writeFileSync(long, all.join("\n"));
    await page.getByLabel("Recording file").setInputFiles(long);
    const progress = page.getByRole("progressbar", { name: "Replaying" });
    await expect
      .poll(async () => Number(await progress.getAttribute("aria-valuenow")), { timeout: 60_000 })
      .toBeGreaterThan(0);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("heading", { name: "Stopped" }).waitFor();
    const short = join(files, "short.jsonl");
    writeFileSync(short, all.slice(0, 5).join("\n"));
    await page.getByLabel("Recording file").setInputFiles(short);
    await page.getByText("5 messages in 5 rooms are ready.").waitFor({ timeout: 20_000 });
  });

  test("on a phone the two halves take turns, and nothing runs over the edge", async () => {
    const phone = await rig.open(daemon.address("/replay"), {
      width: 390,
      height: 844,
      colorScheme: "dark",
    });
    await phone.getByText("Change a rule").waitFor({ timeout: 20_000 });
    await phone.getByRole("button", { name: /^Config/ }).click();
    await phone.getByLabel("Rules, as JSON5").waitFor();
    expect(await phone.getByText("Change a rule").isVisible()).toBe(false);
    for (const width of [390, 768, 1000, 1200, 1600]) {
      await phone.setViewportSize({ width, height: 860 });
      const wide = await phone.locator("html").evaluate((element) => element.scrollWidth);
      expect(wide).toBe(width);
    }
  });
});
