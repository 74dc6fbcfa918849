/**
 * What a long transcript costs on the Room page, in Chromium on a real daemon: seconds until all
 * 5,000 lines of a room were loaded by scrolling up, frames a second and main-thread time a frame
 * while somebody scrolls through them, while the page follows 1,000 new lines a second, and while
 * somebody reads further up meanwhile. Chromium, the daemon and who writes share the two cores, so
 * main-thread time says more than frames.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { haveChromium, openPage, startChromium } from "../../test/support/pages/chromium.ts";
import { assertRatio, keepSaying, randomFrom, report, round, short } from "../support.ts";

const built = <Module>(path: string): Promise<Module> =>
  import(new URL(`../../dist/${path}.js`, import.meta.url).href);
const { startDaemon } = await built<typeof import("../../src/daemon/daemon.ts")>("daemon/daemon");

const lines = short ? 2_000 : 5_000;
const rate = 1_000;
const seconds = short ? 3 : 8;
const words = "the build is green again and lunch is at one if nobody minds the soup".split(" ");
const random = randomFrom(5);
const figures: Record<string, number> = {};
const ratios: Record<string, number> = {};
let said = 0;

if (haveChromium) await measure();
report({ bench: "room", figures, ratios });
for (const [name, value] of Object.entries(ratios)) assertRatio(name, value, 0.6);

async function measure(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-bench-"));
  const config =
    '{ agents: { defaults: { driver: { kind: "scripted" } } }, channels: { webhook: {} } }';
  writeFileSync(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
  const daemon = await startDaemon({ stateDir, port: 0, workers: 1, logLevel: "fatal", env: {} });
  const say = (count: number) =>
    daemon.runtime.ingest("webhook", "default", Array.from({ length: count }, next));
  for (let done = 0; done < lines; done += 500) await say(500);
  const browser = await startChromium();
  try {
    const { page } = await openPage(browser);
    const key = encodeURIComponent("agent:main:webhook:group:long");
    await page.goto(daemon.page.replace("/#", `/room/${key}#`));
    await page.locator(".msg").first().waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await loadAll(page);
    const calm = await framesOf(page, session, "scrolled", 97);
    const stop = new AbortController();
    const talk = keepSaying(say, rate, stop.signal);
    await framesOf(page, session, "scrolled, 1,000 lines/s", 97);
    stop.abort();
    await talk;
    await followed(page, session, say);
    figures["rows in the document"] = await page.locator(".msg").count();
    ratios["following over scrolled, frames"] = round(
      (figures["frames/s following 1,000 lines/s"] ?? 0) / calm,
    );
  } finally {
    await browser.close();
    await daemon.stop({ drainMs: 0 });
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** The next line: of one word up to some sixty, aimed at somebody else so that nobody answers. */
function next() {
  said += 1;
  const length = 1 + Math.floor(random() ** 3 * 60);
  const text = Array.from({ length }, (_, n) => words[(said + n) % words.length]).join(" ");
  const author = { id: `u${said % 5}`, name: `Person ${said % 5}`, isBot: false, isSelf: false };
  const place = { channel: "webhook", account: "default", thread: null };
  return {
    type: "message" as const,
    message: {
      ...place,
      chat: { id: "long", kind: "group" as const, title: "#long" },
      id: `m${said}`,
      author,
      text: `${said} ${text}`,
      mentions: [{ id: "zoe", isSelf: false }],
      mentionsEveryone: false,
      replyTo: null,
      attachments: [],
      explicitOnly: false,
      sentAt: Date.now(),
    },
  };
}

async function followed(
  page: Page,
  session: CDPSession,
  say: (count: number) => Promise<unknown>,
): Promise<void> {
  const box = page.locator(".talk-scroll");
  await page.keyboard.press("n");
  await page.waitForTimeout(1_000);
  const stop = new AbortController();
  const before = said;
  const talk = keepSaying(say, rate, stop.signal);
  await framesOf(page, session, "following 1,000 lines/s", 0);
  stop.abort();
  const talkedMs = await talk;
  figures["lines/s meanwhile"] = Math.round(((said - before) * 1_000) / talkedMs);
  await page.waitForTimeout(1_000);
  const below = await box.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
  if (below > 48) throw new Error(`the page followed no more: ${below} px are below`);
}

/** Scrolls to the top until there is nothing older. */
async function loadAll(page: Page): Promise<void> {
  const from = performance.now();
  const load = `new Promise((done) => {
    const box = document.querySelector(".talk-scroll");
    const look = () => {
      box.scrollTop = 0;
      if (document.querySelector(".begin").dataset.older === "none") done();
      else requestAnimationFrame(look);
    };
    look();
  })`;
  await page.evaluate(load);
  figures["s to load all lines"] = round((performance.now() - from) / 1_000);
  figures["lines in all"] = said;
}

/** Seconds the main thread worked so far on script, style and layout. */
async function workedOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  const parts = ["ScriptDuration", "RecalcStyleDuration", "LayoutDuration"];
  return metrics.reduce((sum, { name, value }) => sum + (parts.includes(name) ? value : 0), 0);
}

/** Counts the frames that were painted, scrolling so many pixels each, down and up again. */
async function framesOf(
  page: Page,
  session: CDPSession,
  name: string,
  stepPx: number,
): Promise<number> {
  const before = await workedOf(session);
  const count = `new Promise((done) => {
    const box = document.querySelector(".talk-scroll");
    let frames = 0;
    let longest = 0;
    let step = ${stepPx};
    const from = performance.now();
    let last = from;
    const next = (now) => {
      frames += 1;
      longest = Math.max(longest, now - last);
      last = now;
      if (step !== 0) {
        const was = box.scrollTop;
        box.scrollTop += step;
        if (Math.abs(box.scrollTop - was) < 1) step = -step;
      }
      if (now - from < ${seconds * 1_000}) requestAnimationFrame(next);
      else done({ frames, ms: now - from, longest });
    };
    requestAnimationFrame(next);
  })`;
  const { frames, ms, longest } = (await page.evaluate(count)) as Record<string, number> as {
    frames: number;
    ms: number;
    longest: number;
  };
  const worked = (await workedOf(session)) - before;
  const perSecond = (frames * 1_000) / ms;
  figures[`frames/s ${name}`] = round(perSecond, 1);
  figures[`script and layout ms a frame, ${name}`] = round((worked * 1_000) / frames, 1);
  figures[`longest frame ms, ${name}`] = Math.round(longest);
  return perSecond;
}
