/** `/bash` on a whole daemon: a real shell in the agent's folder, which ends with the daemon. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a command line runs in the agent's folder, and ends with the daemon", async () => {
  const stateDir = newFolder();
  const workspace = join(stateDir, "agents", "main");
  mkdirSync(workspace, { recursive: true });
  const config = join(stateDir, "earshot.json5");
  const commands = { bash: true, ownerAllowFrom: ["webhook:ann"] };
  writeFileSync(config, JSON.stringify({ commands }), { mode: 0o600 });
  const how = { port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
  const daemon = await startDaemon({ stateDir, config, ...how });
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${daemon.base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
    });
  const chat = { id: "ann", kind: "direct" };
  const say = (id: string, text: string) =>
    api("/api/inbound", {
      method: "POST",
      body: JSON.stringify({ channel: "webhook", chat, id, author: { id: "ann" }, text }),
    });
  await say("1", "/bash pwd");
  await expect
    .poll(async () => JSON.stringify(await (await api("/api/outbound")).json()))
    .toContain(workspace);
  await say("2", "/bash echo $$ > pid; sleep 100");
  const pidOf = () => Number(readFileSync(join(workspace, "pid"), "utf8"));
  await expect.poll(() => pidOf()).toBeGreaterThan(0);
  const pid = pidOf();
  expect(isAlive(pid)).toBe(true);
  await daemon.stop({ drainMs: 0 });
  await expect.poll(() => isAlive(pid)).toBe(false);
});
