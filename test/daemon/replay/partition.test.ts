/** `earshot replay` on several real threads: the same output, whichever way it had to go. */
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { StrandPlanner } from "../../../src/actors/simulation/partition.ts";
import { openScenario, someLines } from "../../../src/adapters/files/scenario-file.ts";
import { Echo } from "../../../src/daemon/replay/line-deduper.ts";
import { replayFile } from "../../../src/daemon/replay/replay-file.ts";
import { type House, houses } from "../../sim/houses.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-threads-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function fileOf(house: House): string {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, `${house.map((line) => JSON.stringify(line)).join("\n\n")}\n`);
  return path;
}

function opened(path: string) {
  const planner = new StrandPlanner();
  return { file: openScenario(path, { onLine: (line) => planner.see(line) }), planner };
}

/** Everything that is told, and what was heard before it. */
async function replayed({ file, planner }: ReturnType<typeof opened>, threads?: number) {
  const told: string[] = [];
  const heard: string[] = [];
  const done: number[] = [];
  const again: string[] = [];
  const audience = {
    told: (json: string) => void told.push(json),
    heard: (line: object) => void heard.push(`${told.length} ${JSON.stringify(line)}`),
    progress: (lines: number) => void done.push(lines),
    again: (why: string) => void again.push(why),
  };
  const why = await replayFile(file, planner, { seed: 5, prompts: true, threads }, audience);
  return { told, heard: heard.filter((line) => line.includes('"in"')), done, again, why };
}

const slow = 120_000;

describe("a file on threads", () => {
  test(
    "tells what one thread tells, and when who was heard",
    async () => {
      const kinds = new Set<string>();
      for (const house of fc.sample(houses, { numRuns: 3, seed: 4 })) {
        const given = opened(fileOf(house));
        const alone = await replayed(given, 1);
        const together = await replayed(given, 2);
        expect(together.told).toEqual(alone.told);
        expect(alone.why).not.toBeNull();
        kinds.add(together.why === null ? "strands" : "one thread");
        if (together.why === null) expect(together.heard).toEqual(alone.heard);
      }
      expect([...kinds].sort()).toEqual(["one thread", "strands"]);
    },
    slow,
  );

  test(
    "goes on alone where slots run out on the way, and repeats nothing",
    async () => {
      const slowly = (n: number) => ({
        t: 0,
        agent: {
          key: `agent:main:irc:group:g${n}`,
          runs: [{ steps: [{ waitMs: 9_000 }, { text: "yes" }] }],
        },
      });
      const call = (t: number, n: number) => ({
        t,
        in: {
          channel: "irc",
          chat: { id: `g${n}`, kind: "group" },
          id: `m${t}-${n}`,
          author: { id: "ann" },
          text: "you?",
          mentions: [{ id: "self", isSelf: true }],
        },
      });
      const rooms = [0, 1, 2, 3, 4, 5, 6, 7];
      const given = opened(
        fileOf([
          { earshot: 1, config: { turn: { maxConcurrentTurns: 4 } } },
          ...rooms.map(slowly),
          ...rooms.slice(0, 4).map((n) => call(0, n)),
          ...rooms.slice(4).map((n) => call(5_000, n)),
        ]),
      );
      const alone = await replayed(given, 1);
      const together = await replayed(given, 2);
      expect(together.why).toBe("turns that wait for others");
      expect(together.again).toEqual([together.why]);
      expect(alone.again).toEqual([]);
      expect(together.told).toEqual(alone.told);
      expect(together.done.at(-1)).toBe(given.file.count);
    },
    slow,
  );

  test(
    "that is changed while it runs is refused as it is by one thread",
    async () => {
      const house = ["g1", "g2", "g3"].map((id, t) => ({
        t,
        in: {
          channel: "irc",
          chat: { id, kind: "group" },
          id: "m",
          author: { id: "a" },
          text: "x",
        },
      }));
      const path = fileOf(house);
      const given = opened(path);
      appendFileSync(path, "no line\n");
      await expect(replayed(given, 2)).rejects.toThrow(/:6: expected one JSON object/);
    },
    slow,
  );

  test("stays on one thread where it is short, and nobody said otherwise", async () => {
    const given = opened(fileOf([{ t: 0, end: true }]));
    expect((await replayed(given)).why).toBe("it is short");
  });
});

describe("some lines of a file", () => {
  const path = fileOf([
    { earshot: 1 },
    { t: 0, end: true },
    { t: 1, end: true },
    { t: 2, end: true },
  ]);

  test("are those that are wanted, with their places", () => {
    const { at } = openScenario(path);
    const read = (places: readonly number[]) =>
      [...someLines(at, (place) => places.includes(place))].map(([place, { t }]) => [place, t]);
    expect(read([0, 2])).toEqual([
      [0, 0],
      [2, 2],
    ]);
    expect(read([1])).toEqual([[1, 1]]);
    expect(read([])).toEqual([]);
  });

  test("the others are not parsed, and a bad one is named by its line", () => {
    const bad = join(folder, "bad.jsonl");
    writeFileSync(bad, '{"t":0,"end":true}\n{"t":1,"end":true}\n\n{"t":\n{"t":3,"end":true}\n');
    const at = { path: bad, source: "bad", stamp: openStamp(bad) };
    expect([...someLines(at, (place) => place === 3)].map(([place]) => place)).toEqual([3]);
    expect(() => [...someLines(at, (place) => place === 2)]).toThrow(/bad:4/);
    expect(() => [...someLines({ ...at, stamp: "" }, () => false)]).toThrow(/changed meanwhile/);
  });
});

/** The stamp that a file of that size and time has; the file itself need not be a scenario. */
function openStamp(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

describe("an echo", () => {
  const lines = ["a", "b", "c"];
  const play = (second: readonly string[]) => {
    const told: string[] = [];
    const echo = new Echo((json) => told.push(json));
    for (const line of lines) echo.first(line);
    echo.rewind();
    for (const line of second) echo.again(line);
    return { told, end: () => echo.end() };
  };

  test("tells what is new, and nothing twice", () => {
    const { told, end } = play([...lines, "d", "e"]);
    end();
    expect(told).toEqual([...lines, "d", "e"]);
  });

  test.each([
    ["other lines", ["a", "x", "c", "d"]],
    ["fewer lines", ["a", "b"]],
    ["lines cut otherwise", ["a", "b\nc", ""]],
  ])("ends with an error where the second run tells %s", (_what, second) => {
    const { told, end } = play(second);
    expect(end).toThrow(/EAR_ASSERT|several threads/);
    expect(told).toEqual(lines);
  });
});
