/**
 * Two equal blocks in a row are two blocks. The mistake, and the opposite of sending a block again:
 * doubles are recognised by their words, so the second of two equal pieces of code is swallowed.
 */
import { expect, test } from "vitest";
import { World } from "../support/runtime/world.ts";

const fence = "```sh\nnpm test\n```";
const squeeze = (text: string) => text.replace(/\n+/g, "\n").trim();

async function answered(
  stream: Record<string, unknown>,
  steps: readonly ({ text: string } | { messageEnd: true } | { waitMs: number })[],
) {
  const world = await new World({ config: { stream } }).start();
  world.runs.push({ afterMs: 0, steps: [...steps] });
  await world.say("go", { direct: true });
  await world.pass(60_000);
  return world;
}
const small = { minChars: 16, maxChars: 32, coalesceIdleMs: 0 };

test.each([
  ["as blocks of one message", [{ text: `${fence}\n\n` }, { text: fence }]],
  ["as messages of one answer", [{ text: fence }, { messageEnd: true as const }, { text: fence }]],
  ["split inside", [...`${fence}\n\n${fence}`].map((text) => ({ text }))],
  ["a while apart", [{ text: `${fence}\n\n` }, { waitMs: 5_000 }, { text: fence }]],
])("%s", async (_, steps) => {
  const world = await answered({ mode: "block", ...small }, steps);
  expect(world.sent.map(({ text }) => squeeze(text))).toEqual([fence, fence]);
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(2);
});

test("in one message that grows both stand in it", async () => {
  const world = await answered({ mode: "draft" }, [{ text: `${fence}\n\n` }, { text: fence }]);
  expect(world.shown().map(squeeze)).toEqual([`${fence}\n${fence}`]);
});

test("one block is one, also when it is sent with pauses and a restart between (the twin)", async () => {
  const world = await new World({ config: { stream: { mode: "block", ...small } } }).start();
  world.ready = false;
  world.runs.push({ afterMs: 0, steps: [{ text: fence }] });
  await world.say("go", { direct: true });
  await world.pass(3_000);
  world.ready = true;
  await world.restart();
  await world.pass(60_000);
  expect(world.sent.map(({ text }) => text)).toEqual([fence]);
});
