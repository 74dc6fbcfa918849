/**
 * From deltas to messages: what is merged, what is shown besides the answer, what comes before it,
 * and what is never shown. Time is simulated, nothing runs.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TurnOutput } from "../../../src/actors/agent-run/output.ts";
import type { OutputBlock } from "../../../src/actors/agent-run/output-sequencer.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { ReasoningLevel, VerboseLevel } from "../../../src/domain/session.ts";
import type { StreamSettings } from "../../../src/domain/settings.ts";
import { fillPrefix } from "../../../src/machines/conversation/reply-addressing.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { settingsWith } from "../../support/runtime/conversation-rig.ts";

interface Given {
  readonly stream?: Partial<StreamSettings>;
  readonly mixed?: "strip" | "drop";
  readonly direct?: boolean;
  readonly textLimit?: number;
  readonly edits?: boolean;
  readonly reasoning?: ReasoningLevel;
  readonly verbose?: VerboseLevel;
  readonly prefix?: string;
  readonly firstIndex?: number;
  readonly files?: boolean;
}

/** An output with what it sent, and what the messages show by now. */
function outputOf(given: Given = {}) {
  const { stream = {}, mixed = "strip", direct = true, textLimit = 4_096, edits = true } = given;
  const { reasoning = "off", verbose = "off", prefix = "", firstIndex = 0 } = given;
  const { files = false } = given;
  const clock = new SimulatedClock(0);
  const blocks: OutputBlock[] = [];
  const drafts: { index: number; text: string; at: number }[] = [];
  const shown = new Map<number, string>();
  const output = new TurnOutput({
    settings: settingsWith({ stream, silent: { mixed } }),
    clock,
    direct,
    textLimit,
    edits,
    files,
    reasoning,
    verbose,
    prefix,
    firstIndex,
    onBlock: (block) => {
      blocks.push(block);
      shown.set(block.edits ?? block.index, (block.prefix ?? "") + block.text);
    },
    onDraft: (index, text) => {
      drafts.push({ index, text, at: clock.now() });
      shown.set(index, text);
    },
  });
  const answers = () => blocks.filter(({ draft, aside }) => draft === undefined && !aside);
  return {
    clock,
    output,
    blocks,
    drafts,
    answers,
    texts: () => answers().map(({ text }) => text),
    asides: () => blocks.filter(({ aside }) => aside !== undefined).map(({ text }) => text),
    shows: () => [...shown.values()],
    /** Says a text in pieces, `ms` apart. */
    says(text: string, pieces = 1, ms = 0) {
      const size = Math.max(1, Math.ceil(text.length / pieces));
      for (let at = 0; at < text.length; at += size) {
        output.push(text.slice(at, at + size));
        clock.advanceTo(clock.now() + ms);
      }
    },
  };
}

const block = { mode: "block" } as const;
const small = { ...block, minChars: 40, maxChars: 60 } as const;
const line = "Twenty-four letters here. ";

