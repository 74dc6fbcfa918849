/**
 * The Chat page on a session that is shared with other channels, in a real Chromium: words from
 * elsewhere are in their place and carry their channel's mark; two pages show the same.
 */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import type { ServerFrame } from "../../src/adapters/channels/webchat/protocol.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig } from "../support/pages/pages-daemon.ts";
import { type PagesServer, startPagesServer } from "../support/servers/pages.ts";

const at = Date.UTC(2026, 0, 5, 9, 30);
const elsewhere: readonly ServerFrame[] = [
  {
    type: "taken",
    id: '["telegram","7","12"]',
    n: 1,
    at,
    text: "where are you, Scout?",
    via: "telegram",
    by: "Ann",
    message: "12",
  },
  { type: "decided", id: '["telegram","7","12"]', decision: "engage", rule: "dm" },
  {
    type: "said",
    n: 2,
    id: "t1:0",
    text: "On **Telegram**, with you.",
    replyTo: null,
    at: at + 2_000,
    turnId: "t1",
    via: "telegram",
  },
  { type: "taken", id: "p1", n: 3, at: at + 60_000, text: "and here?" },
  { type: "decided", id: "p1", decision: "engage", rule: "dm" },
  {
    type: "said",
    n: 4,
    id: "t2:0",
    text: "Here, too.",
    replyTo: null,
    at: at + 61_000,
    turnId: "t2",
  },
];

describe.skipIf(!haveChromium)("words from other channels on the Chat page", () => {
  const rig = createPagesRig({ forgiven: ["404", "503"] });
  let server: PagesServer;

  beforeEach(async () => {
    server = await startPagesServer(rig.pagesDir);
    rig.closing(() => server.close());
  });

  const lines = (page: Page) => page.locator(".direct .dm-line");
  const metas = async (page: Page) =>
    (await page.locator(".direct .dm-line .meta").allTextContents()).map((text) =>
      text.replace(/\d{1,2}:\d\d/u, "TIME"),
    );

  test("are marked with their channel and who said them; others are not", async () => {
    const opened = await Promise.all([1, 2].map(() => rig.open(server.address)));
    for (const page of opened) {
      await page.getByText("Connected", { exact: true }).waitFor();
    }
    for (const frame of elsewhere) server.push(frame);
    for (const page of opened) {
      await page.getByText("Here, too.").waitFor();
      expect(await lines(page).count()).toBe(4);
      expect(await metas(page)).toEqual([
        "Ann on telegram, TIME, engage dm",
        "Scout on telegram, TIME, sent in 2.0 sCopy",
        "TIME, engage dm",
        "Scout, TIME, sent in 1.0 sCopy",
      ]);
      expect(await page.locator(".direct .via").allTextContents()).toEqual([
        ...["telegram", "telegram"],
      ]);
      await page.getByText("where are you, Scout?").click();
    }
    const shots = process.env.EARSHOT_SHOTS;
    if (shots !== undefined)
      await opened[0]?.screenshot({ path: `${shots}/elsewhere.png`, fullPage: true });
  });

  test("a file that cannot be read from another node now says so, and is saved when it can be", async () => {
    const page = await rig.open(server.address);
    await page.getByText("Connected", { exact: true }).waitFor();
    const file = {
      id: "f1",
      kind: "file",
      mime: "text/plain",
      bytes: 22,
      name: "note.txt",
    } as const;
    server.push({ type: "taken", id: "p2", n: 5, at, text: "my note", attachments: [file] });
    const bytes = "**/api/webchat/uploads/f1";
    const message = "Cannot read this file from another node: there is no connection";
    await page.route(bytes, (route) =>
      route.fulfill({ status: 503, json: { error: { code: "later", message } } }),
    );
    const save = page.getByRole("button", { name: "Save note.txt" });
    await save.click();
    await save.getByText("cannot be read from another node now").waitFor();
    const shots = process.env.EARSHOT_SHOTS;
    if (shots !== undefined) await page.screenshot({ path: `${shots}/file-elsewhere.png` });
    await page.unroute(bytes);
    await page.route(bytes, (route) => route.fulfill({ body: "buy bread and 12 eggs\n" }));
    const [saved] = await Promise.all([page.waitForEvent("download"), save.click()]);
    expect(saved.suggestedFilename()).toBe("note.txt");
    await save.getByText("22 B").waitFor();
  });
});
