/**
 * A room in which much was said, on a real daemon, and ways to look at its page frame by frame. A
 * line has its number in front, so that each is known wherever it is seen.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startDaemon } from "../../../src/daemon/daemon.ts";

const words = "the build is green again and lunch is at one if nobody minds the soup".split(" ");
const place = {
  channel: "webhook",
  account: "default",
  thread: null,
  chat: { id: "long", kind: "group" as const, title: "#long" },
};

/** The text of a line: from two words up to ten rows of them. */
export function textOf(n: number): string {
  const length = n % 13 === 0 ? 120 : 1 + ((n * 7) % 30);
  return `${n}: ${Array.from({ length }, (_, at) => words[(n + at) % words.length]).join(" ")}`;
}

export interface LongRoom {
  /** The address of its page. */
  readonly address: string;
  /** Lines that were said so far. */
  readonly said: number;
  say(count: number): Promise<void>;
  edit(n: number, text: string): Promise<void>;
  remove(n: number): Promise<void>;
  close(): Promise<void>;
}

export async function openLongRoom(pagesDir: string): Promise<LongRoom> {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-long-"));
  const config = {
    agents: { defaults: { driver: { kind: "scripted" } } },
    channels: { webhook: {} },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const how = { stateDir, port: 0, workers: 0, pagesDir, logLevel: "fatal", env: {} } as const;
  const daemon = await startDaemon(how);
  let said = 0;
  const lineOf = () => {
    said += 1;
    const author = { id: `p${said % 5}`, name: `Person ${said % 5}`, isBot: false, isSelf: false };
    return {
      type: "message" as const,
      message: {
        ...place,
        id: `l${said}`,
        author,
        text: textOf(said),
        sentAt: Date.now(),
        // Aimed at somebody else: nobody is to answer.
        mentions: [{ id: "zoe", isSelf: false }],
        mentionsEveryone: false,
        replyTo: null,
        attachments: [],
        explicitOnly: false,
      },
    };
  };
  const ingest = async (events: Parameters<typeof daemon.runtime.ingest>[2]) => {
    await daemon.runtime.ingest("webhook", "default", events);
  };
  return {
    address: daemon.page.replace(
      "/#",
      `/room/${encodeURIComponent("agent:main:webhook:group:long")}#`,
    ),
    get said() {
      return said;
    },
    async say(count) {
      for (let left = count; left > 0; left -= 250)
        await ingest(Array.from({ length: Math.min(250, left) }, lineOf));
    },
    edit: (n, text) => ingest([{ type: "edit", edit: { ...place, id: `l${n}`, text } }]),
    remove: (n) => ingest([{ type: "delete", deletion: { ...place, id: `l${n}` } }]),
    async close() {
      await daemon.stop({ drainMs: 0 });
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** Run in the page before anything else: layout shifts in the room that nobody caused. */
export const watchShifts = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput)
        for (const { node, previousRect, currentRect } of entry.sources)
          if (node?.parentElement?.closest("main") && shifts.length < 10)
            shifts.push([
              node.className || node.parentElement.className,
              Math.round(previousRect.x) + " " + Math.round(previousRect.y),
              Math.round(currentRect.x) + " " + Math.round(currentRect.y),
            ].join(", "));
  }).observe({ type: "layout-shift", buffered: true });
`;

/** Number of the first line that begins in the window. */
export const lineAtTop = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const edge = document.querySelector(".talk-scroll")?.getBoundingClientRect().top ?? 0;
    const first = [...document.querySelectorAll(".msg.person")].find(
      (one) => one.getBoundingClientRect().top >= edge + 1,
    );
    return Number.parseInt(first?.querySelector(".text")?.textContent ?? "", 10);
  });

interface Passing {
  /** Numbers of the lines that came into sight, each once, in that order. */
  readonly lines: number[];
  /** The most rows that were in the document. */
  readonly rows: number;
  /** Moves of a line between two paints by another distance than was scrolled, px. */
  readonly jumps: number[];
}

/** Scrolls to one end, so many pixels a frame, and looks at each frame as it was painted. */
export function passing(page: Page, stepPx: number): Promise<Passing> {
  const pass = `new Promise((done) => {
    const box = document.querySelector(".talk-scroll");
    const seen = new Set();
    const jumps = [];
    let rows = 0;
    let before = new Map();
    let still = 0;
    const look = () => {
      const edges = box.getBoundingClientRect();
      const now = new Map();
      const all = [...box.querySelectorAll(".msg.person:not(.apart)")];
      rows = Math.max(rows, all.length);
      for (const row of ${stepPx} < 0 ? all.reverse() : all) {
        const { top, bottom } = row.getBoundingClientRect();
        const number = Number.parseInt(row.querySelector(".text").textContent, 10);
        now.set(number, top);
        if (bottom > edges.top && top < edges.bottom) seen.add(number);
      }
      return now;
    };
    const frame = () => {
      for (const [number, top] of look()) {
        const was = before.get(number);
        if (was !== undefined && Math.abs(top - was) > 1 && jumps.length < 10)
          jumps.push(top - was);
      }
      const was = box.scrollTop;
      box.scrollTop += ${stepPx};
      // Where the lines are bound to be now: with just that scrolled.
      before = look();
      const isWhole = document.querySelector(".begin").textContent.startsWith("Start of the journal");
      still = box.scrollTop === was && (isWhole || ${stepPx} > 0) ? still + 1 : 0;
      if (still < 20) requestAnimationFrame(frame);
      else done({ lines: [...seen], rows, jumps });
    };
    requestAnimationFrame(frame);
  })`;
  return page.evaluate(pass) as Promise<Passing>;
}
