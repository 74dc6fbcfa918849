/**
 * Chromium for tests of the pages: one browser for all test files of a process, a fresh context a
 * test. Where the binary is missing the tests are skipped with one plain line.
 */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

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
 * by `closeContexts` when the file ends.
 */
export async function sharedChromium(): Promise<Browser> {
  shared ??= startChromium();
  if ((await shared).isConnected()) return shared;
  shared = startChromium();
  return shared;
}

/** Closes every page that is open in the browser of this process. */
export async function closeContexts(): Promise<void> {
  const browser = await shared;
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

/** Starts it without a window and without talking to anyone but us. */
export function startChromium(): Promise<Browser> {
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
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1440, height = 900, colorScheme = "light", reducedMotion = "reduce" } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  return { page, wrong };
}
