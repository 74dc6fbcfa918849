/**
 * Repairs in a real Chromium on a real daemon: a halted account, an event in quarantine, a tripped
 * guard. Every test also claims that nothing went wrong in the console.
 */
import type { Locator, Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { group, type LiveDaemon, person, toScout } from "../support/daemon/live-daemon.ts";
import { haveChromium, type PageOptions } from "../support/pages/chromium.ts";
import { createPagesRig, lostDaemon, soon } from "../support/pages/pages-daemon.ts";
import { leaveFixed, leavePoison } from "../support/runtime/quarantined.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../support/servers/telegram.ts";

const key = "agent:main:webhook:group:garden";

describe.skipIf(!haveChromium)("repairs from the pages", () => {
  const rig = createPagesRig();
  let daemon: LiveDaemon | null = null;

  async function daemonWith(config: Readonly<Record<string, unknown>> = {}): Promise<LiveDaemon> {
    daemon = await rig.daemon(config);
    await daemon.start();
    return daemon;
  }
  async function open(path: string, options: PageOptions = {}): Promise<Page> {
    const page = await rig.open(daemon?.address(path) ?? "", options);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  }
  const panel = (page: Page, name: string) => page.getByRole("region", { name });
  const needs = (page: Page) => panel(page, "Needs you").locator(".need");
  const button = (where: Locator, name: string) => where.getByRole("button", { name, exact: true });
  const nothing = (page: Page) => panel(page, "Needs you").getByText("Nothing needs you").waitFor();

  /** A daemon on a Telegram that refuses the token for so many logins. */
  async function refusedBy(times: number): Promise<TelegramServer> {
    const server = await startTelegramServer();
    onTestFinished(() => server.close());
    server.faults.add("getMe", { kind: "refuse", status: 401 }, times);
    const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 5 };
    await daemonWith({ channels: { webhook: {}, telegram: { accounts: { home: account } } } });
    return server;
  }

  test("a refused token needs somebody, and one more try connects once it is taken", async () => {
    const server = await refusedBy(2);
    const page = await open("/health");
    const need = needs(page);
    await need.getByText("Telegram, account home, is disconnected").waitFor();
    expect(await need.textContent()).toContain("or try again without a change.");
    expect(await need.textContent()).not.toContain(sampleToken);
    const row = panel(page, "Connections").locator("tr", { hasText: "home" });
    await row.getByText("Halted").waitFor();
    // Refused again: it is asked once more, and the line can be acted on again.
    await button(need, "Try again").click();
    await soon(() => server.calls("getMe").length).toBe(2);
    await soon(() => button(need, "Try again").isEnabled()).toBe(true);
    await button(need, "Try again").click();
    await nothing(page);
    await row.getByText("Connected").waitFor();
  });

  test("an event in quarantine is heard once it is tried again, after one question", async () => {
    const live = await daemonWith();
    await live.stop();
    await leaveFixed(live.stateDir, key, {
      channel: "webhook",
      id: "lost",
      author: person("Ann"),
      text: "are you there?",
      chat: group("garden"),
      ...toScout,
    });
    await live.start();
    const page = await open("/health");
    const need = needs(page);
    expect(await need.locator("h3").textContent()).toBe("One event is in quarantine");
    expect(await need.textContent()).toContain("continues without it; the journal keeps it.");
    await button(need, "Try again").click();
    await need.getByText("Try it again? It is processed as if it had just arrived.").waitFor();
    expect(await need.locator(":focus").textContent()).toBe("Try again");
    await button(need, "Not now").click();
    expect(await button(need, "Drop").count()).toBe(1);
    await button(need, "Try again").click();
    await button(need, "Try again").click();
    await nothing(page);
    const sent = panel(page, "Deliveries").locator('dt:text-is("Sent") + dd');
    await soon(() => sent.textContent()).toBe("1");
    await page.goto(live.address(`/room/${encodeURIComponent(key)}`));
    await page.locator(".chip", { hasText: "engage" }).first().waitFor();
  });

  test("an event that breaks its conversation again is back and says so, until dropped", async () => {
    const live = await daemonWith();
    await live.stop();
    await leavePoison(live.stateDir, key);
    await live.start();
    const page = await open("/health");
    const need = needs(page);
    const title = () => need.locator("h3").textContent();
    await soon(title).toBe("One event is in quarantine");
    await button(need, "Try again").click();
    await button(need, "Try again").click();
    await soon(title).toBe("One event is in quarantine again");
    expect(await need.textContent()).toContain("Retried once, failed each time.");
    rig.forgive(...lostDaemon);
    await live.stop();
    await live.start();
    await page.goto(live.address("/health"));
    await soon(title).toBe("One event is in quarantine again");
    expect(await need.getByRole("link", { name: "Details" }).getAttribute("href")).toContain(
      "/room/",
    );
    await need.getByRole("link", { name: "Details" }).click();
    await page.getByRole("heading", { level: 1, name: "garden" }).waitFor();
    await page.goBack();
    await button(need, "Drop").click();
    await need.getByText("Drop it? It will not be processed.").waitFor();
    await button(need, "Drop").click();
    await nothing(page);
  });

  test("a tripped guard is shown on the Rooms page, and gone once a person speaks", async () => {
    const live = await daemonWith({ loopGuard: { maxConsecutive: 2 } });
    const chat = group("#bots");
    const pip = { ...person("Pip"), isBot: true };
    await live.say({ chat, author: person("Bo"), text: "hello" });
    for (const text of ["one", "two", "three"])
      await live.say({ chat, author: pip, text, ...toScout });
    const page = await open("/");
    const row = page.locator(".room", { has: page.locator(".name", { hasText: "#bots" }) });
    await row.getByText("guard tripped").waitFor();
    await live.say({ chat, author: person("Bo"), text: "enough" });
    await soon(() => row.getByText("guard tripped").count()).toBe(0);
  });

  test("questions and refusals fit at 390, 768 and 1440 px", async () => {
    await refusedBy(2);
    await daemon?.stop();
    await leavePoison(daemon?.stateDir ?? "", key);
    await daemon?.start();
    const page = await open("/health", { width: 390 });
    await needs(page).filter({ hasText: "is disconnected" }).waitFor();
    const need = needs(page).filter({ hasText: "quarantine" });
    await button(need, "Try again").click();
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await need.getByText("Try it again?").waitFor();
      const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wide, `at ${width} px`).toBe(0);
    }
  });
});
