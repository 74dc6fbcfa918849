/**
 * Commands against a whole daemon, on disk and with a worker: a page's operator is an owner, the
 * answer reaches the page once, and what was set outlives the daemon.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { version } from "../../../src/daemon/state/package-files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";

const stateDir = newFolder();
let daemon: Daemon;
const start = () =>
  startDaemon({ stateDir, port: 0, workers: 1, env: {}, writeLog: () => undefined });
beforeAll(async () => {
  daemon = await start();
});
afterAll(() => daemon.stop());

test("are answered on the page, kept from the agent, and last over a restart", async () => {
  const page = await openPage(daemon.base, daemon.token);
  await page.wait("ready");
  const id = page.say("/status");
  const card = await page.wait("said", ({ text }) => text.includes("Loop guard: clear"));
  expect(card.text).toContain(`earshot ${version}`);
  page.say("/think high", "twice");
  page.say("/think high", "twice");
  page.say("/config get server.host");
  await page.wait("said", ({ text }) => text.includes('"127.0.0.1"'));
  expect(page.of("said").filter(({ text }) => text === "Thinking: high.")).toHaveLength(1);
  expect(page.of("decided").find((one) => one.id === id)).toMatchObject({ decision: "command" });
  // A page shows a line as on its way until its acknowledgement.
  expect([...new Set(page.of("taken").map(({ text }) => text))]).toEqual([
    "/status",
    "/think high",
    "/config get server.host",
  ]);
  expect(page.of("turn")).toEqual([]);
  page.close();
  await daemon.stop();
  daemon = await start();
  const again = await openPage(daemon.base, daemon.token);
  await again.wait("ready");
  again.say("/think");
  const levels = () => again.of("said").filter(({ text }) => text === "Thinking: high.");
  await again.wait("said", () => levels().length === 2);
  again.close();
});
