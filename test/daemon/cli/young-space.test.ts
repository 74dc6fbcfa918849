/** The room for young objects: how it grows, and what begins in it. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { builtFile } from "../../support/built/files.ts";
import { rounds } from "../../support/rounds.ts";

const module = JSON.stringify(builtFile("test/young-space"));

test("it is held while a program is loaded, and grows under load afterwards", () => {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { holdYoungSpace, releaseYoungSpace } from ${module};
    const size = () => getHeapSpaceStatistics().find((one) => one.space_name === "new_space").space_size;
    function work() {
      let kept = [];
      for (let n = 0; n < 300_000; n += 1) {
        kept.push({ n, list: [n] });
        if (kept.length > 50_000) kept = kept.slice(25_000);
      }
      return kept.length;
    }
    const sizes = [];
    holdYoungSpace();
    sizes.push(size());
    work();
    sizes.push(size());
    releaseYoungSpace();
    work();
    sizes.push(size());
    console.log(JSON.stringify(sizes));`;
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
  });
  expect(ended.stderr).toBe("");
  const [first = 0, held = 0, released = 0] = JSON.parse(ended.stdout) as number[];
  expect(held).toBeLessThanOrEqual(first * 2);
  expect(released).toBeGreaterThan(held * 2);
});

test("objects begin young, also after a rush in which all of them lived long", () => {
  // Without it the first rush, or one soon after, makes them old.
  const rushes = rounds(20, 100);
  const code = (begin: string) => `
    import { beginYoung } from ${module};
    ${begin}
    const isYoung = new Function("it", "return %InYoungGeneration(it)");
    const kept = new Array(100_000).fill(null);
    const made = (n) => ({ n, list: [n, n, n, n], name: { n } });
    function rush() {
      for (let n = 0; n < kept.length; n += 1) kept[n] = made(n);
      return isYoung(made(0));
    }
    let rounds = 0;
    while (rush() && rounds < ${rushes}) rounds += 1;
    console.log(rounds);`;
  const youngFor = (begin: string) => {
    const flags = ["--allow-natives-syntax", "--max-semi-space-size=4", "--input-type=module"];
    const ended = spawnSync(process.execPath, [...flags, "-e", code(begin)], { encoding: "utf8" });
    expect(ended.stderr).toBe("");
    return Number(ended.stdout);
  };
  expect(youngFor("beginYoung();")).toBe(rushes);
  // V8 decides by what lived at its collections, so not in each process.
  expect([1, 2, 3, 4, 5].some(() => youngFor("") < rushes)).toBe(true);
});
