/**
 * Not a letter of the silent token is ever seen. The mistake: the token is looked for in the whole
 * answer, or in pieces of at least two letters, while its beginning has already been streamed into
 * the room, or has made the bot look like it is typing.
 */
import { describe, expect, test } from "vitest";
import { World } from "../support/runtime/world.ts";

const token = "NO_REPLY";
const silences: Readonly<Record<string, readonly string[]>> = {
  whole: [token],
  "letter by letter": [...token],
  "in two halves": ["NO_", "REPLY"],
  "with its first letter alone": ["N", "O_REPLY"],
  "after white space": [" ", "\n", "NO_RE", "PLY"],
  "in lower case": [..."no_reply"],
  "with an end mark": [...`${token}.`],
  "said twice": [...`${token}\n${token}`],
  "as a JSON string": [...`"${token}"`],
  "as an action": [...`{"action":"${token}"}`],
};
const streams = ["off", "block", "draft"] as const;

async function said(mode: string, deltas: readonly string[]) {
  const world = await new World({
    config: {
      stream: { mode, minChars: 1, maxChars: 32, coalesceIdleMs: 0 },
      typing: { mode: "message" },
    },
  }).start();
  // Slowly, so that whatever is held back by size or time would have left.
  const steps = deltas.flatMap((text) => [{ text }, { waitMs: 3_000 }]);
  world.runs.push({ afterMs: 0, steps });
  await world.say("go", { direct: true });
  await world.pass(300_000);
  return world;
}

describe.each(streams)("in stream mode %s", (mode) => {
  test.each(Object.entries(silences))("the token %s leaves no trace", async (_, deltas) => {
    const world = await said(mode, deltas);
    expect(world.sent).toEqual([]);
    expect(world.edited).toEqual([]);
    expect(world.typing).toEqual([]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "silent" }]);
  });

  test("behind a real answer it is taken off", async () => {
    const world = await said(mode, ["All is well.", "\n\n", ...token]);
    expect(world.shown().map((text) => text.trim())).toEqual(["All is well."]);
    for (const { text } of [...world.sent, ...world.edited]) expect(text).not.toMatch(/N$|NO/);
  });

  test.each(["No, not today", "NO_", "NO_REPLYING is no word", "N", '{"action":"go"}'])(
    "what only begins like it is said whole: %s (the twin)",
    async (text) => {
      const world = await said(mode, [...text]);
      const squeeze = (words: string) => words.replace(/\s+/g, " ");
      expect(squeeze(world.shown().join(" "))).toBe(text);
      expect(world.typing).toContain(true);
    },
  );
});
