/** A thread that has little in use gives its garbage back when asked, and what it compiled; one with work does not. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const module = JSON.stringify(resolve(root, "src/actors/util/start-garbage.ts"));

/** What a process of its own prints; `held` is in use in it. */
function printed(held: string, ...flags: string[]): string {
  const code = `
    import { setImmediate } from "node:timers/promises";
    import { collectStartGarbage } from ${module};
    const held = ${held};
    const refs = Array.from({ length: 100 }, () => new WeakRef({}));
    await setImmediate();
    collectStartGarbage(true);
    await setImmediate();
    const gone = refs.filter((ref) => ref.deref() === undefined).length;
    console.log(gone, typeof globalThis.gc, held.length > 0);`;
  const given = ["--import", "tsx", ...flags, "--input-type=module", "-e", code];
  const ended = spawnSync(process.execPath, given, { cwd: root, encoding: "utf8" });
  expect([ended.status, ended.stderr]).toEqual([0, ""]);
  return ended.stdout.trim();
}

test("garbage of a start is collected, and nobody sees how", () => {
  expect(printed("[1]")).toBe("100 undefined true");
});

test("it is collected also where V8 was told to offer it", () => {
  expect(printed("[1]", "--expose-gc")).toBe("100 function true");
});

test("a thread with much in use is not made to wait for it", () => {
  const much = "Array.from({ length: 1_000_000 }, (_, n) => ({ n, text: String(n) }))";
  expect(printed(much)).toBe("0 undefined true");
});

/** Bytes of compiled code in a process of its own: before, after, when it ran again, and after once more. */
function compiledIn(isIdle: boolean) {
  const code = `
    import { setImmediate } from "node:timers/promises";
    import { getHeapCodeStatistics } from "node:v8";
    import { collectStartGarbage } from ${module};
    const size = () => getHeapCodeStatistics().bytecode_and_metadata_size;
    const text = "let sum = n;" + "sum += Math.sqrt(n) * 3 - sum % 7;".repeat(1_000) + "return sum;";
    const made = Array.from({ length: 20 }, () => new Function("n", text));
    const before = made.map((run) => run(2)).join();
    const compiled = size();
    await setImmediate();
    collectStartGarbage(${isIdle});
    const kept = size();
    const isSame = before === made.map((run) => run(2)).join();
    console.log(JSON.stringify({ compiled, kept, again: size(), isSame }));`;
  const given = ["--import", "tsx", "--input-type=module", "-e", code];
  const ended = spawnSync(process.execPath, given, { cwd: root, encoding: "utf8" });
  expect(ended.stderr).toBe("");
  return JSON.parse(ended.stdout) as {
    readonly [what in "compiled" | "kept" | "again"]: number;
  } & { readonly isSame: boolean };
}

test("what an idle thread compiled is let go of, and runs again", () => {
  const { compiled, kept, again, isSame } = compiledIn(true);
  expect(isSame).toBe(true);
  expect(kept).toBeLessThan(compiled / 2);
  expect(again).toBeGreaterThan(kept);
});

test("a busy thread keeps what it compiled", () => {
  const { compiled, kept } = compiledIn(false);
  expect(kept).toBeGreaterThan(compiled / 2);
});

test("whether a thread is busy is what it did since its start", () => {
  const code = `
    import { setImmediate } from "node:timers/promises";
    import { getHeapCodeStatistics } from "node:v8";
    import { afterStart } from ${module};
    const text = "let sum = n;" + "sum += Math.sqrt(n) * 3 - sum % 7;".repeat(1_000) + "return sum;";
    const made = Array.from({ length: 20 }, () => new Function("n", text));
    const size = () => getHeapCodeStatistics().bytecode_and_metadata_size;
    const kept = async (turns, use) => {
      await setImmediate();
      for (const run of made) run(2);
      const rest = afterStart();
      for (let n = 0; n < turns; n += 1) await use();
      const before = size();
      rest();
      return size() / before;
    };
    let sum = 0;
    const work = async () => {
      for (let n = 0; n < 1_000_000; n += 1) sum += Math.sqrt(n);
      await setImmediate();
    };
    const wait = () => new Promise((next) => setTimeout(next, 500));
    const busy = await kept(50, work);
    // On a busy machine a thread may seem to work while it waits for a core.
    let idle = 1;
    for (let n = 0; n < 20 && idle > 0.5; n += 1) idle = await kept(1, wait);
    console.log(JSON.stringify([busy, idle]));`;
  const given = ["--import", "tsx", "--input-type=module", "-e", code];
  const ended = spawnSync(process.execPath, given, { cwd: root, encoding: "utf8" });
  expect(ended.stderr).toBe("");
  const [busy = 0, idle = 0] = JSON.parse(ended.stdout) as number[];
  expect(busy).toBeGreaterThan(0.5);
  expect(idle).toBeLessThan(0.5);
});
