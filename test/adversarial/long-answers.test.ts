/**
 * Answers made to hurt: megabytes that would cost quadratic time, cut a character in two, or flood a
 * room (A28, A32). Times are processor time, compared inside one run.
 */
import { expect, test } from "vitest";
import { TurnOutput } from "../../src/actors/agent-run/output.ts";
import type { OutputBlock } from "../../src/actors/agent-run/output-sequencer.ts";
import { SimulatedClock } from "../../src/actors/simulation/simulated-clock.ts";
import { renderMarkdown } from "../../src/adapters/channels/shared/markdown.ts";
import { limits } from "../../src/domain/limits.ts";
import { createChunker } from "../../src/machines/output/chunker.ts";
import { createSilence } from "../../src/machines/output/silence.ts";
import { rounds } from "../support/rounds.ts";
import { settingsWith } from "../support/runtime/conversation-rig.ts";
import { growthOver16, linearMax } from "../support/runtime/growth.ts";
import { World } from "../support/runtime/world.ts";

const megabyte = 1_048_576;
const family = "👨‍👩‍👧‍👦";
const hostile: Readonly<Record<string, (units: number) => string>> = {
  backticks: (units) => "`".repeat(units),
  stars: (units) => "*".repeat(units),
  brackets: (units) => "[".repeat(units),
  "quote nesting": (units) => ">".repeat(units),
  "nested quotes, line by line": (units) => `${">".repeat(63)}\n`.repeat(units / 64),
  "no spaces": (units) => "a".repeat(units),
  "emoji joined without end": (units) => `👩\u200d`.repeat(units / 3),
  families: (units) => family.repeat(units / family.length),
  "a tower of combining marks": (units) => `a${"\u0301".repeat(units - 1)}`,
  "fences on every line": (units) => "```\n".repeat(units / 4),
  "almost the silent token": (units) => "NO_REPL ".repeat(units / 8),
};

const chunk = (text: string) => {
  const chunker = createChunker();
  return [...chunker.push(text), ...chunker.flush()];
};

for (const [name, make] of Object.entries(hostile)) {
  test(`A28 ${name}: chunking takes linear time`, () => {
    expect(growthOver16((units) => chunk(make(units)), megabyte / 32)).toBeLessThan(linearMax);
  });

  test(`A28 ${name}: no block is too long, and none cuts a character in two`, () => {
    const text = make(megabyte / rounds(16, 8));
    let at = 0;
    for (const { text: block, from, to } of chunk(text)) {
      expect(block.length).toBeLessThanOrEqual(1_200);
      expect(block).not.toMatch(/\p{Cs}/u);
      expect(from).toBeGreaterThanOrEqual(at);
      at = to;
    }
  });
}

for (const name of ["backticks", "emoji joined without end", "almost the silent token"])
  test(`A28 ${name}: looking for silence takes linear time`, () => {
    const watch = (text: string) => {
      const silence = createSilence({ token: "NO_REPLY", mixed: "strip" });
      silence.push(text);
      return silence.end();
    };
    const make = hostile[name] as (units: number) => string;
    expect(growthOver16((units) => watch(make(units)), megabyte / 32)).toBeLessThan(linearMax);
  });

test("A28 families of emoji are never taken apart", () => {
  const text = family.repeat(2_000);
  for (const { from, to } of chunk(text)) {
    expect(from % family.length).toBe(0);
    expect(to % family.length).toBe(0);
  }
});

for (const mode of ["off", "block", "draft"] as const)
  test(`A32 a megabyte in mode ${mode} is a bounded number of parts, the last with a note`, () => {
    const clock = new SimulatedClock();
    const blocks: OutputBlock[] = [];
    const drafts: string[] = [];
    const output = new TurnOutput({
      settings: settingsWith({ stream: { mode } }),
      clock,
      direct: true,
      textLimit: 4_096,
      edits: true,
      prefix: "",
      firstIndex: 0,
      reasoning: "off",
      verbose: "off",
      onBlock: (block) => blocks.push(block),
      onDraft: (_index, text) => drafts.push(text),
    });
    const piece = "More words than anybody reads. ".repeat(32);
    for (let said = 0; said < megabyte; said += piece.length) {
      output.push(piece);
      clock.advanceTo(clock.now() + 20);
    }
    output.end();
    expect(blocks.length).toBe(limits.blocksPerTurnMax);
    expect(blocks.at(-1)?.text).toMatch(/too long to send\]$/);
    expect(output.overflow).toBe(true);
    for (const text of drafts) expect(text.length).toBeLessThanOrEqual(4_096);
  });

test("A32 an endless answer ends: the room has what a turn may send, and the agent is stopped", async () => {
  const world = await new World({ config: { stream: { mode: "block" } } }).start();
  const piece = "More words than anybody reads. ".repeat(3_000);
  const steps = Array.from({ length: 200 }, () => [{ text: piece }, { waitMs: 100 }]).flat();
  world.runs.push({ afterMs: 0, steps });
  await world.say("go", { direct: true });
  await world.pass(60_000);
  expect(world.sent).toHaveLength(limits.blocksPerTurnMax);
  expect(world.sent.at(-1)?.text).toMatch(/too long to send\]$/);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  expect(world.clock.nextDue()).toBeNull();
});

test("A32 an answer that mentions everyone and draws links is text at Telegram, and no longer", () => {
  const hurtful = [
    "@everyone <!channel> @here",
    "[click](javascript:alert(1))",
    "[ ](https://example.org)",
    "<b>bold</b> _a_ *b* `c` [x](tg://user?id=1)",
    "/stop",
  ].join("\n");
  const { text, entities } = renderMarkdown(hurtful);
  expect(text).toContain("@everyone <!channel> @here");
  expect(text).toContain("<b>bold</b>");
  for (const { type, url } of entities) {
    expect(type).not.toBe("text_mention");
    expect(url ?? "https:").toMatch(/^https?:/);
  }
});
