/** `earshot eval` as a user calls it: files, gzip, standard input, two configs, bad lines. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readLabelledRooms } from "../../../src/adapters/files/labelled-file.ts";
import { scoreLabelled } from "../../../src/daemon/quality/score-labelled.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { LabelledRoom } from "../../../src/domain/quality/labelled-room.ts";
import { parseLabelledRooms, scoreRooms } from "../../../src/testing/labelled-rooms.ts";
import { runCommand } from "../../support/built/command.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { kitchen, roomText } from "../../support/labelled-rooms.ts";

const folder = newFolder();
const file = (name: string, content: string | Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const oneShot = file("one-shot.json5", "{ engagement: { stickiness: { mode: 'one-shot' } } }");
const mentions = file("mentions.json5", "{ engagement: { activation: 'mention' } }");

async function earshot(args: readonly string[], input: string | Uint8Array = "") {
  const env = { HOME: folder, NO_COLOR: "1" };
  const { code, out, err } = await runCommand(["eval", ...args], { env, input });
  return { status: code, stdout: out, stderr: err };
}

describe("eval", () => {
  test("a file and zipped standard input give the same object, with exactly its fields", async () => {
    const args = ["--config", oneShot, "--json"];
    const found = await earshot([file("kitchen.jsonl", kitchen), ...args]);
    expect(found).toMatchObject({ status: 0, stderr: "" });
    const score = scoreRooms(parseLabelledRooms(kitchen), {
      engagement: { stickiness: { mode: "one-shot" } },
    });
    expect(JSON.parse(found.stdout)).toEqual(score);
    expect(Object.keys(JSON.parse(found.stdout))).toEqual([
      ...["rooms", "agents", "meant", "engaged", "right", "precision", "recall", "f1", "rules"],
    ]);
    expect(await earshot(["-", ...args], gzipSync(kitchen))).toEqual(found);
  });

  test("two configs are shown side by side, with each decision that differs", async () => {
    const rooms = file("rooms.jsonl", kitchen);
    const args = [rooms, "--config", oneShot, "--against", mentions];
    const { status, stdout } = await earshot(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(/precision +66\.7 % +100\.0 %/);
    expect(stdout).toMatch(/kitchen +5 +scout +engage by sticky +observe by default +now wrong/);
    expect(stdout).toMatch(/kitchen +9 +scout +engage by sticky +observe by default +now right/);
    const json = JSON.parse((await earshot([...args, "--json"])).stdout);
    expect(json).toMatchObject({ score: { engaged: 3 }, against: { engaged: 1 } });
    expect(json.differences).toContainEqual({
      room: "kitchen",
      agent: "scout",
      id: "5",
      before: { decision: "engage", rule: "sticky" },
      after: { decision: "observe", rule: "default" },
      meant: true,
    });
  });

  test("rows by rule or by room", async () => {
    const other = roomText({ room: "other", agents: ["x"] }, [{ by: "y" }, { by: "z", to: ["x"] }]);
    const rooms = file("two.jsonl", `${kitchen}\n${other}`);
    expect((await earshot([rooms])).stdout).toMatch(/^mention +2 +0 +0$/m);
    expect((await earshot([rooms, "--by", "room"])).stdout).toMatch(
      /^other +1 +2 +50\.0 % +100\.0 % +66\.7 %$/m,
    );
  });

  test("a bad line ends it with 2, is named, and nothing else is printed", async () => {
    const { status, stdout, stderr } = await earshot([
      file("bad.jsonl", `${kitchen}\n{"id":"x"}`),
      "--json",
    ]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("bad.jsonl, line 12: ");
  });

  test("a config that is none, and two rooms of one name, end it with 2", async () => {
    const rooms = file("kitchen2.jsonl", kitchen);
    const bad = file("bad.json5", "{ engagement: { stickiness: { mode: 'often' } } }");
    const { status, stderr } = await earshot([rooms, "--config", bad]);
    expect(status).toBe(2);
    expect(stderr).toContain("engagement.stickiness.mode");
    const twice = await earshot([rooms, rooms]);
    expect(twice.status).toBe(2);
    expect(twice.stderr).toContain("kitchen");
  });
});

describe("files of labelled rooms", () => {
  const read = async (path: string) => {
    const found: LabelledRoom[] = [];
    for await (const room of readLabelledRooms(path)) found.push(room);
    return found;
  };

  test("are read whether they are zipped or not, and whatever their name is", async () => {
    const rooms = parseLabelledRooms(kitchen);
    expect(await read(file("plain.gz", kitchen))).toEqual(rooms);
    expect(await read(file("zipped.jsonl", gzipSync(kitchen)))).toEqual(rooms);
  });

  test.each([
    ["nothing in it", "\n", "there is no room in it"],
    ["one byte", "{", "line 1: "],
    ["broken gzip", Buffer.from([0x1f, 0x8b, 1, 2, 3]), "Cannot read "],
    ["cut gzip", gzipSync(kitchen).subarray(0, 90), "Cannot read "],
  ])("with %s are refused by name", async (_what, content, why) => {
    const path = file("bad", content);
    await expect(read(path)).rejects.toMatchObject({ code: "EAR_SCENARIO_INVALID" });
    await expect(read(path)).rejects.toThrow(why);
    await expect(read(path)).rejects.toThrow(path);
  });

  test("that are not there are refused by name", async () => {
    const path = join(folder, "missing.jsonl");
    await expect(read(path)).rejects.toThrow(`Cannot read ${path}: `);
  });
});

test("many rooms on several threads have the score that one thread finds", async () => {
  const lines = Array.from({ length: 60 }, (_, index) => ({
    by: ["ann", "bob", "scout", "hilda"][(index * 7 + (index % 5)) % 4] ?? "ann",
    text: index % 9 === 0 ? "scout?" : "hm",
    ...(index % 6 === 0 ? { to: ["scout"] } : {}),
    ...(index > 3 ? { answers: [String(index - (index % 3))] } : {}),
  }));
  const texts = Array.from({ length: 12 }, (_, room) =>
    roomText({ room: `r${room}`, agents: ["scout", "hilda"] }, lines.slice(room)),
  );
  const rooms = parseLabelledRooms(texts.join("\n"));
  let done = 0;
  const onProgress = (count: number) => {
    done += count;
  };
  const scores = await scoreLabelled(rooms, scenarioConfig({}, {}), { threads: 2, onProgress });
  expect(scores.score).toEqual(scoreRooms(rooms));
  expect(scores.rooms.map(({ room }) => room)).toEqual(rooms.map(({ room }) => room));
  expect(done).toBe(rooms.reduce((sum, room) => sum + 2 * room.lines.length, 0));
});
