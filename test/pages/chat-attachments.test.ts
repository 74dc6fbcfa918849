/**
 * Files in the Chat page, on a real daemon whose agent looks at them: chosen, dropped, pasted, taken
 * off, refused, and shown once after the daemon was killed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { builtPages } from "../support/built/files.ts";
import { type DaemonProcess, startProcess } from "../support/daemon/daemon-process.ts";
import { violationsInBothColours } from "../support/pages/axe.ts";
import {
  closeTabs,
  haveChromium,
  openTab,
  type PageOptions,
  sharedChromium,
} from "../support/pages/chromium.ts";
import { holdTakenFrame } from "../support/pages/hold-taken-frame.ts";
import { samplePicture } from "../support/pages/sample-picture.ts";
import { tone } from "../support/pages/tone.ts";
import { rounds } from "../support/rounds.ts";

/** Waits for what is bound to happen; long, since other tests use the same two cores. */
const soon = <Found>(read: () => Found | Promise<Found>) => expect.poll(read, { timeout: 60_000 });
const looking = resolve(import.meta.dirname, "../support/agents/attachment-agent.mjs");
const maxBytes = 300_000;
const picture = samplePicture(640, 480);
const hat = { name: "hat.png", mimeType: "image/png", buffer: picture };
const words = (name: string, text: string) => ({
  name,
  mimeType: "text/plain",
  buffer: Buffer.from(text),
});

