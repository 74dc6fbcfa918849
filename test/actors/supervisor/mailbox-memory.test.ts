/**
 * What went through the mailbox is young garbage: it does not outlive the next collections of young objects,
 * however long the mailbox itself has been there.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const module = JSON.stringify(resolve(root, "src/actors/supervisor/mailbox.ts"));

/** Bytes that a process has made old while 100,000 events of 500 bytes passed `box`. */
function madeOld(box: string): number {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { Mailbox } from ${module};
    class Plain {
      #waiting = new Map();
      push(entry) { this.#waiting.set(entry.seq, entry); }
      take(max) { for (const seq of [...this.#waiting.keys()].slice(0, max)) this.#waiting.delete(seq); }
    }
    const old = () =>
      getHeapSpaceStatistics().find((one) => one.space_name === "old_space").space_used_size;
    const box = new ${box}();
    const say = (seq) =>
      box.push({ conv: seq % 50, key: "k", seq, cfg: 1, event: { at: seq, list: new Array(50).fill(seq) } });
    for (let seq = 1; seq <= 5; seq += 1) say(seq);
    gc();
    gc();
    const before = old();
    let grown = 0;
    for (let seq = 6; seq <= 100_005; seq += 1) {
      say(seq);
      if (seq % 10 === 5) box.take(10);
      if (seq % 1_000 === 5) grown = Math.max(grown, old() - before);
    }
    console.log(grown);`;
  const flags = ["--expose-gc", "--max-semi-space-size=2", "--no-allocation-site-pretenuring"];
  const args = [...flags, "--import", "tsx", "--input-type=module", "-e", code];
  const ended = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  expect([ended.status, ended.stderr]).toEqual([0, ""]);
  return Number(ended.stdout);
}

test("events that were taken do not become old", () => {
  expect(madeOld("Mailbox")).toBeLessThan(1_000_000);
});

test("in a map that stays the same, every other one would", () => {
  expect(madeOld("Plain")).toBeGreaterThan(3_000_000);
});