describe("small blocks", () => {
  test("that follow each other soon leave as one, and the last waits no longer than it must", () => {
    const { output, says, texts, clock } = outputOf({ stream: block });
    says("Let me look.");
    output.endMessage();
    clock.advanceTo(900);
    says("Still looking.");
    output.endMessage();
    clock.advanceTo(1_899);
    expect(texts()).toEqual([]);
    clock.advanceTo(1_900);
    expect(texts()).toEqual(["Let me look.\n\nStill looking."]);
    says("Found it.");
    output.end();
    expect(texts()).toEqual(["Let me look.\n\nStill looking.", "Found it."]);
    expect(clock.nextDue()).toBeNull();
  });

  test("that would not fit together leave one after the other", () => {
    const { output, says, texts } = outputOf({ stream: small });
    for (const _ of [1, 2, 3]) {
      says(line.trim());
      output.endMessage();
    }
    expect(texts()).toEqual([`${line.trim()}\n\n${line.trim()}`]);
    output.end();
    expect(texts()).toHaveLength(2);
  });

  test("that cannot be merged with what follows leave at once", () => {
    const { says, texts, clock } = outputOf({ stream: block });
    const intro = `${line.repeat(27).trim()}\n`;
    const code = `\`\`\`\n${"x = 1;\n".repeat(85)}\`\`\`\n`;
    says(`${intro}${code}${line.repeat(8)}`);
    expect(texts()).toEqual([intro]);
    expect(clock.now()).toBe(0);
  });

  test("that leave no capacity for another message leave at once", () => {
    const { output, says, texts } = outputOf({ stream: { ...block, minChars: 1_200 } });
    says("x".repeat(1_197));
    output.endMessage();
    expect(texts()).toEqual([]);
    says("y".repeat(1_198));
    output.endMessage();
    expect(texts().map(({ length }) => length)).toEqual([1_197, 1_198]);
  });

  test("leave at once where coalescing is off", () => {
    const { output, says, texts } = outputOf({ stream: { ...block, coalesceIdleMs: 0 } });
    says("one");
    output.endMessage();
    expect(texts()).toEqual(["one"]);
  });

  test("leave before a tool step is shown and before a message by tool", () => {
    const { output, says, blocks } = outputOf({ stream: block, verbose: "on" });
    says("Looking.");
    output.endMessage();
    output.step("search", {});
    says("Here.");
    output.endMessage();
    output.say("By tool.");
    expect(blocks.map(({ text }) => text)).toEqual([
      "Looking.",
      "🔧 `search`",
      "Here.",
      "By tool.",
    ]);
  });

  test("never merge code that a block closed with code that the next opens", () => {
    const { output, says, texts } = outputOf({ stream: { ...block, minChars: 20, maxChars: 40 } });
    says(`\`\`\`\n${"x = 1;\n".repeat(12)}\`\`\`\n`);
    output.end();
    expect(texts().length).toBeGreaterThan(2);
    for (const text of texts()) expect(text.match(/```/g)).toHaveLength(2);
  });

  const messages = fc.array(fc.lorem({ maxCount: 12 }), { minLength: 1, maxLength: 12 });
  const pauses = fc.array(fc.nat(1_500), { minLength: 12, maxLength: 12 });
  property([messages, pauses])(
    "however they come, the answer is told once, in order, with offsets that follow each other",
    (said, waits) => {
      const { output, says, answers, clock } = outputOf({ stream: small });
      for (const [index, text] of said.entries()) {
        says(text, 3);
        output.endMessage();
        clock.advanceTo(clock.now() + (waits[index] ?? 0));
      }
      output.end();
      const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");
      expect(answers().flatMap(({ text }) => words(text))).toEqual(said.flatMap(words));
      let at = 0;
      for (const { from, to } of answers()) {
        expect(from).toBeGreaterThanOrEqual(at);
        expect(to).toBeGreaterThan(from);
        at = to;
      }
      expect(clock.nextDue()).toBeNull();
    },
  );
});

describe("an answer that is longer than its group allows", () => {
  const note = '[This answer is longer than is allowed here. Say "continue" for the rest.]';
  const paragraphs = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `Paragraph ${index}. ${line.repeat(3).trim()}`,
    ).join("\n\n");
  const modes = ["off", "block", "draft"] as const;

  test.each(modes)("ends with a note how to get the rest, and the agent is stopped: %s", (mode) => {
    const stream = { mode, minChars: 200, maxChars: 300, groupMaxChars: 1_000 };
    const { output, says, shows } = outputOf({ stream, direct: false, textLimit: 400 });
    says(paragraphs(60), 40);
    expect(output.overflow).toBe(true);
    output.end();
    const whole = shows().join("");
    expect(whole.length).toBeLessThanOrEqual(1_000 + note.length + 2);
    expect(whole.length).toBeGreaterThan(700);
    expect(whole.endsWith(`\n\n${note}`)).toBe(true);
    for (const text of shows()) expect(text.length).toBeLessThanOrEqual(400);
    const shown = whole.slice(0, -note.length).replace(/\s/gu, "");
    expect(paragraphs(60).replace(/\s/gu, "").startsWith(shown)).toBe(true);
  });

  test("closes the code that it cuts", () => {
    const stream = { groupMaxChars: 200 };
    const { output, says, texts } = outputOf({ stream, direct: false });
    says(`\`\`\`ts\n${"let x = 1;\n".repeat(100)}\`\`\`\n`);
    output.end();
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toMatch(/^```ts\n(let x = 1;\n)+```\n\n\[This/);
  });

  test("is all of it in a direct chat, where it fits, and where there is no limit", () => {
    for (const [text, given] of [
      [paragraphs(60), { stream: { mode: "off", groupMaxChars: 1_000 }, direct: true }],
      [paragraphs(5), { stream: { groupMaxChars: paragraphs(5).length }, direct: false }],
      [paragraphs(200), { stream: { groupMaxChars: 0 }, direct: false }],
    ] as const) {
      const { output, says, texts } = outputOf(given as Given);
      says(text);
      expect(output.overflow).toBe(false);
      output.end();
      expect(texts().join("").replace(/\s/gu, "")).toBe(text.replace(/\s/gu, ""));
    }
  });

  test("is cut with a note even if what is over the limit is a gap", () => {
    const { output, says, texts } = outputOf({ stream: { groupMaxChars: 6_000 }, direct: false });
    says(`one${"\n".repeat(8_190)}two`);
    output.end();
    expect(texts().map((text) => text.trim())).toEqual(["one", "two", note]);
  });

  test.each(["off", "block", "draft"] as const)(
    "is the whole of it for a file behind the part that is sent, in mode %s",
    (mode) => {
      const stream = { mode, minChars: 200, maxChars: 300, groupMaxChars: 1_000 };
      const given = { stream: { ...stream, longAnswers: "file" } as const, direct: false };
      const { output, says, shows } = outputOf({ ...given, files: true, textLimit: 400 });
      says(paragraphs(60), 40);
      expect(output.overflow).toBe(false);
      expect(output.endText()).toBe(paragraphs(60).trim());
      const before = shows().join("");
      expect(before.length).toBeLessThanOrEqual(1_000);
      expect(before.length).toBeGreaterThan(700);
      expect(before).not.toContain(note);
      const extras = { choices: { text: "the file", options: ["x"] } };
      expect(output.attach("the file", extras)).not.toBeNull();
      output.end(true);
      expect(shows().join("")).toBe(`${before}the file`);
    },
  );

  test("has the note if there is no file after all, and without files as ever", () => {
    const stream = { groupMaxChars: 1_000, longAnswers: "file" } as const;
    const failed = outputOf({ stream, direct: false, files: true });
    failed.says(paragraphs(60), 40);
    expect(failed.output.endText()).not.toBeNull();
    failed.output.end();
    expect(failed.texts().at(-1)).toBe(note);
    const without = outputOf({ stream, direct: false });
    without.says(paragraphs(60), 40);
    expect(without.output.overflow).toBe(true);
    expect(without.output.endText()).toBeNull();
    without.output.end();
    expect(without.texts().join("").endsWith(`\n\n${note}`)).toBe(true);
    const short = outputOf({ stream, direct: false, files: true });
    short.says("short");
    expect(short.output.endText()).toBeNull();
  });

  test("that never ends is read as far as a file may be long", () => {
    const stream = { groupMaxChars: 1_000, longAnswers: "file" } as const;
    const { output, says } = outputOf({ stream, direct: false, files: true });
    says("word ".repeat(limits.answerFileUnitsMax / 5));
    expect(output.overflow).toBe(false);
    says("and on and on");
    expect(output.overflow).toBe(true);
    expect(output.endText()).toHaveLength(limits.answerFileUnitsMax);
  });

  test("is no more than the note where the limit was reached before", () => {
    const stream = { mode: "block", groupMaxChars: 300, coalesceIdleMs: 0 } as const;
    const { output, says, texts } = outputOf({ stream, direct: false });
    for (const text of ["a".repeat(295), "b".repeat(200), "c".repeat(200)]) {
      says(text);
      output.endMessage();
    }
    output.end();
    expect(texts()).toEqual(["a".repeat(295), note]);
  });
});

describe("however the deltas are cut", () => {
  const piece = fc.constantFrom(
    "word ",
    "Sentence. ",
    "\n\n",
    "```\ncode();\n```\n",
    "👨‍👩‍👧‍👦",
    "NO_REPLY ",
  );
  const texts = fc.array(piece, { minLength: 1, maxLength: 80 }).map((all) => all.join(""));
  const modes = fc.constantFrom("off" as const, "block" as const, "draft" as const);
  property([texts, modes, fc.integer({ min: 1, max: 40 }), fc.nat(400)])(
    "the same answer is the same messages",
    (text, mode, pieces, ms) => {
      const said = (count: number, pauseMs: number) => {
        const given = { stream: { ...small, mode, coalesceIdleMs: 0 }, textLimit: 120 };
        const { output, says, texts: answers, shows } = outputOf(given);
        says(text, count, pauseMs);
        output.end();
        expect(shows()).toEqual(answers());
        return answers();
      };
      expect(said(pieces, ms)).toEqual(said(1, 0));
    },
  );
});

describe("silence", () => {
  const token = fc.constantFrom("NO_REPLY", "no_reply", " NO_REPLY.", "**NO_REPLY**", '"NO_REPLY"');
  const modes = fc.constantFrom("off", "block", "draft", "auto");
  property([token, modes, fc.constantFrom("strip", "drop"), fc.integer({ min: 1, max: 12 })])(
    "shows nothing in any mode, from the first letter on",
    (text, mode, mixed, pieces) => {
      const { output, says, blocks, drafts, clock } = outputOf({
        stream: { mode: mode as "off" },
        mixed: mixed as "strip",
      });
      says(text, pieces, 1_500);
      output.end();
      expect([blocks, drafts, output.visible, output.isSilent]).toEqual([[], [], "", true]);
      expect(clock.nextDue()).toBeNull();
    },
  );

  property([fc.stringMatching(/^[\s\u200b\ufeff]{0,40}$/), modes])(
    "is what an empty answer is, though it has letters that nobody sees",
    (text, mode) => {
      const { output, says, blocks } = outputOf({ stream: { mode: mode as "off" } });
      says(text, 2, 1_500);
      output.end();
      expect([blocks, output.isSilent]).toEqual([[], true]);
    },
  );

  property([modes, fc.integer({ min: 1, max: 9 })])(
    "is not what a real answer is (so that an output that shows nothing fails)",
    (mode, pieces) => {
      const { output, says, shows } = outputOf({ stream: { mode: mode as "off" } });
      says("NO, I think not.", pieces, 100);
      output.end();
      expect(shows()).toEqual(["NO, I think not."]);
    },
  );
});

describe("reasoning", () => {
  test("is hidden unless it was asked for", () => {
    const { output, says, blocks } = outputOf();
    output.think("They want tea.");
    says("Tea.");
    output.end();
    expect(blocks.map(({ text }) => text)).toEqual(["Tea."]);
  });

  for (const mode of ["off", "block", "draft"] as const)
    test(`on: one marked message before the answer, in mode ${mode}`, () => {
      const { output, says, blocks } = outputOf({ stream: { mode }, reasoning: "on" });
      output.think("They want\n");
      output.think("tea.");
      says("Tea.");
      output.end();
      expect(blocks).toMatchObject([
        { index: 0, aside: "reasoning", text: "💭 Reasoning\n> They want\n> tea." },
        { index: 1, text: "Tea.", from: 0, to: 4 },
      ]);
    });

  test("on: a silent answer shows none of it", () => {
    const { output, says, blocks } = outputOf({ reasoning: "on" });
    output.think("Nobody asked me.");
    says("NO_REPLY");
    output.end();
    expect(blocks).toEqual([]);
  });

  test("that is longer than a message is cut, and says so", () => {
    const { output, says, asides } = outputOf({ reasoning: "on", textLimit: 200 });
    for (let n = 0; n < 100; n += 1) output.think("hm\n");
    says("Tea.");
    output.end();
    expect(asides()).toHaveLength(1);
    expect(asides()[0]?.length).toBeLessThanOrEqual(200);
    expect(asides()[0]?.endsWith("\n> …")).toBe(true);
  });

  for (const mode of ["off", "block", "draft"] as const)
    test(`stream: grows in one message that becomes the answer, in mode ${mode}`, () => {
      const { output, says, shows, blocks, drafts, clock } = outputOf({
        stream: { mode },
        reasoning: "stream",
      });
      for (const _ of [1, 2, 3, 4]) {
        output.think("They want tea, I think. ");
        clock.advanceTo(clock.now() + 300);
      }
      expect(blocks).toMatchObject([{ aside: "reasoning", draft: true }]);
      expect(drafts.at(-1)?.text).toContain("I think. They want");
      says("Tea.");
      output.end();
      expect(shows()).toEqual(["Tea."]);
      expect(blocks.at(-1)).toMatchObject({ text: "Tea.", edits: 0 });
      expect(blocks.at(-1)).not.toHaveProperty("aside");
    });

  test("stream: where nothing can be edited it is sent before the answer", () => {
    const { output, says, blocks } = outputOf({ reasoning: "stream", edits: false });
    output.think("They want tea, I think, as so often.");
    says("Tea.");
    output.end();
    expect(blocks.map(({ aside }) => aside)).toEqual(["reasoning", undefined]);
  });

  test("stream: without an answer its message says that there was none", () => {
    const { output, says, shows, blocks } = outputOf({ reasoning: "stream" });
    output.think("Nobody asked me, so I will not say anything.");
    says("NO_REPLY");
    output.end();
    expect(shows()).toEqual(["💭 No answer."]);
    expect(blocks.every(({ aside }) => aside === "reasoning")).toBe(true);
    expect(output.isSilent).toBe(true);
  });

  const tagged = "<think>They want tea. NO_REPLY?</think>\n\nTea.";
  for (const mode of ["off", "block", "draft"] as const)
    for (const pieces of [1, 7, tagged.length]) {
      test(`in tags is no part of the answer, in mode ${mode}, in ${pieces} pieces`, () => {
        const { output, says, blocks, shows } = outputOf({ stream: { mode } });
        says(tagged, pieces, 400);
        output.end();
        expect(blocks.map(({ text }) => text).at(-1)).toBe("Tea.");
        expect(shows()).toEqual(["Tea."]);
        expect(JSON.stringify(blocks)).not.toContain("want");
        expect(output.visible).toBe("Tea.");
      });

      test(`in tags is shown like any other, in mode ${mode}, in ${pieces} pieces`, () => {
        const { output, says, asides, texts } = outputOf({ stream: { mode }, reasoning: "on" });
        says(tagged, pieces, 400);
        output.end();
        expect(asides()).toEqual(["💭 Reasoning\n> They want tea. NO_REPLY?"]);
        expect(texts()).toEqual(["Tea."]);
      });
    }

  test("in tags that never close is an answer without text, and ends with its message", () => {
    const { output, says, texts } = outputOf();
    says("<think>Nobody asked me.");
    output.end();
    expect([texts(), output.isSilent]).toEqual([[], true]);
    const next = outputOf();
    next.says("<think>I look it up.");
    next.output.endMessage();
    next.says("Tea.");
    next.output.end();
    expect(next.texts()).toEqual(["Tea."]);
  });

  test("in tags before the silent token leaves silence", () => {
    const { output, says, blocks } = outputOf();
    says("<think>Nobody asked me.</think>\nNO_REPLY", 9);
    output.end();
    expect([blocks, output.isSilent]).toEqual([[], true]);
  });

  test("in tags in a message by tool is not sent", () => {
    const { output, texts } = outputOf();
    output.say("<think>now</think>Tea.");
    output.end();
    expect(texts()).toEqual(["Tea."]);
  });
});

describe("tool steps", () => {
  const work = (given: Given) => {
    const one = outputOf(given);
    one.output.step("search", { q: "tea\nnow" });
    one.clock.advanceTo(500);
    one.output.stepEnded("search", true);
    one.output.step("fetch", { url: "x".repeat(1_000) });
    one.clock.advanceTo(1_000);
    one.output.stepEnded("fetch", false);
    one.says("Tea.");
    one.output.end();
    return one;
  };

  test("are not shown unless it was asked for", () => {
    expect(work({}).blocks.map(({ text }) => text)).toEqual(["Tea."]);
  });

  test("on: their names, in one message edited in place, apart from the answer", () => {
    const { blocks, shows, drafts } = work({ verbose: "on" });
    expect(shows()).toEqual(["✅ `search`\n❌ `fetch`", "Tea."]);
    expect(drafts.length).toBeGreaterThan(0);
    expect(blocks.filter(({ aside }) => aside !== "status")).toMatchObject([
      { text: "Tea.", from: 0 },
    ]);
  });

  test("full: with their input on one line, capped", () => {
    const [status = ""] = work({ verbose: "full" }).shows();
    const [first = "", second = ""] = status.split("\n");
    expect(first).toBe('✅ `search` `{"q":"tea\\nnow"}`');
    expect(second.length).toBeLessThan(230);
    expect(status.split("\n")).toHaveLength(2);
  });

  test("of a turn that says nothing leave it silent", () => {
    const { output, says } = outputOf({ verbose: "on" });
    output.step("search", {});
    says("NO_REPLY");
    output.end();
    expect(output.isSilent).toBe(true);
  });

  test("are a message each where nothing can be edited, ten at most", () => {
    const { output, asides } = outputOf({ verbose: "on", edits: false });
    for (let n = 0; n < 50; n += 1) output.step(`tool ${n}`, {});
    expect(asides()).toHaveLength(10);
    expect(asides()[1]).toBe("🔧 `tool 1`");
  });

  test("by the hundred are the newest twenty and a count, under the limit of a message", () => {
    const { output, shows, blocks } = outputOf({ verbose: "full", textLimit: 500 });
    for (let n = 0; n < 300; n += 1) output.step(`tool ${n}`, { n });
    output.end();
    expect(shows()[0]?.startsWith("… 280 earlier steps")).toBe(true);
    expect(shows()[0]?.length).toBeLessThanOrEqual(500);
    expect(blocks).toHaveLength(2);
  });

  const wild = fc.string({ unit: anyCharacter, maxLength: 300 });
  property([wild, wild])("never carry markup, controls or lines of their own", (name, input) => {
    const { output, shows } = outputOf({ verbose: "full" });
    output.step(name, { input });
    output.end();
    for (const text of shows()) {
      expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      expect((text.match(/`/g) ?? []).length).toBeLessThanOrEqual(4);
    }
  });
});

describe("the prefix", () => {
  test("stands before the first block only, and no block is longer for it", () => {
    const { output, says, answers } = outputOf({
      stream: small,
      prefix: "[scout] ",
      textLimit: 60,
    });
    says(line.repeat(8));
    output.end();
    expect(answers().map(({ prefix }) => prefix)).toEqual([
      "[scout] ",
      ...Array(answers().length - 1).fill(undefined),
    ]);
    for (const { text, prefix = "" } of answers())
      expect(text.length + prefix.length).toBeLessThanOrEqual(60);
  });

  test("stands in the draft from its first sight, and not in what is shown beside the answer", () => {
    const { output, says, blocks, shows } = outputOf({
      stream: { mode: "draft" },
      prefix: "[scout] ",
      reasoning: "on",
    });
    output.think("Hm.");
    says(line.repeat(3), 8, 400);
    output.end();
    expect(blocks[0]?.text).toBe("💭 Reasoning\n> Hm.");
    expect(blocks[1]).toMatchObject({
      draft: true,
      text: expect.stringMatching(/^\[scout\] Twenty/),
    });
    expect(shows().at(-1)).toBe(`[scout] ${line.repeat(3)}`);
  });

  test("is filled in, on one line, and set apart", () => {
    const words = { model: "m\n1", agent: "Scout", thinkLevel: "low" };
    expect(fillPrefix("[{agent}|{model}|{thinkLevel}|{other}]", words)).toBe(
      "[Scout|m 1|low|{other}] ",
    );
    expect(fillPrefix("{agent}:\n", words)).toBe("Scout:\n");
    expect(fillPrefix("", words)).toBe("");
  });
});

describe("an answer without end", () => {
  for (const mode of ["off", "block", "draft"] as const)
    test(`leaves as many parts as a turn may send, the last with a note, in mode ${mode}`, () => {
      const { output, says, shows, answers } = outputOf({ stream: { mode }, textLimit: 300 });
      const text = "word ".repeat(20_000);
      says(text, 50);
      output.end();
      expect(answers().length).toBeLessThanOrEqual(limits.blocksPerTurnMax);
      expect(answers().length).toBeGreaterThan(limits.blocksPerTurnMax - 2);
      expect(shows().at(-1)).toMatch(/\[the rest of this answer is too long to send\]$/);
      expect(shows().slice(0, -1).join("")).not.toContain("[the rest");
      expect(output.overflow).toBe(true);
      for (const shown of shows()) expect(shown.length).toBeLessThanOrEqual(300);
    });

  test("that just fits is whole, without a note", () => {
    const { output, says, texts } = outputOf({ stream: { mode: "off" }, textLimit: 100 });
    says("a".repeat(100 * limits.blocksPerTurnMax));
    output.end();
    expect(texts()).toHaveLength(limits.blocksPerTurnMax);
    expect(texts().join("")).toHaveLength(100 * limits.blocksPerTurnMax);
    expect(output.overflow).toBe(false);
  });
});

test("another try counts on from where the one before it stopped", () => {
  const { output, says, blocks } = outputOf({ verbose: "on", firstIndex: 3 });
  output.step("search", {});
  says("Tea.");
  output.end();
  expect(blocks.map(({ index, edits }) => [index, edits])).toEqual([
    [3, undefined],
    [4, undefined],
  ]);
});

test("an answer that breaks off leaves what is complete, and no timer", () => {
  const { output, says, texts, clock } = outputOf({ stream: block });
  says("Complete.");
  output.endMessage();
  says("Half an ans");
  output.breakOff();
  output.push("wer");
  output.end();
  expect(texts()).toEqual(["Complete."]);
  expect(clock.nextDue()).toBeNull();
});
