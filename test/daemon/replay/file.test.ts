/** A scenario from a file, a piece at a time: the same as from memory, and checked each time it is read. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openScenario } from "../../../src/adapters/files/scenario-file.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import type { Scenario } from "../../../src/domain/scenario/scenario.ts";
import { type ManyRooms, manyRooms } from "../../sim/many-rooms.ts";
import { play, printed } from "../../support/replay/replay.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function fileOf(lines: ManyRooms): string {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n\n")}\n`);
  return path;
}

/** What is printed, what was heard before how many lines of that, and how far it was meanwhile. */
async function replayed(scenario: Scenario) {
  const lines: object[] = [];
  const heard: (readonly [number, unknown])[] = [];
  const done: number[] = [];
  await simulateScenario(scenario, {
    seed: 5,
    prompts: true,
    onLine: (line) => lines.push(line),
    onInput: (line) => heard.push([lines.length, line]),
    onProgress: (count) => void done.push(count),
  });
  return { lines, heard, done };
}

describe("a file", () => {
  test("tells what its lines tell, in as many runs as are asked for", async () => {
    for (const lines of fc.sample(manyRooms, { numRuns: 3, seed: 4 })) {
      const scenario = openScenario(fileOf(lines));
      const first = await replayed(scenario);
      const fromMemory = await play(lines, { seed: 5, prompts: true });
      expect(first.lines.map((line) => `${JSON.stringify(line)}\n`).join("")).toBe(
        printed(fromMemory),
      );
      expect(await replayed(scenario)).toEqual(first);
      expect(first.done).toEqual(Array.from({ length: scenario.count }, (_, n) => n + 1));
    }
  });

  test("says what is heard before what follows from it", async () => {
    const call = (t: number, id: string) => ({
      t,
      in: {
        channel: "irc",
        chat: { id: "g", kind: "group" },
        id,
        author: { id: "ann" },
        text: "you?",
        mentions: [{ id: "self", isSelf: true }],
      },
    });
    const { lines, heard } = await replayed(
      openScenario(fileOf([call(0, "m1"), call(9_000, "m2")])),
    );
    const decided = (id: string) =>
      lines.findIndex((line) => "id" in line && line.id === id && "decision" in line);
    expect(heard.map(([at]) => at)).toEqual([decided("m1"), decided("m2")]);
  });

  test("that is changed while it is replayed is refused with the line that is wrong", async () => {
    const path = fileOf([0, 1, 2].map((t) => ({ t, end: true })));
    const scenario = openScenario(path);
    appendFileSync(path, "no line\n");
    await expect(replayed(scenario)).rejects.toThrow(/:6: expected one JSON object/);
  });
});
