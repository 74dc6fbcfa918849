/** The room for young objects stays small while it is held, and grows when it was released. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const module = JSON.stringify(resolve(root, "src/daemon/cli/lib/young-space.ts"));

test("it is held while a program is loaded, and grows under load afterwards", () => {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { holdYoungSpace, releaseYoungSpace } from ${module};
    const size = () => getHeapSpaceStatistics().find((one) => one.space_name === "new_space").space_size;
    function work() {
      let kept = [];
      for (let n = 0; n < 600_000; n += 1) {
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
  const ended = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", code],
    { cwd: root, encoding: "utf8" },
  );
  expect(ended.stderr).toBe("");
  const [first = 0, held = 0, released = 0] = JSON.parse(ended.stdout) as number[];
  expect(held).toBeLessThanOrEqual(first * 2);
  expect(released).toBeGreaterThan(held * 2);
});
