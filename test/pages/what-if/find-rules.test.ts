/**
 * "Rules from labels" on the What-if page of a real daemon: what is found goes into the form, where
 * it is tried; nothing is applied by itself.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { labelledLines, labelTalk } from "../../support/daemon/labelled-talk.ts";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { say } from "../../support/daemon/room-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";

describe.skipIf(!haveChromium)("rules from labels", () => {
  const rig = createPagesRig({ kept: true, forgiven: ["400"] });
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
    page = await rig.open(daemon.address("/replay"));
    await page.getByText("Change a rule").waitFor();
  });

  const part = () => page.getByRole("region", { name: "Rules from labels" });
  const box = () => page.getByLabel("Rules, as JSON5");
  const find = () => part().getByRole("button", { name: "Find rules" }).click();
  const answer = () => part().getByRole("status").textContent();

  test("without labels it says what to do, and the form stays", async () => {
    const rules = await box().inputValue();
    await find();
    await expect.poll(answer).toContain("nobody has labelled a message");
    expect(await box().inputValue()).toBe(rules);
  });

  test("what is found is in the form, tried, and not applied", async () => {
    await labelTalk(daemon);
    await page.reload();
    await page.getByText("Change a rule").waitFor();
    await part().getByLabel("Minimum in percent").fill("85");
    await find();
    await expect.poll(answer).toContain("not applied yet");
    expect(await answer()).toMatch(
      new RegExp(
        `recall \\d+ % becomes .* on ${labelledLines} labels in 1 room. On other messages, expect`,
      ),
    );
    expect(await box().inputValue()).toContain('aliases: ["scout", "navi"]');
    await expect
      .poll(() => page.locator(".big").textContent(), { timeout: 60_000 })
      .toBe("4 decisions change");
    expect(await page.getByRole("button", { name: "Apply" }).isEnabled()).toBe(true);
    expect(await say(daemon, "m2", "ann", "navi, still there?")).toBe("observe default");
  });

  test("a search can be stopped, and a file has none", async () => {
    await page.route("**/what-if/tune", () => undefined);
    await find();
    await part().getByRole("button", { name: "Stop" }).click();
    await expect.poll(answer).toBe("Stopped");
    await page.unroute("**/what-if/tune");
    await part().getByLabel("Target").selectOption("f1");
    expect(await part().getByLabel("Minimum in percent").count()).toBe(0);
    await find();
    await expect.poll(answer).toContain("not applied yet");
    await page.getByLabel("Recording file").setInputFiles({
      name: "theirs.jsonl",
      mimeType: "application/jsonl",
      buffer: Buffer.from('{"earshot":1}\n'),
    });
    await expect.poll(() => part().count()).toBe(0);
  });
});
