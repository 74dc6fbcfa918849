/**
 * A disk that is full, for real: the state directory is a small tmpfs, filled up to the last byte while
 * people write. Mounting one needs root; elsewhere the same holds of a store that reports a full disk
 * (test/crash/store-faults.test.ts).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { builtMain } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";

const patience = { timeout: 60_000, interval: 50 };
const disk = join(newFolder(), "disk");
mkdirSync(disk);
let isMounted = false;
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  }
  if (isMounted) spawnSync("umount", ["-l", disk]);
});

/** Writes until nothing more fits, then byte by byte. */
function fill(path: string): void {
  for (const size of [65_536, 4_096, 64, 1])
    for (;;) {
      try {
        appendFileSync(path, Buffer.alloc(size, 1));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
        break;
      }
    }
}

async function start() {
  const stateDir = join(disk, "state");
  mkdirSync(stateDir, { mode: 0o700, recursive: true });
  const module = join(stateDir, "echo.mjs");
  writeFileSync(
    module,
    'export default async function* (turn) { yield { type: "text", text: "re " + turn.said }; }',
  );
  const config = {
    agents: { list: [{ id: "main", driver: { kind: "module", module } }] },
    session: { dmScope: "per-peer" },
    messages: { inbound: { debounceMs: 0 } },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const args = ["start", "--state-dir", stateDir, "--port", "0", "--workers", "1"];
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const child = spawn(process.execPath, [builtMain, ...args, "--log-format", "json"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.add(child);
  let log = "";
  child.stderr?.on("data", (data) => {
    log += String(data);
  });
  await expect.poll(() => findDaemon(stateDir), patience).not.toBeNull();
  const { base, token } = (await findDaemon(stateDir)) ?? { base: "", token: "" };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const get = async <Answer>(path: string) =>
    (await (await fetch(base + path, { headers })).json()) as Answer;
  const ready = async () => (await fetch(`${base}/readyz`)).status;
  await expect.poll(ready, patience).toBe(200);
  return {
    child,
    stateDir,
    get,
    ready,
    logged: () => log,
    /** Its status, and the code of a refusal. */
    async say(id: string): Promise<readonly [number, string | null]> {
      const body = {
        id,
        chat: { id: `p${id}`, kind: "direct" },
        author: { id: `p${id}` },
        text: id,
      };
      const url = `${base}/api/inbound`;
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      const read = (await answer.json()) as { error?: { code?: string } | string; code?: string };
      const code = typeof read.error === "object" ? read.error.code : (read.code ?? read.error);
      return [answer.status, answer.ok ? null : String(code)];
    },
    async answers(): Promise<readonly string[]> {
      const { outbound } = await get<{ outbound: readonly { text: string }[] }>("/api/outbound");
      return outbound.map(({ text }) => text).sort();
    },
  };
}

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

test.skipIf(process.platform !== "linux")(
  "a full disk is refused and said, nothing is lost or said twice, and room on it is enough",
  async ({ skip }) => {
    const mounting = ["-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs", disk];
    isMounted = spawnSync("mount", mounting).status === 0;
    skip(!isMounted, "only root can mount a disk");
    const daemon = await start();
    const early = names(0, 5);
    for (const id of early) expect(await daemon.say(id)).toEqual([200, null]);
    await expect.poll(daemon.answers, patience).toEqual(early.map((id) => `re ${id}`));

    fill(join(disk, "filler"));
    const refused: string[] = [];
    const taken = [...early];
    // The log of the database may have room for a few more.
    for (const id of names(5, 400)) {
      const [status, code] = await daemon.say(id);
      if (status === 200) taken.push(id);
      else {
        expect([status, code]).toEqual([503, "EAR_STORE_FULL"]);
        refused.push(id);
      }
      if (refused.length >= 5) break;
    }
    expect(refused).toHaveLength(5);
    expect(await daemon.ready()).toBe(503);
    const status = await daemon.get<{ problem: string; store: { failing: boolean } }>(
      "/api/status",
    );
    expect([status.problem, status.store.failing]).toEqual([
      expect.stringContaining("disk is full"),
      true,
    ]);
    const { needs } = await daemon.get<{ needs: readonly { title: string; meaning: string }[] }>(
      "/api/needs",
    );
    expect(JSON.stringify(needs)).toMatch(/disk is full/);

    rmSync(join(disk, "filler"));
    await expect.poll(daemon.ready, patience).toBe(200);
    for (const id of refused) expect(await daemon.say(id)).toEqual([200, null]);
    // What was refused was not stored: it is new, and answered as all that was taken, once each.
    const all = [...taken, ...refused].map((id) => `re ${id}`).sort();
    await expect.poll(daemon.answers, patience).toEqual(all);
    const failing = daemon.logged().match(/"store\.failing"/g) ?? [];
    expect(failing).toHaveLength(1);
    expect(daemon.logged()).toContain('"store.working"');
    daemon.child.kill("SIGTERM");
    expect((await once(daemon.child, "close"))[0]).toBe(0);

    // Exit code 2 would mean that another start fails as well (RestartPreventExitStatus).
    fill(join(disk, "filler"));
    const again = spawnSync(process.execPath, [builtMain, "start", "--state-dir", daemon.stateDir]);
    expect(JSON.parse(String(again.stderr))).toMatchObject({
      code: "EAR_STORE_FULL",
      error: `Cannot write into ${daemon.stateDir}: the disk is full. Free some space, then start again.`,
    });
    expect(again.status).toBe(1);
    rmSync(join(disk, "filler"));
    const last = await start();
    expect(await last.say("last")).toEqual([200, null]);
    await expect.poll(last.answers, patience).toEqual(["re last"]);
  },
);
