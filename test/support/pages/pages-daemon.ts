/**
 * The rig of the pages' tests
 * =============================
 * The pages as they are in the sources, the Chromium of this process, and daemons on request. Whatever
 * goes wrong in a page that was opened here, from an exception to a broken content policy, fails
 * the test it happened in. With `kept`, daemons and the pages that hooks opened live as long as the
 * file; what a test opened is closed behind it, as a page that is not looked at goes on drawing.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { builtPages } from "../built/files.ts";
import {
  createLiveDaemon,
  type LiveDaemon,
  type LiveDaemonOptions,
} from "../daemon/live-daemon.ts";
import {
  closeTabs,
  openTab,
  type PageOptions,
  sharedChromium,
  type WatchedPage,
} from "./chromium.ts";

/** Waits for what is bound to happen; long, since other tests use the same two cores. */
export const soon = <Found>(read: () => Found | Promise<Found>) =>
  expect.poll(read, { timeout: 60_000 });

/**
 * Goes on to another page of ours as by a link in this one: loading the document again is most of what a visit costs.
 * From one search, room or chat to another this is a change of the same page: what is to begin afresh is left first.
 */
export const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate((href) => {
    const link = Object.assign(document.createElement("a"), { href });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);

/** What the browser says of a daemon that is gone, or starting; the page says so in its badge. */
export const lostDaemon: readonly string[] = ["ERR_", "503"];

export interface PagesRigOptions {
  /** Words of console lines that are part of what is tested, as of a daemon that went away. */
  readonly forgiven?: readonly string[];
  readonly kept?: boolean;
}

export interface PagesRig {
  readonly pagesDir: string;
  readonly browser: Browser;
  /** Makes a daemon that serves the pages; its `start` starts it. */
  daemon(config?: LiveDaemonOptions["config"]): Promise<LiveDaemon>;
  /** What is closed after the pages, as servers that they talk to. */
  closing(close: () => Promise<unknown>): void;
  /** From now to the end of the test, lines of the console with one of these words are part of it. */
  forgive(...words: readonly string[]): void;
  /** Opens an address in a page of its own. */
  open(address: string, options?: PageOptions): Promise<Page>;
}

/** Once in a `describe`: what it returns can be used in its hooks and tests. */
export function createPagesRig({ forgiven = [], kept = false }: PagesRigOptions = {}): PagesRig {
  let browser: Browser | null = null;
  const toClose: (() => Promise<unknown>)[] = [];
  const forgivenNow: string[] = [];
  const opened: WatchedPage[] = [];
  const wrong = () =>
    opened
      .flatMap((one) => one.wrong.splice(0))
      .filter((line) => ![...forgiven, ...forgivenNow].some((word) => line.includes(word)));
  /** How many pages were open when the test began. */
  let before = 0;
  const closePages = (from: number) =>
    Promise.all(opened.splice(from).map(({ page }) => page.close()));
  const leave = async () => {
    await closePages(0);
    await Promise.all(toClose.splice(0).map((close) => close()));
  };
  const running = (): Browser => {
    if (browser === null) throw new Error("the browser does not run");
    return browser;
  };
  beforeAll(async () => {
    browser = await sharedChromium();
  });
  beforeEach(() => {
    before = opened.length;
  });
  afterEach(async () => {
    const found = wrong();
    forgivenNow.length = 0;
    await (kept ? closePages(before) : leave());
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await leave();
    await closeTabs();
  });
  return {
    pagesDir: builtPages,
    get browser() {
      return running();
    },
    async daemon(config = {}) {
      const daemon = await createLiveDaemon({ pagesDir: builtPages, config });
      toClose.push(() => daemon.close());
      return daemon;
    },
    closing: (close) => {
      toClose.push(close);
    },
    forgive: (...words) => {
      forgivenNow.push(...words);
    },
    async open(address, options = {}) {
      const one = await openTab(running(), options);
      opened.push(one);
      await one.page.goto(address);
      return one.page;
    },
  };
}
