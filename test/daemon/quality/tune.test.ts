/** `earshot tune`: what it finds, that it finds the same again, and that it writes only with --write. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configWith } from "../../../src/daemon/quality/apply-edits.ts";
import { decisionsToTune, type Tuned, tune } from "../../../src/daemon/quality/tune.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { isBetter, measures, type Target } from "../../../src/domain/quality/folds.ts";
import { parseLabelledRooms, scoreRooms } from "../../../src/testing/labelled-rooms.ts";
import { runCommand } from "../../support/built/command.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { roomText } from "../../support/labelled-rooms.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { talkRoom } from "../../support/talk-rooms.ts";

const folder = newFolder();
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const rooms = file("home.jsonl", talkRoom("home", 10));

async function earshot(...args: readonly string[]) {
  const env = { HOME: folder, NO_COLOR: "1", COLUMNS: "200" };
  const { code, out, err } = await runCommand(args, { env });
  return { status: code, stdout: out, stderr: err };
}

const oneShot = file("one-shot.json5", '{ engagement: { stickiness: { mode: "one-shot" } } }');

describe("on one room of 60 labels", () => {
  test("it finds the name that people use and better stickiness, and says what changes", async () => {
    const { status, stdout, stderr } = await earshot(
      "tune",
      rooms,
      "--config",
      oneShot,
      "--want",
      "f1",
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("by blocks of time");
    expect(stdout).toMatch(/^config +\d+\.\d % ± +\d+\.\d +\d/m);
    expect(stdout).toMatch(/^1 +(9\d|100)\.\d % ± +\d\.\d +100\.0 % ± +0\.0 +(9\d|100)\.\d % /m);
    expect(stdout).toMatch(/^held out +\d/m);
    expect(stdout).toMatch(/^- agents\.list\[0\]\.aliases: \[\]\n\+ .*"kitchenbot"/m);
    expect(stdout).toMatch(
      /^- engagement\.stickiness\.(windowMs|mode|threshold): .*\n\+ engagement\.s/m,
    );
    expect(stdout).toMatch(/home +7 +scout +observe by \S+ +engage by alias +now right/);
  });

  test("--json is one object with the same numbers, and the same for the same seed", async () => {
    const call = ["tune", rooms, "--config", oneShot, "--json"];
    const args = [...call, "--want", "precision=0.9", "--seed", "7"];
    const { status, stdout } = await earshot(...args);
    expect(status).toBe(0);
    const found = JSON.parse(stdout);
    expect(Object.keys(found)).toEqual([
      ...["want", "seed", "folds", "config", "best", "heldOut", "judge", "differences"],
    ]);
    expect(found).toMatchObject({ want: { precision: 0.9 }, seed: 7, folds: "blocks of time" });
    expect(found.best[0]).toMatchObject({ recall: { mean: 1, spread: 0 } });
    expect(found.best[0].precision.mean).toBeGreaterThan(found.config.precision.mean + 0.2);
    expect(found.heldOut.precision.mean).toBeGreaterThanOrEqual(0.9);
    expect(found.best[0].changes).toContainEqual({
      path: "agents.list[0].aliases",
      before: [],
      after: ["kitchenbot"],
    });
    expect((await earshot(...args)).stdout).toBe(stdout);
  });

  test("--write changes the file, keeps the old one, and eval says the same of the new one", async () => {
    const text =
      '{\n  // ours\n  agents: { list: [{ id: "main", name: "scout" }] },\n' +
      '  engagement: { stickiness: { mode: "one-shot" } },\n}\n';
    const config = file("mine.json5", text);
    const before = await earshot("tune", rooms, "--config", config, "--want", "f1");
    expect(readFileSync(config, "utf8")).toBe(text);
    expect(existsSync(`${config}.bak`)).toBe(false);
    const written = await earshot("tune", rooms, "--config", config, "--want", "f1", "--write");
    expect(written).toEqual({
      status: 0,
      stdout: before.stdout,
      stderr: `earshot: ${config} is changed; the old one is kept as ${config}.bak\n`,
    });
    expect(readFileSync(`${config}.bak`, "utf8")).toBe(text);
    expect(readFileSync(config, "utf8")).toContain("// ours");
    const score = JSON.parse((await earshot("eval", rooms, "--config", config, "--json")).stdout);
    expect(score).toMatchObject({ recall: 1 });
    expect(score.precision).toBeGreaterThan(0.9);
    const again = await earshot("tune", rooms, "--config", config, "--want", "f1", "--write");
    expect(again.stdout).toContain("Nothing that was tried is clearly better than the config.");
    expect(again.stderr).toBe("");
    expect(existsSync(`${config}.bak2`)).toBe(false);
  });
});

describe("what it refuses", () => {
  const unheard = file(
    "unheard.jsonl",
    roomText({ room: "r", agents: ["scout"] }, [
      { by: "ann", text: "scout?", to: ["scout"], meant: [] },
      { by: "ann", text: "scout!", to: ["scout"], meant: ["scout"] },
      { by: "ann", text: "hm", meant: ["scout"] },
      { by: "bob", text: "hm", meant: [] },
    ]),
  );
  test("a target that nothing reaches: 1, with the nearest", async () => {
    const { status, stdout, stderr } = await earshot("tune", unheard, "--want", "precision=0.9");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/Cannot reach precision 0\.9: the nearest is 0\.\d{3} \(recall 1\.000/);
  });

  test.each([
    [["--want", "speed=1"], "Expected precision=0.9"],
    [["--want", "precision"], "Expected precision=0.9"],
    [["--want", "recall=1.2"], "Expected precision=0.9"],
    [["--want", "f1", "--seed", "-1"], "Expected a whole number"],
    [["--want", "f1", "--write"], "no config file is given"],
    [[], "--want"],
  ])("a usage error: %j", async (args, why) => {
    const { status, stdout, stderr } = await earshot("tune", rooms, ...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(why);
  });

  test("rooms in which nothing is meant for an agent, and bad lines", async () => {
    const none = file(
      "none.jsonl",
      roomText({ room: "r", agents: ["scout"] }, [{ by: "ann", meant: [] }]),
    );
    const { status, stderr } = await earshot("tune", none, "--want", "f1");
    expect(status).toBe(2);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("no line of the rooms is meant for an agent");
    const bad = await earshot("tune", file("bad.jsonl", "{"), "--want", "f1");
    expect(bad.status).toBe(2);
    expect(bad.stderr).toContain("line 1");
  });
});

const people = ["ann", "bob", "scout", "hilda"];
const line = fc.record({
  by: fc.constantFrom(...people),
  text: fc.constantFrom("hm", "scout?", "hey bot, well", "bot: hm", "bob: yes", "ok"),
  gapMs: fc.constantFrom(1_000, 50_000, 200_000, 4_000_000),
  isMeant: fc.boolean(),
  answers: fc.nat(5),
});
const roomTexts = fc
  .array(fc.array(line, { minLength: 8, maxLength: 24 }), { minLength: 1, maxLength: rounds(3, 7) })
  .map((all) =>
    all
      .map((lines, room) => {
        let at = 0;
        const rows = lines.map(({ by, text, gapMs, isMeant, answers }, index) => {
          at += gapMs;
          return {
            by,
            text,
            at,
            answers: [String(Math.max(1, index - answers))],
            meant: isMeant || index === 0 ? ["scout"] : [],
          };
        });
        return roomText({ room: `r${room}`, agents: ["scout"] }, [{ by: "ann", at: 0 }, ...rows]);
      })
      .join("\n"),
  );
const targets: fc.Arbitrary<Target> = fc.record({
  measure: fc.constantFrom(...measures),
  atLeast: fc.constantFrom(null, 0.5, 0.9),
});
const given = fc.constantFrom(
  {},
  { engagement: { stickiness: { enabled: false } } },
  { engagement: { stickiness: { mode: "sliding", windowMs: 77_000 } } },
  { agents: { list: [{ id: "main", aliases: ["bot"] }] } },
  { agents: { list: [{ id: "x", engagement: { stickiness: { windowMs: 5_000 } } }] } },
);
const isMeantForScout = (text: string) => /"meant":\["scout"\]/u.test(text);

property([roomTexts, targets, given, fc.nat({ max: 9 })], { numRuns: rounds(1, 12) })(
  "the best is never below the given config, is the same again, and is what its config scores",
  async (text, target, input, seed) => {
    fc.pre(isMeantForScout(text));
    const all = parseLabelledRooms(text);
    const config = scenarioConfig({}, input);
    const run = async (): Promise<Tuned | null> => {
      try {
        return await tune(all, config, { target, seed });
      } catch (error) {
        // Every meant line is one of the agent's own.
        expect(String(error)).toContain("no line of the rooms is meant");
        return null;
      }
    };
    const tuned = await run();
    fc.pre(tuned !== null);
    expect(await run()).toEqual(tuned);
    const [best] = tuned.best;
    expect(isBetter(target, tuned.given.measured, best.measured)).toBe(false);
    for (const { edits } of tuned.best) {
      const after = configWith(config, edits);
      for (const { path } of edits) expect(path.length).toBeGreaterThan(2);
      const measured = (await tune(all, after, { target, seed })).given.measured;
      expect(measured).toEqual(tuned.best.find((one) => one.edits === edits)?.measured);
    }
  },
);

test("progress ends where it was said to end, and threads find the same", async () => {
  const sizes = [2, 3, 4].slice(0, rounds(2, 3));
  const all = parseLabelledRooms(sizes.map((n) => talkRoom(`r${n}`, n)).join("\n"));
  const config = scenarioConfig({}, {});
  const target = { measure: "f1", atLeast: null } as const;
  let done = 0;
  const alone = await tune(all, config, {
    target,
    seed: 1,
    onProgress: (decisions) => {
      done += decisions;
    },
  });
  expect(done).toBeGreaterThanOrEqual(decisionsToTune(all, config));
  expect(await tune(all, config, { target, seed: 1, threads: 2 })).toEqual(alone);
  const [best] = alone.best;
  expect(scoreRooms(all, configWith(config, best.edits)).f1).toBeGreaterThan(scoreRooms(all).f1);
});

describe("a small gain is not proposed", () => {
  /** Ann goes on after so many seconds, in each room. */
  const talks = (afterSeconds: readonly number[]) =>
    parseLabelledRooms(
      afterSeconds
        .map((seconds, room) =>
          roomText({ room: `r${room}`, agents: ["scout"] }, [
            { by: "bob", at: 0, text: "good morning", meant: [] },
            { by: "ann", at: 0, text: "scout: what is for lunch?", meant: ["scout"] },
            { by: "scout", at: 3_000, text: "soup", answers: ["2"], meant: [] },
            { by: "ann", at: 3_000 + seconds * 1_000, text: "and after?", meant: ["scout"] },
            { by: "bob", at: 900_000, text: "who took the car", meant: [] },
          ]),
        )
        .join("\n"),
    );
  const config = scenarioConfig(
    {},
    { engagement: { stickiness: { mode: "one-shot", windowMs: 60_000 } } },
  );
  const editsFor = async (afterSeconds: readonly number[]) => {
    const target = { measure: "f1", atLeast: null } as const;
    const { best, given } = await tune(talks(afterSeconds), config, { target, seed: 1 });
    const [{ edits }, ...others] = best;
    const isHigher = others.some(({ measured }) => isBetter(target, measured, given.measured));
    return { edits: edits.map(({ path, after }) => `${path.at(-1)} ${after}`), isHigher };
  };

  test("when one room alone gains by it", async () => {
    const one = await editsFor([70, 20, 20, 20, 20, 20]);
    expect(one).toEqual({ edits: [], isHigher: true });
  });

  test("and the smallest change is, when all rooms do", async () => {
    const { edits } = await editsFor([70, 70, 70, 70, 70, 70]);
    expect(edits).toEqual(["windowMs 120000"]);
  });
});
