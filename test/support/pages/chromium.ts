/**
 * Chromium for tests of the pages: one browser for all test files of a process, and one process in it that
 * draws all pages. Where the binary is missing the tests are skipped with one plain line.
 */
import { existsSync } from "node:fs";
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
} from "playwright-core";

/** Debian's packages; the first is the same browser without windows, and takes half the time. */
const packaged = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const binary =
  process.env.EARSHOT_CHROMIUM ?? packaged.find((path) => existsSync(path)) ?? "/usr/bin/chromium";

/** Whether tests of the pages can run here. */
export const haveChromium = existsSync(binary);
if (!haveChromium) process.stderr.write(`skipped: pages, as ${binary} is missing\n`);

let shared: Promise<Browser> | null = null;

/**
 * The browser of this process. It ends with the process; what a test file opened in it is closed
 * by `closeTabs` when the file ends.
 */
export async function sharedChromium(): Promise<Browser> {
  shared ??= startChromium(["--renderer-process-limit=1"]);
  if ((await shared).isConnected()) return shared;
  shared = null;
  return sharedChromium();
}

/** One context a browser, with an empty page that keeps the process alive in which its pages are drawn. */
const contexts = new WeakMap<Browser, Promise<CDPSession>>();

/** What a page has if nothing else is asked: a page gets it as it is made, which is cheaper than a change. */
const usual = {
  viewport: { width: 1440, height: 900 },
  colorScheme: "light",
  reducedMotion: "reduce",
} as const;

async function startContext(browser: Browser): Promise<CDPSession> {
  const context = await browser.newContext(usual);
  context.setDefaultTimeout(60_000);
  return context.newCDPSession(await context.newPage());
}

/** Closes every tab of the browser of this process. */
export async function closeTabs(): Promise<void> {
  const browser = await shared;
  for (const context of browser?.contexts() ?? []) {
    await Promise.all(
      context
        .pages()
        .slice(1)
        .map((page) => page.close()),
    );
    await context.clearPermissions();
  }
}

/** Starts it without a window and without talking to anyone but us. */
export function startChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: binary,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // What is looked at once is not worth compiling twice.
      "--js-flags=--no-maglev,--no-opt",
      ...args,
    ],
  });
}

/**
 * A page with everything that went wrong in it: console errors, exceptions, broken content policy.
 */
export interface WatchedPage {
  readonly page: Page;
  readonly wrong: string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce" | "no-preference";
}

/** Opens an empty page in a context of its own. */
export async function openPage(browser: Browser): Promise<WatchedPage> {
  const context = await browser.newContext(usual);
  context.setDefaultTimeout(60_000);
  return watched(await context.newPage());
}

/**
 * Opens an empty page beside the others of a browser: a process of its own for each would cost as much
 * as most of what is looked at in it. What earlier pages have stored is cleared once none of them is open.
 */
export async function openTab(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = usual.viewport.width, height = usual.viewport.height } = options;
  const { colorScheme = usual.colorScheme, reducedMotion = usual.reducedMotion } = options;
  const started = contexts.get(browser) ?? startContext(browser);
  contexts.set(browser, started);
  const session = await started;
  const [context] = browser.contexts() as [BrowserContext];
  const storageTypes = "local_storage,indexeddb,cache_storage,service_workers";
  if (context.pages().length === 1)
    await session.send("Storage.clearDataForOrigin", { origin: "*", storageTypes });
  const page = await context.newPage();
  if (width !== usual.viewport.width || height !== usual.viewport.height)
    await page.setViewportSize({ width, height });
  if (colorScheme !== usual.colorScheme || reducedMotion !== usual.reducedMotion)
    await page.emulateMedia({ colorScheme, reducedMotion });
  return watched(page);
}

function watched(page: Page): WatchedPage {
  const wrong: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  return { page, wrong };
}
