/**
 * Every page, with nothing on it and with everything: axe finds nothing wrong in light and dark, on
 * a wide screen and on a phone with each of its panes; the Tab key reaches every control, and each shows
 * it; nothing lies beyond the edge of a small window. And each page loads little.
 * In the longer runs each view is loaded by itself and looked at in every way; else one page goes from view to view as
 * a person would by its links, and the ways to look take turns.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { violations, violationsInBothColours } from "../support/pages/axe.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { gardenPath, twoDaemons } from "../support/pages/crowded-rooms.ts";
import { loadedBytes, outsideWindow, readFocusOrder } from "../support/pages/page-checks.ts";
import { createPagesRig, follow, lostDaemon } from "../support/pages/pages-daemon.ts";
import { type View, views } from "../support/pages/views.ts";
import { inTurn, rounds } from "../support/rounds.ts";

const isFull = rounds(0, 1) > 0;
/** In the longer runs all of them. */
const lostViews = [
  "a room with its ladder, while the agent writes",
  "Rooms",
  "Health with trouble",
].slice(0, rounds(1, 3));
const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** How axe looks at a view; in the longer runs at every pane of a phone as well, else at the first. */
const ways = (["light", "dark"] as const).flatMap((colorScheme) =>
  [wide, phone].map((size) => ({ colorScheme, size })),
);
const panesMax = isFull ? 10 : 1;
/** Paths that are no view of the pages' one document. */
const ownDocuments = ["/inspect"];
const bytesMax = 64_000;
const small = [
  { width: 720, height: 450 },
  { width: 320, height: 256 },
];
/** The browser's words for a room that is not there yet, and for a daemon that went away. */
const forgiven = ["404", ...lostDaemon];

describe.skipIf(!haveChromium)("everybody can use", () => {
  const rig = createPagesRig({ kept: true, forgiven });
  const daemons = twoDaemons(rig);

  /** Pages that go from view to view, and those of them that show what they were loaded for. */
  const kept = new Map<View["of"], Page>();
  const fresh = new Set<Page>();
  const startPath = "/";

  beforeAll(async () => {
    if (isFull) return;
    for (const of of ["calm", "crowded"] as const) {
      const page = await rig.open(daemons[of].address(startPath));
      kept.set(of, page);
      fresh.add(page);
    }
  });

  /** A view in a page that was loaded for it, or that comes from another view. */
  async function visit({ of, path }: View): Promise<{ page: Page; isLoaded: boolean }> {
    const known = ownDocuments.includes(path) ? undefined : kept.get(of);
    if (known === undefined)
      return { page: await rig.open(daemons[of].address(path)), isLoaded: true };
    if (fresh.delete(known) && path === startPath) return { page: known, isLoaded: true };
    await follow(known, path);
    return { page: known, isLoaded: false };
  }

  const show = async (page: Page, pane: string) => {
    const panes = page.getByRole("group", { name: "Show", exact: true }).first();
    if (pane !== "") await panes.getByRole("button", { name: pane }).click();
  };

  /** By axe, in the ways whose turn it is. */
  async function look(page: Page, panes: readonly string[], turn: number): Promise<string[]> {
    const found: string[] = [];
    for (const { colorScheme, size } of inTurn(ways, turn)) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      for (const pane of size === wide ? [""] : panes.slice(0, panesMax)) {
        await show(page, pane);
        const asked = colorScheme === "light" || !isFull ? "everything" : "colours";
        for (const one of await violations(page, asked))
          found.push(`${size.width} px ${pane} ${colorScheme}: ${one}`);
      }
    }
    return found;
  }

  /** On small screens and zoomed in, each pane by itself; the first one stays, as it is kept for the next visit. */
  async function outside(page: Page, panes: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const pane of panes.toReversed()) {
      // A pane beside others is looked at where it is hardest; in the longer runs each at both.
      const sizes = isFull || pane === panes[0] ? small : small.slice(1);
      for (const size of sizes) {
        await page.setViewportSize(size);
        if (size === sizes[0]) await show(page, pane);
        for (const one of await outsideWindow(page)) found.push(`${size.width} px ${pane}: ${one}`);
      }
    }
    return found;
  }

  let turn = 0;
  for (const view of views) {
    const { next = [], ...first } = view;
    test([first, ...next].map(({ name }) => name).join("; then "), async () => {
      const { page, isLoaded } = await visit(view);
      for (const { name, reach, panes = [""] } of [first, ...next]) {
        await page.setViewportSize(wide);
        await page.emulateMedia({ colorScheme: "light" });
        await reach(page);
        if (isLoaded) expect(await loadedBytes(page, rig.pagesDir), name).toBeLessThan(bytesMax);
        const order = { unseen: [], missed: [], ends: true };
        expect(await readFocusOrder(page), name).toEqual(order);
        const place = turn;
        turn += 1;
        expect(await look(page, panes, place), name).toEqual([]);
        expect(await outside(page, panes), name).toEqual([]);
      }
    });
  }

  test("contrast in a drawing, which axe leaves open, is looked at as well", async () => {
    const page = await rig.open(daemons.crowded.address(gardenPath));
    await page.locator(".chart text").first().waitFor();
    expect(await violations(page, "colours")).toEqual([]);
    for (const [fill, found] of [
      ["rgb(140, 140, 140)", / of 4\.5: rgb\(140, 140, 140\) on rgb\(2\d\d, /u],
      ["rgba(0, 0, 0, 0.1)", /: 1\.\d\d of 4\.5: rgb\(/u],
    ] as const) {
      await page.evaluate(`document.querySelector(".chart text").style.fill = "${fill}"`);
      expect(await violations(page, "colours")).toEqual([expect.stringMatching(found)]);
    }
    await page.close();
  });

  test("what a page keeps when its connection is lost", async () => {
    const lost = views.filter(({ name }) => lostViews.includes(name));
    const pages = await Promise.all(
      lost.map(async ({ path, reach }) => {
        const page = await rig.open(daemons.crowded.address(path));
        await reach(page);
        expect(await loadedBytes(page, rig.pagesDir), path).toBeLessThan(bytesMax);
        return page;
      }),
    );
    await daemons.crowded.stop();
    const found: string[] = [];
    for (const page of pages) {
      await page.getByText("Reconnecting", { exact: true }).waitFor();
      found.push(...(await violationsInBothColours(page)).map((one) => `${page.url()}: ${one}`));
    }
    expect(found).toEqual([]);
    expect(pages.length).toBe(lostViews.length);
  });
});
