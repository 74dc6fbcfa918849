/**
 * The Setup page in a real Chromium on a real daemon, with a model's server and a Telegram on loopback:
 * from the guide to an agent that answers in a group, by the page and the keyboard alone.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { outsideWindow } from "../../support/pages/page-checks.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";
import { type ModelServer, startModelServer } from "../../support/servers/openai.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../support/servers/telegram.ts";

const key = "sk-a-key-that-no-page-may-show";

describe.skipIf(!haveChromium)("the Setup page", () => {
  const rig = createPagesRig();
  let model: ModelServer;
  let telegram: TelegramServer;
  beforeAll(async () => {
    [model, telegram] = await Promise.all([startModelServer(), startTelegramServer()]);
    model.key = key;
  });
  afterAll(() => Promise.all([model.close(), telegram.close()]));

  const step = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const press = async (page: Page, where: string, name: string) => {
    await step(page, where).getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  const enter = (page: Page, label: string, text: string) =>
    page.getByLabel(label, { exact: true }).fill(text);
  async function look(page: Page, name: string): Promise<void> {
    const shots = process.env.EARSHOT_SHOTS;
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await violationsInBothColours(page)).toEqual([]);
      expect(await outsideWindow(page)).toEqual([]);
      if (shots !== undefined)
        await page.screenshot({ path: `${shots}/${name}-${width}.png`, fullPage: true });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  }

  test("leads from nothing to an answer in a group", async () => {
    const daemon = await rig.daemon();
    await daemon.start();
    const page = await rig.open(daemon.address("/setup"));
    await page.getByText("Live", { exact: true }).waitFor();
    await enter(page, "Name", "Scout");
    await enter(page, "Purpose (optional)", "You keep the reading list.");
    await page.getByLabel("OpenAI-compatible server").check();
    await enter(page, "Base URL", model.baseUrl);
    // The browser's line about a refused key.
    rig.forgive("400");
    await enter(page, "API key (if the server needs one)", `${key}-wrong`);
    await press(page, "Model", "List models");
    await step(page, "Model").getByText("refuses the key (HTTP 401)").waitFor();
    await enter(page, "API key (if the server needs one)", key);
    await press(page, "Model", "List models");
    await step(page, "Model").getByText("small, large").waitFor();
    await enter(page, "Model name", "small");
    model.reply({ say: ["Hello, ", "I am Scout."], everyMs: 20 });
    await press(page, "Model", "Try it");
    await step(page, "Model").getByText("It works.").waitFor();
    await step(page, "Model").getByText("Hello, I am Scout.").waitFor();

    await page.getByLabel("Telegram").check();
    await enter(page, "Bot token", sampleToken);
    await enter(page, "Bot API server (optional)", telegram.apiRoot);
    telegram.world.hearsAll = false;
    await press(page, "Channel", "Test connection");
    await step(page, "Channel").getByText("Connected as @scout_bot (4242)").waitFor();
    await step(page, "Channel").getByText("Privacy mode is on").waitFor();

    await press(page, "Save", "Review changes");
    await step(page, "Save").getByText(`apiKey: "\${MODEL_API_KEY}"`).waitFor();
    await look(page, "setup-diff");
    await press(page, "Save", "Save");
    await step(page, "Save").getByText("Saved to").waitFor();
    await soon(() => page.getByPlaceholder("Stored. Leave empty to keep it").count()).toBe(2);
    const text = readFileSync(join(daemon.stateDir, "earshot.json5"), "utf8");
    expect(JSON5.parse(text).agents.list[0]).toMatchObject({
      name: "Scout",
      driver: { model: "small" },
    });
    for (const secret of [key, sampleToken]) {
      expect(text).not.toContain(secret);
      expect(await page.content()).not.toContain(secret);
    }

    const { world } = telegram;
    const ann = world.user("Ann");
    const kitchen = world.group("Kitchen", [ann]);
    await soon(() => telegram.calls("getUpdates").length).toBeGreaterThan(0);
    world.say(kitchen, ann, "is anybody here?");
    await step(page, "Your group").getByText("Kitchen").waitFor();
    await look(page, "setup-group");
    await press(page, "Your group", "Allow this group");
    await step(page, "Your group").getByText("Waiting for a message").waitFor();
    model.reply({ say: ["Soup."] });
    // The config is read again in a moment; a message that comes before is not for it.
    await soon(async () => {
      if (telegram.calls("sendMessage").length === 0)
        world.say(kitchen, ann, "Scout, what is for lunch?");
      await new Promise((go) => setTimeout(go, 500));
      return telegram.calls("sendMessage").map(({ text: said }) => said);
    }).toContain("Soup.");
  });

  test("what was entered after the changes were shown is shown before it is written", async () => {
    const daemon = await rig.daemon();
    await daemon.start();
    const page = await rig.open(daemon.address("/setup"));
    await press(page, "Save", "Review changes");
    await step(page, "Save").getByRole("button", { name: "Store keys" }).waitFor();
    await enter(page, "Name", "Another");
    await step(page, "Save").getByRole("button", { name: "Review changes" }).waitFor();
    await page.getByLabel("Program").check();
    await enter(page, "Program and arguments", "echo hello there");
    await press(page, "Model", "Try it");
    await step(page, "Model").getByText("hello there").waitFor();
  });

  test("asks each channel's own questions, and writes what a list, a number and a flag are", async () => {
    const daemon = await rig.daemon();
    await daemon.start();
    const page = await rig.open(daemon.address("/setup"));
    await page.getByLabel("IRC").check();
    await enter(page, "Server", "irc.example");
    await enter(page, "Port (optional)", "6667");
    const tls = page.getByLabel("TLS (optional)");
    expect(await tls.inputValue()).toBe("true");
    await tls.selectOption("false");
    await enter(page, "Nick", "scout");
    await enter(page, "Rooms to join (optional)", "#tea, #coffee");
    await press(page, "Save", "Review changes");
    const account =
      'default: { host: "irc.example", port: 6667, tls: false, nick: "scout", join: ["#tea", "#coffee"] }';
    await step(page, "Save").getByText(account).waitFor();
    const table = page.getByRole("region", { name: "Table of capabilities" });
    await table.getByRole("row", { name: /^IRC in the text .* 400 bytes$/u }).waitFor();
    await look(page, "setup-irc");
  });
});
