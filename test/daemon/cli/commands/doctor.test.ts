/**
 * `earshot doctor` and `earshot token rotate` as commands, beside a daemon that runs: each danger is
 * a line with its path, what was said in a room is among them, and a new token shuts the old one out.
 */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../../support/built/command.ts";
import { messageBody, openHookDaemon } from "../../../support/daemon/hook-daemon.ts";

function earshot(stateDir: string, ...args: string[]) {
  const env = { HOME: stateDir, EARSHOT_STATE_DIR: stateDir, NO_COLOR: "1" };
  return runCommand(args, { env });
}

test("doctor names what the config and the rooms give away, and rotate shuts the old token out", async () => {
  const door = await openHookDaemon({
    access: { dmPolicy: "open" },
    store: { driver: "memory" },
    log: { showText: true },
  });
  const { stateDir, token } = door.daemon;
  const json = { "content-type": "application/json" };
  const body = messageBody("m1", "hello", { chat: { id: "d", kind: "direct" } });
  await door.api("/api/inbound", { method: "POST", headers: json, body });
  await door.daemon.runtime.settled();
  const key = encodeURIComponent("agent:main:main");
  const changed = await door.api(`/api/sessions/${key}`, {
    method: "PATCH",
    headers: json,
    body: JSON.stringify({ elevated: "full", exec: { security: "full" } }),
  });
  expect(changed.status).toBe(200);

  const { code, out } = await earshot(stateDir, "doctor", "--offline", "--json");
  expect(code, out).toBe(0);
  const findings = JSON.parse(out) as { check: string; state: string; says: string }[];
  const warned = findings.filter(({ state }) => state === "warning");
  expect(warned.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      ...["access.dmPolicy", "session.dmScope", "store.driver", "log.showText"],
      "agent:main:main",
    ]),
  );
  const ofSession = warned.filter(({ check }) => check === "agent:main:main");
  expect(ofSession.map(({ says }) => says).join()).toMatch(/elevated off.*exec security=deny/);
  expect(out).not.toContain("a-hook-secret");

  const rotated = await earshot(stateDir, "token", "rotate", "--json");
  expect(rotated.code).toBe(0);
  const fresh = readFileSync(join(stateDir, "token"), "utf8").trim();
  expect(JSON.parse(rotated.out)).toEqual({
    file: join(stateDir, "token"),
    page: `${door.daemon.base}/#token=${fresh}`,
  });
  expect(fresh).not.toBe(token);
  expect((await door.api("/api/status")).status).toBe(401);
  const authorization = `Bearer ${fresh}`;
  expect((await door.api("/api/status", { headers: { authorization } })).status).toBe(200);
});

test("a config with secrets in it that others may read is wrong, and doctor says so", async () => {
  const door = await openHookDaemon();
  const path = join(door.daemon.stateDir, "earshot.json5");
  chmodSync(path, 0o644);
  const { code, out } = await earshot(door.daemon.stateDir, "doctor", "--offline");
  expect(code).toBe(1);
  expect(out).toContain(`chmod 600 ${path}`);
});

test("rotate without a daemon says where the new token stands, and refuses an unsafe directory", async () => {
  const door = await openHookDaemon();
  const { stateDir } = door.daemon;
  await door.daemon.stop();
  const alone = await earshot(stateDir, "token", "rotate");
  expect(alone.code).toBe(0);
  expect(alone.out).toContain("no daemon is running");
  expect(alone.out).not.toContain(readFileSync(join(stateDir, "token"), "utf8").trim());
  chmodSync(stateDir, 0o755);
  const unsafe = await earshot(stateDir, "token", "rotate");
  expect(unsafe.code).toBe(2);
  expect(unsafe.err).toContain("chmod 700");
  chmodSync(stateDir, 0o700);
});
