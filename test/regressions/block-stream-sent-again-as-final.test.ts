/**
 * What was streamed block by block is not sent once more as the whole answer. The mistake: the
 * final text is delivered beside the blocks, or recognised as sent by comparing words, which a
 * block cut differently defeats. Here the offsets in the answer say what was sent.
 */
import { describe, expect, test } from "vitest";
import { World } from "../support/runtime/world.ts";

const sentences = Array.from({ length: 30 }, (_, n) => `Sentence number ${n} of the answer. `);
const answer = sentences.join("").trim();
const squeeze = (text: string) => text.replace(/\s+/g, " ").trim();

async function answered(stream: Record<string, unknown>, deltas: readonly string[], ms = 0) {
  const world = await new World({ config: { stream } }).start();
  const steps = deltas.flatMap((text) => (ms === 0 ? [{ text }] : [{ text }, { waitMs: ms }]));
  world.runs.push({ afterMs: 0, steps });
  await world.say("go", { direct: true });
  await world.pass(120_000);
  return world;
}

describe.each([
  ["as it comes", sentences, 400],
  ["all at once", [answer], 0],
  ["letter by letter", [...answer], 5],
] as const)("an answer that is streamed %s", (_, deltas, ms) => {
  test.each(["text_end", "message_end"])("with a break at %s is said once", async (at) => {
    const mode = { mode: "block", break: at, minChars: 100, maxChars: 200 };
    const world = await answered(mode, deltas, ms);
    expect(world.sent.length).toBeGreaterThan(3);
    expect(squeeze(world.sent.map(({ text }) => text).join(" "))).toBe(squeeze(answer));
  });

  test("in one message that grows is shown once", async () => {
    const world = await answered({ mode: "draft" }, deltas, ms);
    expect(world.shown().map(squeeze)).toEqual([squeeze(answer)]);
  });

  test("without streaming is one message (the twin)", async () => {
    const world = await answered({ mode: "off" }, deltas, ms);
    expect(world.sent.map(({ text }) => squeeze(text))).toEqual([squeeze(answer)]);
  });
});

test("blocks that were sent before a crash are not sent again by the turn's second try", async () => {
  const mode = { mode: "block", minChars: 100, maxChars: 200 };
  const world = await new World({ config: { stream: mode } }).start();
  const steps = sentences.flatMap((text) => [{ text }, { waitMs: 400 }]);
  world.runs.push({ afterMs: 0, steps }, { afterMs: 0, steps });
  await world.say("go", { direct: true });
  await world.pass(9_000);
  const before = world.sent.length;
  expect(before).toBeGreaterThan(1);
  await world.restart();
  await world.pass(120_000);
  const texts = world.sent.map(({ text }) => text).filter((text) => text.startsWith("Sentence"));
  expect(new Set(texts).size).toBe(texts.length);
  expect(world.events("agent_end")).toHaveLength(1);
});
