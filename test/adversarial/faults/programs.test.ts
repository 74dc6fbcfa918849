/**
 * Programs of agents when what started them dies: a worker thread, or the whole process. The
 * program here ignores every signal that can be ignored and has a child that does the same.
 */

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { alive, running } from "../../support/agents/alive.ts";
import { builtFile, builtUrl } from "../../support/built/files.ts";
import { inTurn } from "../../support/rounds.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const support = join(import.meta.dirname, "../../support/agents");
const program = join(support, "command-agent.mjs");
const patience = { timeout: 60_000, interval: 50 };
let file: string;

beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), "earshot-programs-")), "pids");
});

/** Each program that was started, and its child. */
const started = (): number[][] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(" ").map(Number))
    : [];
const firstPids = async (): Promise<number[]> => {
  await expect.poll(started, patience).not.toEqual([]);
  return started()[0] as number[];
};

function runtimeOn(workers: number): Runtime {
  const send = async () => ({ messageIds: ["p1"] });
  const driver = { kind: "command", command: process.execPath, args: [program, "stubborn", file] };
  return createRuntime({
    ...systemPorts(),
    store: createTestStore(),
    config: scenarioConfig({
      agents: { defaults: { driver } },
      messages: { ackReaction: "", inbound: { debounceMs: 5, debounceMaxMs: 20 } },
    }),
    drivers,
    hostModule: builtUrl("adapters/host-ports").href,
    directory: readyDirectory(send),
    events: createRuntimeEvents(() => undefined),
    workers,
  });
}

const greet = (runtime: Runtime) => {
  const chat = { id: "ann", kind: "direct" };
  const message = inboundSchema.parse({
    channel: "telegram",
    id: "m1",
    author: { id: "ann" },
    text: "hello",
    chat,
  });
  return runtime.ingest("telegram", "default", [{ type: "message", message }]);
};

describe("programs of agents", () => {
  test("end with the worker thread that was using them, and are collected", async () => {
    const runtime = runtimeOn(1);
    await runtime.start();
    try {
      await greet(runtime);
      const pids = await firstPids();
      expect(pids.filter(running)).toEqual(pids);
      await runtime.crashHost();
      await expect.poll(() => pids.filter(running), patience).toEqual([]);
      // Not even as a zombie: the main thread is its parent.
      await expect.poll(() => alive(pids[0] as number), patience).toBe(false);
    } finally {
      await runtime.stop();
    }
    await expect.poll(() => started().flat().filter(running), patience).toEqual([]);
  });

  test.each(inTurn([0, 1], 0))("end when the runtime stops (%i workers)", async (workers) => {
    const runtime = runtimeOn(workers);
    await runtime.start();
    await greet(runtime);
    const pids = await firstPids();
    await runtime.stop({ drainMs: 0 });
    await expect.poll(() => pids.filter(running), patience).toEqual([]);
    await expect.poll(() => alive(pids[0] as number), patience).toBe(false);
  });

  test("all end when the process that started them is killed without a chance to act", async () => {
    const owner = spawn(process.execPath, [builtFile("test/owner"), program, file], {
      stdio: "ignore",
    });
    await expect.poll(started, patience).toHaveLength(2);
    const pids = started().flat();
    expect(pids.filter(running)).toEqual(pids);
    owner.kill("SIGKILL");
    await expect.poll(() => pids.filter(running), patience).toEqual([]);
  });
});
