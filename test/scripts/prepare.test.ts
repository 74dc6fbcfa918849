/**
 * What the commands of a checkout share: they install and build one at a time, as two daemons that start
 * together on a fresh clone would else build into each other's files.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

describe("commands of one checkout", () => {
  /** A checkout with the script alone, and a command that counts in a file as long as it is its turn. */
  function checkout() {
    const root = mkdtempSync(join(tmpdir(), "earshot-prepare-"));
    mkdirSync(join(root, "scripts"));
    const script = new URL("../../scripts/prepare.mjs", import.meta.url);
    copyFileSync(script, join(root, "scripts", "prepare.mjs"));
    const command = join(root, "scripts", "command.mjs");
    const count = join(root, "count");
    const text = `
      import { readFileSync, writeFileSync } from "node:fs";
      import { waitForTurn } from "./prepare.mjs";
      const unlock = waitForTurn();
      const before = Number(readFileSync(${JSON.stringify(count)}, "utf8"));
      if (process.argv[2] === "hang") {
        process.stdout.write("mine");
        setInterval(() => {}, 1_000);
      } else {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
        writeFileSync(${JSON.stringify(count)}, String(before + 1));
        unlock();
      }`;
    writeFileSync(command, text);
    writeFileSync(count, "0");
    const start = (...args: string[]) => {
      const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", 2] });
      const ended = new Promise((done) => child.once("exit", done));
      return { child, ended };
    };
    return { root, start, counted: () => Number(readFileSync(count, "utf8")) };
  }

  test("that start at once take turns, and leave no lock", async () => {
    const { root, start, counted } = checkout();
    const codes = await Promise.all([1, 2, 3, 4].map(() => start().ended));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(counted()).toBe(4);
    expect(existsSync(join(root, ".preparing"))).toBe(false);
  });

  test("wait for one that is at work, and no longer when it was killed", async () => {
    const { start, counted } = checkout();
    const first = start("hang");
    await new Promise((done) => first.child.stdout?.once("data", done));
    const second = start();
    let isOver = false;
    void second.ended.then(() => {
      isOver = true;
    });
    // Longer than it takes to start and count, wherever the other is at work.
    await new Promise((done) => setTimeout(done, 500));
    expect([isOver, counted()]).toEqual([false, 0]);
    first.child.kill("SIGKILL");
    expect([await first.ended, await second.ended]).toEqual([null, 0]);
    expect(counted()).toBe(1);
  });
});
