/**
 * The machine's clock is set while somebody waits for an answer: back and forward by an hour, during
 * the debounce and again during the turn. The answer comes as if nothing had happened. The clock is
 * that of libfaketime, which a file sets for the whole process; the monotonic one is left alone.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "vitest";
import { builtMain } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { openPage } from "../support/daemon/page.ts";
import { inTurn } from "../support/rounds.ts";

/** In the folder of the machine's architecture; Debian's package `libfaketime` has it. */
const library = (existsSync("/usr/lib") ? readdirSync("/usr/lib") : [])
  .map((folder) => join("/usr/lib", folder, "faketime/libfaketimeMT.so.1"))
  .find((path) => existsSync(path));
const debounceMs = 2_000;
const turnMs = 2_000;

/** A daemon whose wall clock `set` moves by seconds, in a new folder or that of one before. */
async function daemonWithClock(
  workers: number,
  { onTestFinished }: TestContext,
  folder = newFolder(),
) {
  const stateDir = join(folder, "state");
  const clock = join(folder, "clock");
  const set = (seconds: number) => writeFileSync(clock, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  if (!existsSync(clock)) set(0);
  const steps = [{ waitMs: turnMs }, { text: "answer" }];
  const config = {
    agents: {
      list: [{ id: "main", driver: { kind: "scripted", runs: [{ steps }, { steps }, { steps }] } }],
    },
    messages: { inbound: { debounceMs } },
  };
  const file = join(folder, "earshot.json5");
  writeFileSync(file, JSON.stringify(config));
  const args = ["start", "--config", file, "--state-dir", stateDir, "--port", "0"];
  const child = spawn(
    process.execPath,
    [...childFlags, builtMain, ...args, "--workers", String(workers)],
    {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        NO_COLOR: "1",
        LD_PRELOAD: library ?? "",
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        DONT_FAKE_MONOTONIC: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  child.stderr.on("data", (data) => {
    output += String(data);
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  });
  const address = await new Promise<URL>((found, ended) => {
    child.stdout.on("data", (data) => {
      const page = /http:\S+/.exec(String(data))?.[0];
      if (page !== undefined) found(new URL(page));
    });
    child.on("close", () => ended(new Error(`it ended: ${output}`)));
  });
  const token = readFileSync(join(stateDir, "token"), "utf8").trim();
  const page = await openPage(address.origin, token);
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
  return { page, set, folder, kill, log: () => output };
}

type ClockDaemon = Awaited<ReturnType<typeof daemonWithClock>>;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

// Most of it is waiting, so all wait at the same time.
test
  .skipIf(library === undefined)
  .concurrent.for([
    ...inTurn([0, 1], 0).map((workers) => ["back", -3_600, workers] as const),
    ...inTurn([0, 1], 1).map((workers) => ["forward", 3_600, workers] as const),
  ])(
  "a clock that is set %s by an hour (%i s) holds no answer up, nor one that is set back before a restart (workers: %i)",
  async ([_, step, workers], context) => {
    const { expect } = context;
    const daemon = await daemonWithClock(workers, context);
    const { page, set, log } = daemon;
    const asked = performance.now();
    page.say("hello");
    await pause(debounceMs / 2);
    set(step);
    await page.wait("turn", ({ state }) => state === "start");
    await pause(turnMs / 2);
    set(2 * step);
    expect((await page.wait("said")).text, log()).toBe("answer");
    const tookMs = performance.now() - asked;
    expect(tookMs).toBeGreaterThan(0.85 * (debounceMs + turnMs));
    // The conversation goes on.
    page.say("and now?");
    await expect.poll(() => page.of("said").length, { timeout: 20_000 }).toBe(2);
    expect(log()).not.toContain("expired");
    if (step < 0) await isRestarted(daemon, 3 * step, context);
  },
);

/** A clock that is set back before a restart holds no answer up either. */
async function isRestarted(daemon: ClockDaemon, at: number, context: TestContext): Promise<void> {
  daemon.page.say("and after a kill?");
  await pause(debounceMs / 2);
  await daemon.kill();
  daemon.set(at);
  const { page, log } = await daemonWithClock(0, context, daemon.folder);
  const answers = () => page.of("said").map(({ text }) => text);
  await context.expect
    .poll(answers, { timeout: 20_000, message: log() })
    .toEqual(["answer", "answer", "answer"]);
}
