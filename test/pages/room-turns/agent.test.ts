/**
 * The agent's side of the Room page: a turn whose model failed looks failed and says why, live and
 * after a reload; and what the agent was given is there to read.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { builtPages } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { violations, violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";

const key = "agent:main:webhook:group:kitchen";

describe.skipIf(!haveChromium)("the agent on the Room page", () => {
  const rig = createPagesRig();
  let model: ModelServer;
  let daemon: Awaited<ReturnType<typeof startDaemon>>;

  beforeAll(async () => {
    model = await startModelServer();
    const stateDir = newFolder();
    const driver = {
      kind: "model",
      provider: "openai-compatible",
      baseUrl: model.baseUrl,
      model: "m1",
      maxRetries: 0,
    };
    const config = {
      agents: { list: [{ id: "main", name: "Scout", purpose: "You book tables.", driver }] },
      messages: { inbound: { debounceMs: 0 } },
      errors: { notifyRoom: "always" },
    };
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
    const pagesDir = builtPages;
    const how = { stateDir, port: 0, workers: 0, env: {}, logLevel: "fatal", pagesDir } as const;
    daemon = await startDaemon(how);
  });
  afterAll(async () => {
    await daemon.stop({ drainMs: 0 });
    await model.close();
  });

  async function say(id: string, text: string): Promise<void> {
    const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
    const chat = { id: "kitchen", kind: "group" };
    const body = JSON.stringify({
      channel: "webhook",
      chat,
      id,
      author: { id: "bo", name: "Bo" },
      text,
    });
    const url = `${daemon.base}/api/inbound?wait=decision`;
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    const outcome = async () => (await daemon.runtime.why(id))[0]?.fate.outcome ?? null;
    await expect.poll(outcome, { timeout: 30_000 }).not.toBeNull();
  }

  test("a failed turn looks failed, live and after a reload; an answered one does not", async () => {
    model.reply({ status: 401 });
    await say("m1", "Scout, a table?");
    const page = await rig.open(
      `${daemon.base}/room/${encodeURIComponent(key)}#token=${daemon.token}`,
    );
    const failed = page.locator(".msg", { hasText: "Something went wrong" });
    await failed.getByText("The agent failed: access was denied.").waitFor();
    model.reply({ status: 500 }, { say: ["At eight."] });
    await say("m2", "Scout?");
    await page.getByText("The agent failed: the server failed.").waitFor();
    await say("m3", "Scout??");
    const answered = page.locator(".msg", { hasText: "At eight." });
    await answered.getByText("Sent in").waitFor();
    await page.reload();
    await page.getByText("The agent failed: access was denied.").waitFor();
    expect(await failed.getByText("Sent").count()).toBe(0);
    expect(await answered.getByText("The agent failed").count()).toBe(0);
    expect(await violations(page, "everything")).toEqual([]);
  });

  test("what the agent was given is shown beside its message, by key", async () => {
    model.reply({ call: { name: "channel_react", input: {} } }, { say: ["At nine."] });
    await say("m4", "Scout, and tomorrow?");
    const page = await rig.open(
      `${daemon.base}/room/${encodeURIComponent(key)}?message=m4#token=${daemon.token}`,
    );
    await page.locator(".msg", { hasText: "and tomorrow?" }).first().click();
    await page.getByText(/first text after/u).waitFor();
    await page.getByText(/channel_react failed: .*emoji/u).waitFor();
    await page.getByText(/\d+ tokens in, \d+ out/u).waitFor();
    const summary = page.getByText("Prompt");
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByText("Your purpose: You book tables.").waitFor();
    await page.getByText("## Current message(s) (addressed to you)").last().waitFor();
    expect(await violationsInBothColours(page)).toEqual([]);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/read.png` });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/read-390.png` });
  });
});
