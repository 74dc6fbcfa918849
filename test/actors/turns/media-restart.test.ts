/**
 * Between fetching and answering: a restart, a retry and a slow photo, with real files, real
 * programs and a real worker. Nothing is fetched or converted twice, and nothing is lost.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inTurn } from "../../support/rounds.ts";
import { program, tempFolder } from "../../support/runtime/media-service.ts";
import { openMediaWorld } from "../../support/runtime/media-world.ts";
import { sampleFiles } from "../../support/servers/media.ts";

const { png } = sampleFiles;

/** A converter that notes each of its runs, and takes its time. */
function countingLook(slowMs = 0) {
  const log = join(tempFolder(), "runs");
  const code =
    `require('fs').appendFileSync(${JSON.stringify(log)}, 'x');` +
    `setTimeout(() => console.log('a green hat'), ${slowMs})`;
  return {
    image: { kind: "command", ...program(code) },
    runs: () => (existsSync(log) ? readFileSync(log, "utf8").length : 0),
  };
}
/** How many readings of the converter are kept for the next start. */
function keptReadings(folder: string): number {
  const media = join(folder, "media");
  if (!existsSync(media)) return 0;
  const files = readdirSync(media, { recursive: true, encoding: "utf8" });
  return files
    .filter((name) => name.endsWith(".json"))
    .filter((name) => readFileSync(join(media, name), "utf8").includes("a green hat")).length;
}

const photo = { id: "f1", kind: "image" as const };

describe("a restart and a slow file", () => {
  test.each(inTurn([0, 1], 0))(
    "a restart between fetch and turn converts nothing twice and answers once, workers %i",
    async (workers) => {
      const look = countingLook();
      const world = await openMediaWorld({
        workers,
        files: { f1: png },
        config: {
          media: { image: look.image },
          messages: { inbound: { debounceMs: 120_000, debounceMaxMs: 120_000 } },
        },
      });
      // One of an album: it waits for the others.
      await world.say("", { groupId: "g1", attachments: [photo] });
      const notes = () => world.rig.service && world.prompts().length;
      await world.until(() => keptReadings(world.folder) === 1, "reading of the converter");
      expect(notes()).toBe(0);
      await world.stop();
      delete world.files.f1;
      await world.start({ aheadMs: 120_000 });
      await world.until(() => world.sent.length === 1, "answer");
      expect(world.prompts().at(-1)).toMatch(/description:\n +a green hat/);
      expect(look.runs()).toBe(1);
      expect(world.rig.fetched()).toBe(0);
    },
  );

  test.each(inTurn([0, 1], 1))(
    "a slow photo between two texts: answered in order, each with its own, workers %i",
    async (workers) => {
      const look = countingLook(1_200);
      const world = await openMediaWorld({
        workers,
        files: { f1: png },
        config: { media: { image: look.image }, messages: { queue: { mode: "queue" } } },
      });
      await world.say("said before");
      await world.say("", { attachments: [photo] });
      await world.say("said after");
      await world.until(() => world.sent.length === 3, "three answers");
      const words = world
        .prompts()
        .map((text) => text.match(/said before|said after|a green hat/g)?.join());
      expect(words).toEqual(["said before", "a green hat", "said after"]);
      expect(world.sent.every(({ chat }) => chat === "ann")).toBe(true);
      expect(look.runs()).toBe(1);
    },
  );
});

test("a turn that is tried again after its host died is told the same, converted once", async () => {
  const look = countingLook();
  const world = await openMediaWorld({
    workers: 1,
    files: { f1: png },
    config: { media: { image: look.image } },
    driver: { kind: "odd" },
  });
  // The first turn of a thread loads its agents: the second is where it should be.
  await world.ask("nap");
  await world.say("nap", { attachments: [photo] });
  await world.until(() => world.prompts().length === 2, "prompt");
  await new Promise((resolve) => setTimeout(resolve, 250));
  await world.runtime.crashHost();
  await world.until(() => world.sent.length === 2, "answer");
  expect(world.sent.at(-1)?.text).toBe("napped, try 2");
  expect(world.prompts()).toHaveLength(3);
  for (const prompt of world.prompts().slice(1)) expect(prompt).toContain("a green hat");
  expect(look.runs()).toBe(1);
  expect(world.rig.fetched()).toBe(1);
});
