/**
 * The scenarios in the manual run, and come out as the page says. A block marked `room` goes before
 * every scenario of its page that has no header of its own; the block behind a scenario says what
 * must come of it.
 */
import { describe, expect, test } from "vitest";
import { simulateScenario } from "../../src/daemon/replay/simulate.ts";
import { rules } from "../../src/domain/decision.ts";
import { parseScenario } from "../../src/domain/scenario/read-scenario.ts";
import type { StreamLine } from "../../src/domain/stream.ts";
import { runCommand } from "../support/built/command.ts";
import { builtFile } from "../support/built/files.ts";
import { type Block, blocksOf, manual } from "../support/docs.ts";

interface Example {
  readonly at: string;
  readonly lines: string;
  readonly expected: Block;
}

function examplesOf(blocks: readonly Block[]): Example[] {
  const room = blocks.find(({ role }) => role === "room")?.text ?? "";
  return blocks.flatMap((block, index) => {
    if (block.role !== "scenario") return [];
    const at = `${block.page}:${block.line}`;
    const expected = blocks[index + 1];
    if (expected === undefined || expected.role === "") throw new Error(`${at}: what comes of it?`);
    const lines = block.text.includes('"earshot"') ? block.text : room + block.text;
    return [{ at, lines, expected }];
  });
}

async function played({ at, lines }: Example): Promise<StreamLine[]> {
  const out: StreamLine[] = [];
  await simulateScenario(parseScenario(lines, at), { onLine: (line) => out.push(line) });
  return out;
}

/** What a block behind a scenario may be, and what it shows of a line; null: nothing. */
const shown: Readonly<Record<string, (line: StreamLine) => string | null>> = {
  decisions(line) {
    if (!("decision" in line)) return null;
    const { id, decision, rule, credit } = line;
    return [id, decision, rule, ...(credit === "none" ? [] : [credit])].join(" ");
  },
  turns(line) {
    if ("event" in line && line.event === "agent_start")
      return `${line.t} turn ${line.turn} begins: ${[line.batch].flat().join(", ")}`;
    if ("event" in line && line.event === "agent_end")
      return `${line.t} turn ${line.turn} ends: ${line.outcome}`;
    if ("event" in line && line.event === "dropped")
      return `${line.t} ${line.message} dropped: ${line.why}`;
    if ("out" in line && line.out === "send")
      return `${line.t} send to ${line.chat}, reply to ${line.replyTo ?? "nothing"}: ${line.text}`;
    return null;
  },
  output: (line) => JSON.stringify(line),
  sessions: (line) => ("decision" in line ? `${line.id} ${line.key} ${line.rule}` : null),
};

const examples = manual().flatMap((page) => examplesOf(blocksOf(page)));

describe("the scenarios of the manual", () => {
  test.each(examples)("$at comes out as it says", async (example) => {
    const { role, text } = example.expected;
    const show = shown[role];
    if (show === undefined) throw new Error(`${example.at}: ${role} is no kind of result`);
    const lines = (await played(example)).map(show).filter((line) => line !== null);
    expect(`${lines.join("\n")}\n`).toBe(text);
  });

  test("the command prints what the page shows", async () => {
    const example = examples.find(({ expected }) => expected.role === "output");
    if (example === undefined) throw new Error("no page shows what the command prints");
    const program = builtFile("test/replay-program");
    const how = { program, env: { NO_COLOR: "1" }, input: example.lines };
    expect((await runCommand(["replay", "-", "--json"], how)).out).toBe(example.expected.text);
  });

  test("every rule of the ladder has one on the page that explains it", () => {
    const decided = examples
      .filter(({ at }) => at.startsWith("docs/guide/engagement.md"))
      .flatMap(({ expected }) => expected.text.split("\n").map((line) => line.split(" ")[2]));
    const ofLadder = [...rules.slice(0, rules.indexOf("dm-policy")), "judge"];
    expect([...new Set(decided)].filter((rule) => rule !== undefined).sort()).toEqual(
      [...ofLadder].sort(),
    );
  });
});
