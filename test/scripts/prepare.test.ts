/**
 * What the commands of a checkout share: they install and build one at a time, as two daemons that start
 * together on a fresh clone would else build into each other's files. A lock that a killed command left is taken once.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/** Loaded first, it stops a command right before the first file that it deletes, until there is a file "go". */
const stopsBeforeDeleting = `
  const fs = require("node:fs");
  const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  let isFirst = true;
  for (const name of ["rmSync", "unlinkSync"]) {
    const real = fs[name];
    fs[name] = (...args) => {
      if (isFirst) fs.writeSync(1, "deletes");
      isFirst = false;
      while (!fs.existsSync("go")) pause();
      return real(...args);
    };
  }
  require("node:module").syncBuiltinESMExports();
`;

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
    const slow = join(root, "slow.cjs");
    writeFileSync(slow, stopsBeforeDeleting);
    const start = (as: "quick" | "hang" | "slow" = "quick") => {
      const args = [...(as === "slow" ? ["--require", slow] : []), command, as];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", 2], cwd: root });
      const ended = new Promise((done) => child.once("exit", done));
      const said = new Promise((done) => child.stdout?.once("data", (text) => done(String(text))));
      return { child, ended, said };
    };
    return { root, start, counted: () => Number(readFileSync(count, "utf8")) };
  }

  test("that start at once take turns, and leave no lock", async () => {
    const { root, start, counted } = checkout();
    const codes = await Promise.all([1, 2, 3, 4].map(() => start().ended));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(counted()).toBe(4);
    expect(readdirSync(root).filter((name) => name.startsWith(".preparing"))).toEqual([]);
  });

  test("wait for one that is at work, and no longer when it was killed", async () => {
    const { start, counted } = checkout();
    const first = start("hang");
    await first.said;
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

  test("that find the lock of one that was killed do not take it from each other", async () => {
    const { root, start, counted } = checkout();
    const killed = start("hang");
    await killed.said;
    killed.child.kill("SIGKILL");
    await killed.ended;
    const slow = start("slow");
    // It has seen that nobody is at work any more.
    expect(await slow.said).toBe("deletes");
    const quick = start("hang");
    expect(await quick.said).toBe("mine");
    writeFileSync(join(root, "go"), "");
    let isOver = false;
    void slow.ended.then(() => {
      isOver = true;
    });
    // Longer than it takes to delete and count.
    await new Promise((done) => setTimeout(done, 500));
    expect([isOver, counted()]).toEqual([false, 0]);
    quick.child.kill("SIGKILL");
    expect([await quick.ended, await slow.ended]).toEqual([null, 0]);
    expect(counted()).toBe(1);
    expect(readdirSync(root).filter((name) => name.startsWith(".preparing"))).toEqual([]);
  });

  test("that come in a crowd after one was killed are at work one at a time", async () => {
    const { root, start, counted } = checkout();
    const killed = start("hang");
    await killed.said;
    const crowd = [1, 2, 3, 4, 5, 6].map(() => start().ended);
    killed.child.kill("SIGKILL");
    expect(await Promise.all(crowd)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(counted()).toBe(6);
    expect(readdirSync(root).filter((name) => name.startsWith(".preparing"))).toEqual([]);
  });
});

test("dist is built again when what builds it is newer", () => {
  const root = mkdtempSync(join(tmpdir(), "earshot-prepare-"));
  for (const folder of ["src", "web", "dist", "scripts/build"])
    mkdirSync(join(root, folder), { recursive: true });
  const script = new URL("../../scripts/prepare.mjs", import.meta.url);
  copyFileSync(script, join(root, "scripts/prepare.mjs"));
  // Stands for the build.
  writeFileSync(
    join(root, "scripts/build.mjs"),
    `import { writeFileSync } from "node:fs"; writeFileSync("dist/.built", ""); console.log("built");`,
  );
  writeFileSync(join(root, "scripts/build/bundle.mjs"), "");
  const command = join(root, "scripts/command.mjs");
  writeFileSync(command, `import { ensureBuilt } from "./prepare.mjs"; ensureBuilt();`);
  const said = () => spawnSync(process.execPath, [command], { encoding: "utf8" }).stderr;
  expect(said()).toContain("built");
  expect(said()).toBe("");
  const later = Date.now() / 1_000 + 5;
  utimesSync(join(root, "scripts/build/bundle.mjs"), later, later);
  expect(said()).toContain("built");
});
