/**
 * The page on the main session: what is said in direct chats of other channels stands in its
 * transcript, marked, and goes on there; each answer still goes only where its question came from.
 * A whole daemon, a Telegram on loopback, two pages.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage, type Page } from "../../support/daemon/page.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../support/servers/telegram.ts";
import type { Room } from "../../support/servers/telegram-world.ts";

const stateDir = newFolder();
let telegram: TelegramServer;
let ann: ReturnType<TelegramServer["world"]["user"]>;
let dm: Room;
let daemon: Daemon;
const runs = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));

const config = () => ({
  agents: {
    list: [
      {
        id: "main",
        name: "Scout",
        driver: { kind: "scripted", runs: runs("to Telegram", "to the page", "late") },
      },
    ],
  },
  access: { allowFrom: [`telegram:${ann.id}`] },
  commands: { ownerAllowFrom: [`telegram:${ann.id}`] },
  channels: {
    telegram: {
      accounts: { default: { botToken: sampleToken, apiRoot: telegram.apiRoot, pollSeconds: 20 } },
    },
  },
});
const start = () =>
  startDaemon({ stateDir, port: 0, workers: 0, env: {}, writeLog: () => undefined });

beforeAll(async () => {
  telegram = await startTelegramServer();
  ann = telegram.world.user("Ann");
  dm = telegram.world.direct(ann);
  await writeFile(join(stateDir, "earshot.json5"), JSON.stringify(config()), { mode: 0o600 });
  daemon = await start();
});
afterAll(async () => {
  await daemon.stop();
  await telegram.close();
});

/** What a page shows, in its order. */
const shown = (page: Page) =>
  [...page.of("taken"), ...page.of("said")]
    .toSorted((a, b) => a.n - b.n)
    .map((frame) => `${frame.type} ${frame.via ?? "here"}: ${frame.text}`);

describe("a page on the main session", () => {
  test("shows a direct chat elsewhere as it goes on, and its answer goes there only", async () => {
    const pages = await Promise.all([1, 2].map(() => openPage(daemon.base, daemon.token)));
    const [one, two] = pages as [Page, Page];
    await Promise.all(pages.map((page) => page.wait("ready")));
    telegram.world.say(dm, ann, "hello from afar");
    await Promise.all(pages.map((page) => page.wait("said")));
    await Promise.all(pages.map((page) => page.wait("turn", ({ state }) => state === "end")));
    expect(shown(one)).toEqual(["taken telegram: hello from afar", "said telegram: to Telegram"]);
    expect(one.of("taken")[0]).toMatchObject({ by: "Ann", via: "telegram" });
    expect(one.of("decided").at(-1)).toMatchObject({ id: one.of("taken")[0]?.id, rule: "dm" });
    expect(one.of("turn").map(({ state }) => state)).toEqual(["start", "end"]);
    expect(telegram.world.answers(dm).map(({ text }) => text)).toEqual(["to Telegram"]);

    two.say("and from here");
    await Promise.all(pages.map((page) => page.wait("said", ({ via }) => via === undefined)));
    expect(shown(one).slice(2)).toEqual(["taken here: and from here", "said here: to the page"]);
    expect(shown(two)).toEqual(shown(one));
    expect(telegram.world.answers(dm)).toHaveLength(1);
    for (const page of pages) page.close();
  });

  test("has the same after a restart, its commands and those from elsewhere among it", async () => {
    const page = await openPage(daemon.base, daemon.token);
    await page.wait("ready");
    page.say("/think low");
    await page.wait("said", ({ text }) => text.startsWith("Thinking"));
    telegram.world.say(dm, ann, "/think high");
    await page.wait("said", ({ via, text }) => via === "telegram" && text.startsWith("Thinking"));
    await page.wait("decided", ({ decision }) => decision === "command");
    const before = shown(page);
    expect(before.slice(4)).toEqual([
      ...["taken here: /think low", "said here: Thinking: low."],
      ...["taken telegram: /think high", "said telegram: Thinking: high."],
    ]);
    page.close();
    await daemon.stop();
    daemon = await start();
    const after = await openPage(daemon.base, daemon.token);
    const { n } = await after.wait("ready");
    await after.wait("said", (frame) => frame.via === "telegram" && frame.text.includes("high"));
    expect(n).toBeGreaterThan(0);
    expect(shown(after)).toEqual(before);
    const half = after.of("said")[0]?.n ?? 0;
    const late = await openPage(daemon.base, daemon.token, half);
    await late.wait("said", (frame) => frame.via === "telegram" && frame.text.includes("high"));
    expect(shown(late)).toEqual(before.slice(2));
    after.close();
    late.close();
  });

  test("does not show what strangers and groups say", async () => {
    const page = await openPage(daemon.base, daemon.token);
    const { n } = await page.wait("ready");
    const eve = telegram.world.user("Eve");
    telegram.world.say(telegram.world.direct(eve), eve, "let me in");
    telegram.world.say(dm, ann, "still there?");
    await page.wait("taken", (frame) => frame.n > n && frame.via === "telegram");
    await page.wait("turn", ({ state }) => state === "end");
    expect(shown(page).some((line) => line.includes("let me in"))).toBe(false);
    page.close();
  });
});
