/** A thread that has little in use gives its garbage back when asked; one that has much keeps its own pace. */
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
    collectStartGarbage();
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
