/**
 * The pages with a room whose every name, title, id and word is an attack: markup that would run,
 * controls, direction marks, links that are none. It is all shown as text, harmless, and the pages
 * go on working. The positive twin: the words are there to be read.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { aside, type LiveDaemon, toScout } from "../support/daemon/live-daemon.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig, follow, soon } from "../support/pages/pages-daemon.ts";

const markup =
  `<img src=x onerror="owned=1"><script>owned=1</script><svg onload="owned=1">` +
  `<iframe srcdoc="<script>parent.owned=1</script>"></iframe>[a](javascript:owned=1)`;
const controls = "\u001b[2J\u001b]52;c;aGk=\u0007\u009b31m\u202elive\u2066\u200f\u0008\u0000\ud83d";
const evil = `${markup}${controls}`;
/** What nothing that is shown may hold. */
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
/** Anything that only an attack would put into these pages. */
const planted =
  'img[src="x"], script:not([src]), iframe, svg[onload], [onerror], [onload], a[href^="javascript" i]';
/** Runs in the page, whose types this file does not have. */
const looking = `(() => {
  const labelled = [...document.querySelectorAll("[title], [aria-label]")];
  const labels = labelled.map((one) => [one.getAttribute("title"), one.getAttribute("aria-label")]);
  return {
    planted: document.querySelectorAll(${JSON.stringify(planted)}).length,
    owned: "owned" in window,
    text: [document.title, document.body.textContent, ...labels.flat()].join(" "),
  };
})()`;

describe.skipIf(!haveChromium)("pages of a hostile room", () => {
  const rig = createPagesRig({ kept: true });
  const dialogs: string[] = [];
  let daemon: LiveDaemon;
  let page: Page;

  beforeAll(async () => {
    daemon = await rig.daemon();
    await daemon.start();
    const chat = { id: `g${evil}`.slice(0, 500), kind: "group", title: `Room ${evil}` } as const;
    const author = { id: `a${evil}`.slice(0, 500), name: `Ann ${evil}`, username: evil };
    const replyTo = { id: "r1", authorId: evil.slice(0, 500), authorName: evil, text: evil };
    const said = { chat, author, text: `see ${evil}` };
    await daemon.say({ ...said, ...aside, replyTo }, { ...said, ...toScout });
    await daemon.say({ ...said, ...aside, text: evil.repeat(300).slice(0, 100_000) });
    page = await rig.open(daemon.address("/"));
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });

  async function harmless(where: string): Promise<void> {
    const found = await page.evaluate<{ planted: number; owned: boolean; text: string }>(looking);
    expect([where, found.planted, found.owned]).toEqual([where, 0, false]);
    const at = obeyed.exec(found.text)?.index;
    const around =
      at === undefined ? "" : JSON.stringify(found.text.slice(Math.max(0, at - 40), at + 9));
    expect([where, around]).toEqual([where, ""]);
    expect([where, dialogs]).toEqual([where, []]);
  }
  const read = () => page.evaluate<string>("document.body.textContent");

  test("the list of rooms", async () => {
    await soon(read).toContain("Room <img src=x");
    await soon(read).toContain("Ann <img");
    await harmless("rooms");
  });

  test("the room, its ladder and its statechart", async () => {
    await page.locator(".room").first().click();
    await page.locator(".msg .text").first().waitFor();
    await harmless("room");
    // Lines are there while they are looked at: the first one is the longest way up.
    await soon(async () => {
      await page.keyboard.press("k");
      return read();
    }).toContain("observe");
    await soon(read).toContain(`see ${markup.slice(0, 60)}`);
    await soon(read).toContain("mentions-others");
    await harmless("the ladder");
  });

  test.each([
    ["/health", "Health"],
    ["/replay", "What-if"],
    ["/chat", "Chat"],
  ])(
    "%s, beside it",
    async (path, title) => {
      await follow(page, path);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await page.getByText("Live", { exact: true }).first().waitFor();
      await harmless(path);
    },
    600_000,
  );

  test("the chat, where somebody says such things and is answered", async () => {
    const box = page.getByRole("textbox").first();
    await box.fill(markup);
    await box.press("Enter");
    await soon(read).toContain("<script>owned=1</script>");
    await harmless("chat");
  });
});
