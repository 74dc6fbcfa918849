/**
 * Transcripts on a real disk: whole lines or none, torn ends cut, names that lead nowhere else, and
 * nothing for anybody but the owner.
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSessionFiles } from "../../../src/adapters/files/session-files.ts";
import type { SessionFiles } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";

const file = { agentId: "main", sessionId: "01JD00000000000000000000AA" } as const;
const line = (id: number, text = "hello") => JSON.stringify({ id, text });
let root = "";
let files: SessionFiles;
let path = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "earshot-sessions-"));
  files = createSessionFiles((agentId) => join(root, "agents", agentId, "sessions"));
  path = join(root, "agents", "main", "sessions", `${file.sessionId}.jsonl`);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a transcript file", () => {
  test("is made with its folders, for its owner only", async () => {
    await files.append(file, [line(1), line(2)]);
    await files.append(file, [line(3)]);
    expect(readFileSync(path, "utf8")).toBe(`${line(1)}\n${line(2)}\n${line(3)}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const folder of ["agents", "agents/main", "agents/main/sessions"])
      expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700);
    expect(await files.lastLine(file)).toBe(3);
  });

  test("is made again with its folder where somebody has removed that", async () => {
    async function* parts() {
      yield "{}\n";
    }
    await files.append(file, [line(1)]);
    rmSync(join(root, "agents"), { recursive: true });
    expect(await files.lastLine(file)).toBe(0);
    await files.append(file, [line(1), line(2)]);
    expect(readFileSync(path, "utf8")).toBe(`${line(1)}\n${line(2)}\n`);
    rmSync(join(root, "agents"), { recursive: true });
    await files.writeIndex("main", parts());
    expect(await files.indexHead("main")).toBe("{}");
  });

  test("that is not there has no last line, and is not made by asking", async () => {
    expect(await files.lastLine(file)).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test("loses the lines behind the last one that is known", async () => {
    await files.append(file, [line(1), line(2), line(5), line(6)]);
    expect(await files.lastLine(file, 4)).toBe(2);
    expect(readFileSync(path, "utf8")).toBe(`${line(1)}\n${line(2)}\n`);
    expect(await files.lastLine(file, 0)).toBe(0);
    expect(readFileSync(path, "utf8")).toBe("");
  });

  const torn = [
    '{"id":4,"te',
    '{"id":4,"text":"whole but without an end"}',
    "\u0000\u0000\u0000\n",
  ];

  test.each(torn)("loses its torn end (%j) and nothing else", async (end) => {
    await files.append(file, [line(1), line(3)]);
    appendFileSync(path, end);
    expect(await files.lastLine(file)).toBe(3);
    expect(readFileSync(path, "utf8")).toBe(`${line(1)}\n${line(3)}\n`);
  });

  property([fc.array(fc.nat({ max: 200_000 }), { minLength: 1, maxLength: 5 }), fc.nat()], {
    numRuns: 30,
  })("cut at any byte comes back to its last whole line", async (lengths, seed) => {
    rmSync(join(root, "agents"), { recursive: true, force: true });
    const fresh = createSessionFiles((agentId) => join(root, "agents", agentId, "sessions"));
    const lines = lengths.map((length, index) => line(index + 1, "é".repeat(length)));
    await fresh.append(file, lines);
    const whole = readFileSync(path);
    const kept = seed % (whole.length + 1);
    writeFileSync(path, whole.subarray(0, kept));
    let sum = 0;
    const ends = lines.map((one) => {
      sum += Buffer.byteLength(one) + 1;
      return sum;
    });
    const last = ends.filter((end) => end <= kept).length;
    expect(await fresh.lastLine(file)).toBe(last);
    expect(statSync(path).size).toBe(ends[last - 1] ?? 0);
  });
});

describe("an index", () => {
  async function* parts(...texts: string[]) {
    yield* texts;
  }

  test("is replaced as a whole, and an unfinished one leaves the old", async () => {
    expect(await files.indexHead("main")).toBeNull();
    await files.writeIndex("main", parts("first\n", "rest"));
    expect(await files.indexHead("main")).toBe("first");
    const failing = async function* () {
      yield "second\n";
      throw new Error("the store went away");
    };
    await expect(files.writeIndex("main", failing())).rejects.toMatchObject({
      code: "EAR_STORE_FAILED",
    });
    expect(await files.indexHead("main")).toBe("first");
    await files.writeIndex("main", parts("third\n"));
    expect(readdirSync(join(root, "agents", "main", "sessions"))).toEqual(["index.json"]);
  });
});

describe("what somebody laid in the way", () => {
  const sessions = () => join(root, "agents", "main", "sessions");

  test("a link instead of the file is not followed", async () => {
    mkdirSync(sessions(), { recursive: true, mode: 0o700 });
    const target = join(root, "target");
    writeFileSync(target, "untouched", { mode: 0o600 });
    symlinkSync(target, path);
    await expect(files.append(file, [line(1)])).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
    await expect(files.lastLine(file)).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
    symlinkSync(target, join(sessions(), "index.json.new"));
    await expect(files.writeIndex("main", (async function* () {})())).rejects.toThrow();
    expect(readFileSync(target, "utf8")).toBe("untouched");
  });

  test("a link instead of the folder is refused", async () => {
    mkdirSync(join(root, "agents", "main"), { recursive: true, mode: 0o700 });
    mkdirSync(join(root, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(root, "elsewhere"), sessions());
    await expect(files.append(file, [line(1)])).rejects.toMatchObject({ code: "EAR_STATE_UNSAFE" });
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  });

  test("a folder or a file that others may use is refused, and taken again once it is mended", async () => {
    mkdirSync(sessions(), { recursive: true });
    chmodSync(sessions(), 0o755);
    await expect(files.append(file, [line(1)])).rejects.toMatchObject({ code: "EAR_STATE_UNSAFE" });
    chmodSync(sessions(), 0o700);
    await files.append(file, [line(1)]);
    chmodSync(path, 0o666);
    await expect(files.append(file, [line(2)])).rejects.toMatchObject({ code: "EAR_STATE_UNSAFE" });
    chmodSync(path, 0o600);
    await files.append(file, [line(2)]);
    expect(await files.lastLine(file)).toBe(2);
  });

  const names = [
    "../x",
    "..",
    "",
    "a/b",
    "a\\b",
    "a%2fb",
    "a\u0000b",
    "x".repeat(65),
    "index.json",
  ];

  test.each(names)("the name %j makes no path", async (name) => {
    for (const odd of [
      { agentId: "main", sessionId: name },
      ...(name === "index.json" ? [] : [{ agentId: name, sessionId: file.sessionId }]),
    ])
      await expect(files.append(odd, [line(1)])).rejects.toMatchObject({
        code: "EAR_STATE_UNSAFE",
      });
    const made = existsSync(join(root, "agents")) ? readdirSync(join(root, "agents")) : [];
    expect(made.filter((one) => one !== "main")).toEqual([]);
  });
});

test("what the file system refuses is told as something to try again", async () => {
  writeFileSync(join(root, "agents"), "a file where a folder should be");
  await expect(files.append(file, [line(1)])).rejects.toMatchObject({
    code: "EAR_STORE_FAILED",
    disposition: "retry",
  });
});
