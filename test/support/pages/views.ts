/**
 * The pages in the states that are looked at
 * ==========================================
 * With nothing on them and with everything: each view says whose daemon it is of, where it is, and
 * how to bring it there.
 */
import type { Page } from "playwright-core";
import { answer, gardenPath } from "./crowded-rooms.ts";

interface Step {
  readonly name: string;
  readonly reach: (page: Page) => Promise<unknown>;
  /** Panes that a narrow window shows one at a time, by the words of their buttons. */
  readonly panes?: readonly string[];
}

export interface View extends Step {
  readonly of: "calm" | "crowded";
  readonly path: string;
  /** What is reached from there, one after the other in the same page. */
  readonly next?: readonly Step[];
}

const heading = (name: string) => (page: Page) => page.getByRole("heading", { name }).waitFor();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Without a network, and without the frame: what is in it belongs to somebody else. */
async function withoutInspector(page: Page): Promise<void> {
  await page.addInitScript("Object.defineProperty(navigator, 'onLine', { get: () => false })");
  await page.reload();
  await heading("The Stately inspector is not responding")(page);
  await page.locator("iframe").evaluate((frame) => frame.remove());
}

async function exchange(page: Page): Promise<void> {
  const direct = page.getByRole("region", { name: "Direct chat" });
  await direct.getByRole("textbox").fill("hello there");
  await direct.getByRole("textbox").press("Enter");
  await direct.getByText("sent in").first().waitFor();
  await direct.getByRole("textbox").fill("/");
  await direct.getByRole("listbox").waitFor();
  await button(page, "Show an example").click();
  await page.locator(".room-pane .msg.agent, .room-pane .sent").first().waitFor();
  await button(page, "Reply").click();
  await button(page, "@ Mention").click();
  await button(page, "Add a person or bot").click();
  await page.getByLabel("Message in the simulated room").fill("@Scout hi");
  await page.locator(".would .chip").waitFor();
}

async function result(page: Page): Promise<void> {
  await heading("Change a rule")(page);
  const rules = page.getByLabel("Rules, as JSON5");
  const text = await rules.inputValue();
  await rules.fill(text.replace(/aliases: \[.*?\]/, 'aliases: ["one", "hello"]'));
  await page.locator(".big").waitFor();
  await page.locator(".change").first().click();
  await page.locator(".both .rung[aria-current]").first().waitFor();
}

async function diff(page: Page): Promise<void> {
  await button(page, "Diff").click();
  await page.locator(".ln.add").waitFor();
}

async function mistake(page: Page): Promise<void> {
  await button(page, "Edit").click();
  const rules = page.getByLabel("Rules, as JSON5");
  await rules.fill(`${await rules.inputValue()}}`);
  await page.locator(".problems").waitFor();
}

async function trouble(page: Page): Promise<void> {
  await page.getByText("is disconnected").waitFor();
  const quarantine = page.locator(".need", { hasText: "quarantine" });
  await button(page, "Drop").first().click();
  await quarantine.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Try it again?").waitFor();
}

export const views: readonly View[] = [
  { name: "Rooms without a room", of: "calm", path: "/", reach: heading("No rooms yet") },
  {
    name: "Rooms",
    of: "crowded",
    path: "/",
    async reach(page) {
      await page.getByText("guard tripped").waitFor();
      await page.getByText("1 credit").first().waitFor();
    },
    next: [
      {
        name: "Rooms where none matches",
        async reach(page) {
          await page.getByLabel("Find a room").fill("nowhere");
          await heading("No matching rooms")(page);
        },
      },
    ],
  },
  {
    name: "a room with its ladder, while the agent writes",
    of: "crowded",
    path: gardenPath,
    panes: ["Transcript", "Why", "State"],
    async reach(page) {
      await page.getByText(answer).waitFor();
      await page.locator(".msg.writing").waitFor();
      await page.locator(".rung[aria-current]").waitFor({ state: "attached" });
    },
  },
  {
    name: "a room where nothing was heard",
    of: "calm",
    path: "/room/agent%3Amain%3Anone",
    reach: heading("No messages here yet"),
  },
  {
    name: "Search with a result",
    of: "crowded",
    path: "/search?author=a",
    async reach(page) {
      await page.locator(".found").first().waitFor();
    },
  },
  {
    name: "Search that finds nothing",
    of: "calm",
    path: "/search?text=nothing",
    reach: heading("No matching messages"),
  },
  { name: "Setup", of: "calm", path: "/setup", reach: heading("Your agent") },
  {
    name: "Settings",
    of: "calm",
    path: "/settings",
    async reach(page) {
      await page.getByLabel("Find a setting").fill("context");
      await heading("context.size")(page);
    },
  },
  {
    name: "What-if of nothing",
    of: "calm",
    path: "/replay",
    reach: heading("No messages in that time"),
  },
  {
    name: "Chat before the first line",
    of: "calm",
    path: "/chat",
    panes: ["Simulator", "Why", "Direct chat"],
    reach: heading("Say something"),
  },
  {
    name: "Chat with an exchange and everything open",
    of: "calm",
    path: "/chat",
    panes: ["Simulator", "Why", "Direct chat"],
    reach: exchange,
  },
  {
    name: "What-if with a result",
    of: "crowded",
    path: "/replay",
    panes: ["Changes", "Config"],
    reach: result,
    next: [
      { name: "What-if as a diff", panes: ["Changes", "Config"], reach: diff },
      {
        name: "What-if with the answer before a mistake",
        panes: ["Changes", "Config"],
        reach: mistake,
      },
    ],
  },
  {
    name: "Health",
    of: "calm",
    path: "/health",
    reach: heading("Nothing needs you"),
    next: [
      {
        name: "the list of keys",
        async reach(page) {
          await page.keyboard.press("?");
          await page.getByRole("dialog").waitFor();
        },
      },
    ],
  },
  { name: "Health with trouble", of: "crowded", path: "/health", reach: trouble },
  { name: "the bridge to the inspector", of: "calm", path: "/inspect", reach: withoutInspector },
];