describe.skipIf(!haveChromium)("files in the Chat page", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-files-"));
  let browser: Browser;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    const driver = { kind: "module", module: looking };
    const config = {
      agents: { list: [{ id: "main", name: "Scout", driver }] },
      media: { maxBytes },
    };
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
    browser = await sharedChromium();
    daemon = await startProcess(stateDir, builtPages);
  });
  afterAll(async () => {
    await daemon?.kill();
    rmSync(stateDir, { recursive: true, force: true });
  });

  async function open(options: PageOptions = {}) {
    const opened = await openTab(browser, options);
    await opened.page.goto(daemon.page.href.replace("/#", "/chat#"));
    await opened.page.getByText("Live", { exact: true }).waitFor();
    return opened;
  }
  const chooser = (page: Page) => page.locator(".direct input[type=file]");
  const textbox = (page: Page) => page.getByLabel("Message to Scout");
  const chips = (page: Page) => page.locator(".direct .chosen");
  const there = (page: Page) => page.locator('.direct .chosen[data-state="there"]');
  const answer = (page: Page, text: string) =>
    page.locator(".direct .bubble.it:not(:has(.caret))", { hasText: text });
  const line = (page: Page, text: string) =>
    page.locator(".direct .dm-line.mine", { hasText: text });
  const send = (page: Page) =>
    page.locator(".direct").getByRole("button", { name: "Send" }).click();
  /** Whether a picture was really drawn. */
  const isDrawn = (image: Locator) =>
    soon(() => image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth));

  /** Drops or pastes files as a person's hand would, with a real data transfer. */
  async function hand(
    page: Page,
    how: "drop" | "paste",
    files: readonly (typeof hat)[],
    at?: string,
  ) {
    const given = files.map(({ name, mimeType, buffer }) => ({
      name,
      mimeType,
      data: buffer.toString("base64"),
    }));
    const place = at ?? (how === "drop" ? ".direct .composer" : ".direct textarea");
    await page.evaluate(`(() => {
      const transfer = new DataTransfer();
      for (const { name, mimeType, data } of ${JSON.stringify(given)}) {
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: mimeType }));
      }
      const place = document.querySelector(${JSON.stringify(place)});
      const event = { bubbles: true, cancelable: true };
      if (${JSON.stringify(how)} === "paste")
        place.dispatchEvent(new ClipboardEvent("paste", { ...event, clipboardData: transfer }));
      else
        for (const type of ["dragenter", "dragover", "drop"]) {
          const given = new DragEvent(type, { ...event, dataTransfer: transfer });
          // Nobody took it: the browser would show the file instead of the page.
          if (place.dispatchEvent(given) && type === "drop") location.href = "about:blank";
        }
    })()`);
  }

  // None of these needs a fresh page, and each visit draws all pictures of the talk again.
  describe("one after the other in one page", () => {
    let page: Page;
    let wrong: string[];

    beforeAll(async () => {
      ({ page, wrong } = await open());
    });
    afterEach(() => {
      expect(wrong).toEqual([]);
    });
    afterAll(closeTabs);

    test("chosen by the button: chips with name and size, then a picture in the talk and an answer", async () => {
      const asked = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Attach" }).click();
      await (await asked).setFiles([hat, words("recipe.txt", "two soups and a spoon")]);
      await soon(() => there(page).count()).toBe(2);
      expect(await chips(page).first().textContent()).toMatch(/hat\.png\d+(\.\d)? kB/);
      await textbox(page).fill("what are these?");
      await textbox(page).press("Enter");
      await answer(page, "two soups and a spoon").waitFor();
      expect(await answer(page, "two soups").textContent()).toContain("hat.png");
      expect(await chips(page).count()).toBe(0);
      const mine = line(page, "what are these?");
      await mine.getByText("engage dm").waitFor();
      await isDrawn(mine.getByRole("img", { name: "hat.png" })).toBe(480);
      const saved = page.waitForEvent("download");
      await mine.getByRole("button", { name: "Save recipe.txt" }).click();
      expect((await saved).suggestedFilename()).toBe("recipe.txt");
      await mine.getByRole("button", { name: /Show hat\.png/ }).click();
      await isDrawn(page.getByRole("dialog").getByRole("img")).toBe(640);
      await page.keyboard.press("Escape");
      await soon(() => page.getByRole("dialog").count()).toBe(0);
    });

    test("dropped anywhere on the composer, with no words at all", async () => {
      await hand(page, "drop", [words("dropped.txt", "fell from above")]);
      await soon(() => there(page).count()).toBe(1);
      await send(page);
      await answer(page, "fell from above").waitFor();
      expect(await page.locator(".direct .bubble.me.bare").last().textContent()).toBe("1 file");
      await hand(page, "drop", [words("missed.txt", "fell beside it")], ".room-pane");
      expect(await chips(page).count()).toBe(0);
      await answer(page, "fell from above").waitFor();
    });

    test("pasted into the line, which stays as it is", async () => {
      await textbox(page).fill("from the clipboard");
      await hand(page, "paste", [{ ...hat, name: "image.png" }]);
      await soon(() => there(page).count()).toBe(1);
      expect(await textbox(page).inputValue()).toBe("from the clipboard");
      await textbox(page).press("Enter");
      await answer(page, "image.png").waitFor();
      await isDrawn(line(page, "from the clipboard").getByRole("img")).toBe(480);
    });

    test("taken off by key: the focus goes to the next one, then back to the line", async () => {
      await chooser(page).setInputFiles([words("one.txt", "1"), words("two.txt", "2")]);
      await soon(() => there(page).count()).toBe(2);
      expect(await page.locator(".direct [role=status].sr").textContent()).toContain(
        "Attached: one.txt, two.txt.",
      );
      await page.getByRole("button", { name: "Remove one.txt" }).focus();
      await page.keyboard.press("Enter");
      await soon(() => page.evaluate("document.activeElement.ariaLabel")).toBe("Remove two.txt");
      await page.keyboard.press("Enter");
      await soon(() => chips(page).count()).toBe(0);
      await soon(() => page.evaluate("document.activeElement.ariaLabel")).toBe("Message to Scout");
      const before = await page.locator(".direct .dm-line.mine").count();
      await page.keyboard.press("Enter");
      expect(await page.locator(".direct .dm-line.mine").count()).toBe(before);
    });

    test("a line sent while its file is on its way goes when the file is there", async () => {
      let letGo: () => void = () => undefined;
      const held = new Promise<void>((go) => {
        letGo = go;
      });
      await page.route("**/api/webchat/uploads*", async (route) => {
        await held;
        await route.continue();
      });
      await chooser(page).setInputFiles([words("slow.txt", "came slowly")]);
      await page.getByRole("progressbar", { name: "Uploading slow.txt" }).waitFor();
      await textbox(page).fill("wait for it");
      await textbox(page).press("Enter");
      await page.getByText("Sends when the file is there").waitFor();
      expect(await line(page, "wait for it").count()).toBe(0);
      letGo();
      await answer(page, "came slowly").waitFor();
      expect(await line(page, "wait for it").count()).toBe(1);
      expect(await chips(page).count()).toBe(0);
      await page.unroute("**/api/webchat/uploads*");
    });

    test("names are text, and what could run is only ever saved", async () => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="owned=1"><script>owned=1</script></svg>`;
      const evil = `<img src=x onerror="owned=1">.svg`;
      await chooser(page).setInputFiles([
        { name: evil, mimeType: "image/svg+xml", buffer: Buffer.from(svg) },
      ]);
      await soon(() => there(page).count()).toBe(1);
      await textbox(page).fill("look at this drawing");
      await send(page);
      const mine = line(page, "look at this drawing");
      await mine.getByText("engage dm").waitFor();
      expect(await mine.locator("img").count()).toBe(0);
      expect(await mine.locator(".file-chip").textContent()).toContain("onerror=");
      expect(await page.evaluate("'owned' in window")).toBe(false);
    });

    test("a sound is heard, and stopped; one that is none can only be saved", async () => {
      const given = [
        { name: "tone.wav", mimeType: "audio/wav", buffer: tone(20) },
        { name: "noise.ogg", mimeType: "audio/ogg", buffer: Buffer.from("OggS, but no sound") },
      ];
      await chooser(page).setInputFiles(given);
      await soon(() => there(page).count()).toBe(2);
      await textbox(page).fill("listen");
      await send(page);
      const mine = line(page, "listen");
      await mine.getByText("engage dm").waitFor();
      await mine.getByRole("button", { name: "Play tone.wav" }).click();
      await mine.getByRole("button", { name: "Stop tone.wav" }).click();
      await mine.getByRole("button", { name: "Play tone.wav" }).waitFor();
      await mine.getByRole("button", { name: "Play noise.ogg" }).click();
      await mine.getByText("Cannot be played here").waitFor();
      await mine.getByRole("button", { name: /Save noise\.ogg/ }).waitFor();
    });

    test("what is too large, empty or too many is said beside the composer, with the limit", async () => {
      const note = page.locator(".direct .note");
      const large = { ...words("large.bin", ""), buffer: Buffer.alloc(maxBytes + 1) };
      await chooser(page).setInputFiles([large]);
      await soon(() => note.textContent()).toBe(
        "large.bin is 300 kB. The limit is 300 kB (media.maxBytes).",
      );
      expect(await note.getAttribute("role")).toBe("alert");
      await chooser(page).setInputFiles([words("empty.txt", "")]);
      await soon(() => note.textContent()).toBe("empty.txt is empty.");
      const many = Array.from({ length: 18 }, (_, n) => words(`${n}.txt`, `number ${n}`));
      await chooser(page).setInputFiles(many);
      await soon(() => note.textContent()).toBe(
        "A message can have 16 files. 2 more were not attached.",
      );
      await soon(() => there(page).count()).toBe(16);
      await chooser(page).setInputFiles([
        {
          name: "lie.png",
          mimeType: "image/png",
          buffer: Buffer.from("<script>alert(1)</script>"),
        },
      ]);
      await soon(() => note.textContent()).toContain("1 more");
      // With room for it, the daemon says what is wrong with it.
      await page.getByRole("button", { name: "Remove 0.txt" }).click();
      await chooser(page).setInputFiles([
        {
          name: "lie.png",
          mimeType: "image/png",
          buffer: Buffer.from("<script>alert(1)</script>"),
        },
      ]);
      await page
        .getByText(/declared as image\/png, but it is text\/plain/)
        .first()
        .waitFor();
      const refusals = wrong.splice(0);
      for (const text of refusals) expect(text).toContain("415");
    });
  });

  describe("in one page that is loaded again", () => {
    let page: Page;

    beforeAll(async () => {
      ({ page } = await open());
    });
    afterAll(closeTabs);

    test("what is attached and not sent is there after a reload", async () => {
      await chooser(page).setInputFiles([words("kept.txt", "kept over a reload")]);
      await soon(() => there(page).count()).toBe(1);
      await page.reload();
      await soon(() => there(page).textContent()).toMatch(/kept\.txt/);
      await textbox(page).fill("after the reload");
      await send(page);
      await answer(page, "kept over a reload").waitFor();
      await page.reload();
      await line(page, "after the reload").waitFor();
      expect(await chips(page).count()).toBe(0);
    });

    test("a file that is no longer stored says so", async () => {
      await chooser(page).setInputFiles([
        words("old.txt", "old words"),
        { ...hat, name: "old.png" },
      ]);
      await soon(() => there(page).count()).toBe(2);
      await textbox(page).fill("these will go");
      await send(page);
      await line(page, "these will go").getByText("engage dm").waitFor();
      await page.route("**/api/webchat/uploads/*", (route) =>
        route.fulfill({ status: 404, body: "{}" }),
      );
      await page.reload();
      const mine = line(page, "these will go");
      await mine.getByRole("button", { name: "Save old.txt" }).click();
      await mine.getByText("no longer stored").waitFor();
      // The picture's place is a chip like any other.
      await mine.getByRole("button", { name: "Save old.png" }).waitFor();
      await page.unroute("**/api/webchat/uploads/*");
    });

    test("nothing of it is out of reach, light and dark", async () => {
      await chooser(page).setInputFiles([hat, words("a.txt", "a"), words("empty.txt", "")]);
      await chooser(page).setInputFiles([
        { name: "lie.png", mimeType: "image/png", buffer: Buffer.from("no picture") },
      ]);
      await page
        .getByText(/declared as image\/png/)
        .first()
        .waitFor();
      await soon(() => there(page).count()).toBe(2);
      expect(await violationsInBothColours(page)).toEqual([]);
      await textbox(page).fill("within reach");
      await send(page);
      const mine = line(page, "within reach");
      await mine.getByText("engage dm").waitFor();
      await isDrawn(mine.getByRole("img")).toBe(480);
      expect(await violationsInBothColours(page)).toEqual([]);
      await mine.getByRole("button", { name: /Show hat\.png/ }).click();
      await isDrawn(page.getByRole("dialog").getByRole("img")).toBe(640);
      expect(await violationsInBothColours(page)).toEqual([]);
    });
  });

  // What is not looked at goes on drawing all that the others say.
  describe("each in a page of its own", () => {
    afterEach(closeTabs);

    test("a daemon that was killed and is there again shows everything once, and takes what waited", async () => {
      const { page } = await open({ width: 390, height: 844 });
      await page.getByRole("button", { name: "Direct chat" }).click();
      // Its picture is asked for when there is nobody to ask any more.
      const pictures = "**/api/webchat/uploads/*";
      await page.route(pictures, (route) => route.abort());
      await chooser(page).setInputFiles([{ ...hat, name: "before.png" }]);
      await soon(() => there(page).count()).toBe(1);
      await textbox(page).fill("before the end");
      await send(page);
      await answer(page, "before.png").waitFor();
      await line(page, "before the end").getByRole("button", { name: "Save before.png" }).waitFor();
      await page.unroute(pictures);
      const count = await page.locator(".direct .dm-line.mine").count();

      const port = Number(daemon.page.port);
      await daemon.kill();
      await page
        .locator(".direct")
        .getByText(/^Reconnecting/)
        .waitFor();
      await chooser(page).setInputFiles([words("meanwhile.txt", "while nobody was there")]);
      await page.getByRole("button", { name: "Try again" }).waitFor();
      expect(await chips(page).textContent()).toContain("earshot is not responding.");
      await textbox(page).fill("after the end");
      await send(page);
      await page.getByText("Sends when the file is there").waitFor();
      expect(await line(page, "after the end").count()).toBe(0);
      daemon = await startProcess(stateDir, builtPages, port);
      const shown = line(page, "before the end").getByRole("button", { name: /Show before/ });
      await shown.waitFor({ state: "attached" });
      // The file goes by itself, and its line with it.
      await answer(page, "while nobody was there").waitFor();
      expect(await chips(page).count()).toBe(0);
      expect(await page.locator(".direct .dm-line.mine").count()).toBe(count + 1);

      await page.reload();
      await page.getByRole("button", { name: "Direct chat" }).click();
      await answer(page, "while nobody was there").waitFor();
      expect(await page.locator(".direct .dm-line.mine").count()).toBe(count + 1);
      expect(await answer(page, "before.png").count()).toBe(1);
      const drawn = line(page, "before the end").getByRole("button", { name: /Show before/ });
      await drawn.scrollIntoViewIfNeeded();
      await isDrawn(drawn.getByRole("img")).toBe(480);
      const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(wide)).toBe(0);
      const pane =
        "(() => { const s = document.querySelector('.direct .scroll'); return s.scrollWidth - s.clientWidth; })()";
      expect(await page.evaluate(pane)).toBe(0);
    });

    test.each((["before", "after"] as const).slice(0, rounds(1, 2)))(
      "a file is no less kept because nobody answers just now, %s its line is taken",
      async (moment) => {
        const { page } = await openTab(browser);
        const taken = await holdTakenFrame(page);
        await page.goto(daemon.page.href.replace("/#", "/chat#"));
        await page.getByText("Connected", { exact: true }).waitFor();
        if (moment === "before") taken.hold();
        await chooser(page).setInputFiles([words("notes.txt", "some notes")]);
        await soon(() => there(page).count()).toBe(1);
        await textbox(page).fill(`keep these, pressed ${moment}`);
        await send(page);
        const mine = line(page, `keep these, pressed ${moment}`);
        await mine.getByText(moment === "before" ? "sending" : "engage dm").waitFor();
        const save = mine.getByRole("button", { name: /Save notes\.txt/ });
        const files = "**/api/webchat/uploads/*";
        await page.route(files, (route) => route.abort());
        await save.click();
        await soon(() => save.textContent()).toContain("earshot is not responding");
        taken.release();
        await mine.getByText("engage dm").waitFor();
        expect(await save.textContent()).toContain("earshot is not responding");
        await page.unroute(files);
        const [saved] = await Promise.all([page.waitForEvent("download"), save.click()]);
        expect(saved.suggestedFilename()).toBe("notes.txt");
        await soon(() => save.textContent()).not.toContain("does not answer");
      },
    );
  });
});
