/**
 * The bridge page in a real Chromium on a real daemon, with a fake of stately.ai on another port
 * that reads what is posted with the package's own receiver.
 */
import type { StatelyInspectionEvent } from "@statelyai/inspect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { roomKey, say, writeRoomConfig } from "../support/daemon/room-daemon.ts";
import { haveChromium } from "../support/pages/chromium.ts";
import { createPagesRig, lostDaemon, soon } from "../support/pages/pages-daemon.ts";
import { type InspectorPage, startInspectorPage } from "../support/servers/inspector.ts";

const canary = "xylophone-canary";

describe.skipIf(!haveChromium)("the bridge to the Stately inspector", () => {
  const rig = createPagesRig({ forgiven: lostDaemon, kept: true });
  let inspector: InspectorPage;
  let stateDir: string;
  let daemon: Daemon;

  beforeAll(async () => {
    inspector = await startInspectorPage();
    rig.closing(() => stop());
  });
  afterAll(() => inspector?.close());
  /** The last daemon: once its pages are closed, as they say what they lose. */
  let stop = async () => {};
  const start = async (port = 0) => {
    const { pagesDir } = rig;
    const how = { stateDir, port, pagesDir, inspectorUrl: inspector.url } as const;
    const started = await startDaemon({ ...how, workers: 0, logLevel: "fatal", env: {} });
    daemon = started;
    stop = () => started.stop({ drainMs: 0 });
  };
  beforeEach(() => {
    inspector.silent = false;
  });
  /** A daemon on which nothing was said. */
  const startFresh = async () => {
    await stop();
    stateDir = newFolder();
    writeRoomConfig(stateDir, [{ steps: [{ text: `An answer: ${canary}.` }] }]);
    await start();
  };

  const open = (query = "", token = daemon.token): Promise<Page> =>
    rig.open(`${daemon.base}/inspect${query}#token=${token}`);
  /** Decided, and nothing follows. */
  const aside = () => say(daemon, "1", "ann", `hm, ${canary}`, { mentions: ["bo"] });
  const ask = () => say(daemon, "1", "ann", `scout, ${canary}?`, { mentions: ["scout"] });
  const readIn = async (text: string | null): Promise<StatelyInspectionEvent[]> =>
    text === null || text.trim() === "" ? [] : JSON.parse(text);
  const seenIn = async (page: Page) =>
    readIn(await page.frameLocator("#inspector").locator("body").textContent());
  const types = (seen: readonly StatelyInspectionEvent[]) =>
    seen.map((one) => ("event" in one ? `${one.type} ${one.event.type}` : one.type));
  /** Of the rooms alone: hosts and connections are there as well, in any order. */
  const rooms = (seen: readonly StatelyInspectionEvent[]) =>
    seen.flatMap((one) =>
      one.type === "@xstate.actor" && one.name?.startsWith("agent:") ? [one.name] : [],
    );

  describe("with a daemon of its own", () => {
    beforeEach(startFresh);

    test("hands the inspector in its frame what happens, without the words of the room", async () => {
      const page = await open();
      await page.getByText(/^Connected to/).waitFor();
      await ask();
      await soon(async () => types(await seenIn(page))).toContain("@xstate.event delivery.sent");
      const seen = await seenIn(page);
      expect(types(seen)[0]).toBe("@xstate.actor");
      const definition = expect.stringContaining("states");
      expect(seen).toContainEqual(expect.objectContaining({ name: roomKey, definition }));
      expect(JSON.stringify(seen)).not.toContain(canary);
      expect(await page.locator(".shared").textContent()).toContain(
        `sent to the page of ${inspector.origin}`,
      );
      expect(await page.locator(".shared").textContent()).toContain(
        "without what people and agents write",
      );
      expect(page.url()).not.toContain(daemon.token);
    });

    test("hands over the words where its address asks for them, and says so", async () => {
      const page = await open(`?key=${encodeURIComponent(roomKey)}&words=1`);
      await page.getByText("What people and agents write is included.").waitFor();
      await page.getByText(/^Connected to/).waitFor();
      await ask();
      await soon(async () => JSON.stringify(await seenIn(page))).toContain(canary);
      expect(await page.locator(".shared").textContent()).toContain(roomKey);
    });

    test("after a restart of the daemon it goes on by itself", async () => {
      const page = await open();
      await page.getByText(/^Connected to/).waitFor();
      const port = Number(new URL(daemon.base).port);
      await daemon.stop({ drainMs: 0 });
      await page.getByText(/^(Connection lost|earshot is not responding)/).waitFor();
      await start(port);
      await page.getByText(/^Connected to/).waitFor();
      await ask();
      await soon(async () => types(await seenIn(page))).toContain("@xstate.event message.received");
    });

    test("an inspector that says nothing is said to, with the way to our own page", async () => {
      inspector.silent = true;
      const page = await open(`?key=${encodeURIComponent(roomKey)}`);
      await page
        .getByRole("heading", { name: "The Stately inspector is not responding" })
        .waitFor();
      const own = page.getByRole("link", { name: "Open the page of earshot" });
      expect(await own.getAttribute("href")).toBe(`/room/${encodeURIComponent(roomKey)}`);
      await ask();
      await own.click();
      await page.getByText("Live", { exact: true }).waitFor();
    });
  });

  describe("with a daemon that was said something to", () => {
    beforeAll(async () => {
      await startFresh();
      await aside();
    });

    test("an inspector that is loaded again begins with the rooms there are", async () => {
      const page = await open();
      await soon(async () => rooms(await seenIn(page))).toEqual([roomKey]);
      const frame = page.frames().find((one) => one.url() === inspector.url);
      await frame?.evaluate("location.reload()");
      await soon(async () => rooms(await seenIn(page))).toEqual([roomKey]);
    });

    test("a window of its own takes the frame's place", async () => {
      const page = await open();
      await soon(async () => rooms(await seenIn(page))).toEqual([roomKey]);
      const [popup] = await Promise.all([
        page.waitForEvent("popup"),
        page.getByRole("button", { name: "Open in a window" }).click(),
      ]);
      const inPopup = async () => rooms(await readIn(await popup.locator("body").textContent()));
      await soon(inPopup).toEqual([roomKey]);
      expect(await page.locator("#inspector").isVisible()).toBe(false);
    });

    test("without a network that is said at once", async () => {
      const page = await rig.open("about:blank");
      await page.addInitScript("Object.defineProperty(navigator, 'onLine', { get: () => false })");
      inspector.silent = true;
      await page.goto(`${daemon.base}/inspect#token=${daemon.token}`);
      await page.getByText("needs a network connection").waitFor({ timeout: 5_000 });
    });

    test("with an old token nothing is shown but how to get the new one", async () => {
      rig.forgive("401");
      const page = await open("", "x".repeat(40));
      await page.getByRole("heading", { name: "The token was replaced" }).waitFor();
      expect(await page.locator("#inspector").getAttribute("src")).toBeNull();
    });

    test("only the window we opened, of the site we opened, is given anything", async () => {
      inspector.silent = true;
      const page = await open();
      await page.getByText(/^Waiting for/).waitFor();
      await page.evaluate("window.postMessage({ type: '@statelyai.connected' }, '*')");
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))");
      expect(await page.locator("#status").textContent()).toMatch(/^Waiting for/);
    });

    test("its policy lets one foreign site into a frame and no foreign script at all", async () => {
      const answer = await fetch(`${daemon.base}/inspect`);
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain(`frame-src ${inspector.origin}`);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      const elsewhere = await fetch(`${daemon.base}/`);
      expect(elsewhere.headers.get("content-security-policy")).not.toContain("frame-src");
      expect((await fetch(`${daemon.base}/inspect.html`)).status).toBe(404);
    });
  });
});
