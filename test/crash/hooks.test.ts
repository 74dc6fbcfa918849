/**
 * Posts to a hook across kill -9: what was answered 200 is there after the restart, once, and what
 * was not answered may be posted again, by the same signature.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { builtMain } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { hookChannels, kitchen, messageBody, signed } from "../support/daemon/hook-daemon.ts";
import { rounds } from "../support/rounds.ts";

const workers = ["--workers", String(rounds(0, 1))];
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

async function start(stateDir: string) {
  const args = ["start", "--state-dir", stateDir, "--port", "0", ...workers];
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const child = spawn(process.execPath, [...childFlags, builtMain, ...args], {
    env,
    stdio: [...stdio],
  });
  running.add(child);
  const closed = once(child, "close");
  await once(child.stdout as NodeJS.ReadableStream, "data");
  // On a busy machine it may not answer at once.
  let daemon = await findDaemon(stateDir);
  while (daemon === null && child.exitCode === null) daemon = await findDaemon(stateDir);
  if (daemon === null) throw new Error("it did not start");
  return { child, closed, ...daemon };
}

interface Post {
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

const post = ({ body, headers }: Post, base: string) =>
  fetch(`${base}${kitchen}`, { method: "POST", body, headers }).then(
    ({ status }) => status,
    () => 0,
  );

test("what was answered before kill -9 is there once, and the rest may be posted again", async () => {
  const stateDir = newFolder();
  const config = { engagement: { activation: "mention" }, channels: hookChannels };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const first = await start(stateDir);
  const posts = Array.from({ length: 120 }, (_, n): Post => {
    const body = messageBody(`k-${n}`);
    return { id: `k-${n}`, body, headers: signed(body) };
  });
  const acked = new Set<string>();
  const waiting = [...posts];
  const poster = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if ((await post(next, first.base)) === 200) acked.add(next.id);
      if (acked.size === 50) first.child.kill("SIGKILL");
    }
  };
  await Promise.all([1, 2, 3, 4, 5, 6].map(poster));
  await first.closed;
  expect(acked.size).toBeGreaterThanOrEqual(50);
  expect(acked.size).toBeLessThan(posts.length);

  // Nothing kills this one, so it runs here.
  const how = { port: 0, workers: 0, env: {}, logLevel: "fatal" } as const;
  const second = await startDaemon({ stateDir, ...how });
  onTestFinished(() => second.stop({ drainMs: 0 }));
  const heard = async (id: string) => (await second.runtime.why(id)).length;
  expect(await Promise.all([...acked].map(heard))).toEqual([...acked].map(() => 1));
  // The poster cannot know what was taken without an answer: it posts all of them again.
  const again = await Promise.all(posts.map((one) => post(one, second.base)));
  expect(again).toEqual(posts.map(() => 200));
  const counts = await Promise.all(posts.map(({ id }) => heard(id)));
  expect(counts).toEqual(posts.map(() => 1));
});
