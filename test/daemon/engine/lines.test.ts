/** Which lines a node reports to the others, and when: texts of running turns once a second, where somebody looks. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conversationOf } from "../../../src/actors/protocol/event-codec.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createLines } from "../../../src/daemon/engine/lines.ts";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { property } from "../../support/property.ts";

const key = "agent:main:main";
const other = "agent:main:webhook:group:#garden";
const grew = (text: string, of = key): StreamLine => ({
  t: 0,
  key: of,
  event: "delta",
  turnId: `turn of ${of}`,
  text,
});
const end: StreamLine = { t: 0, key, event: "agent_end", turn: 1, outcome: "replied" };
const prompt: StreamLine = { t: 0, key, event: "prompt", turn: 1, text: "You are Scout" };
const system: StreamLine = { t: 0, system: "started" };

/** A node, and what it has reported: texts with their time, of other lines the kind. */
function openNode(...watched: readonly string[]) {
  const clock = new SimulatedClock();
  const seen = new Set(watched.map((one) => conversationOf(one).conv));
  const reported: { readonly at: number; readonly said: unknown }[] = [];
  const lines = createLines({
    clock,
    watched: () => seen,
    report: (line) => void reported.push({ at: clock.now(), said: line.text ?? line.event }),
  });
  const said = () => reported.map((one) => one.said);
  return { clock, seen, reported, said, lines };
}

describe("of a turn that runs", () => {
  test("the first text goes at once, then the newest each second, and none that is the same again", () => {
    const { clock, lines, reported } = openNode(key);
    for (let ms = 0; ms < 2_500; ms += 100) {
      clock.advanceTo(ms);
      lines.line(grew(`until ${ms}`));
    }
    clock.advanceTo(60_000);
    expect(reported).toEqual([
      { at: 0, said: "until 0" },
      { at: 1_000, said: "until 900" },
      { at: 2_000, said: "until 1900" },
      { at: 3_000, said: "until 2400" },
    ]);
  });

  test("nothing is reported while nobody looks; who looks later gets what there is", () => {
    const { clock, lines, seen, said } = openNode(other);
    lines.line(grew("Once"));
    clock.advanceTo(5_000);
    expect(said()).toEqual([]);
    seen.add(conversationOf(key).conv);
    clock.advanceTo(6_000);
    expect(said()).toEqual(["Once"]);
  });

  test("no text follows the end, nor one of a conversation that is active elsewhere by now", () => {
    const { clock, lines, said } = openNode(key, other);
    lines.line(grew("Once"));
    clock.advanceTo(10);
    lines.line(grew("Once there was"));
    lines.line(end);
    lines.line(grew("In the garden", other));
    lines.left(other);
    clock.advanceTo(10_000);
    expect(said()).toEqual(["Once", "agent_end"]);
  });

  test("one that is too long is not reported, and the turn's end is", () => {
    const { clock, lines, said } = openNode(key);
    lines.line(grew("a".repeat(engineLimits.feedTextUnitsMax + 1)));
    clock.advanceTo(10_000);
    lines.line(end);
    expect(said()).toEqual(["agent_end"]);
  });

  test("a node that stops reports no more texts", () => {
    const { clock, lines, said } = openNode(key);
    lines.line(grew("Once"));
    lines.stop();
    clock.advanceTo(10_000);
    expect(said()).toEqual([]);
  });
});

test("other lines go as they come, but for prompts and what is of the system", () => {
  const { lines, said } = openNode();
  for (const line of [prompt, system, end]) lines.line(line);
  expect(said()).toEqual(["agent_end"]);
});

property([
  fc.array(fc.record({ wait: fc.nat(700), of: fc.constantFrom(key, other), ends: fc.boolean() })),
])(
  "however texts come: at most one a second of each turn, each longer than the one before, the newest of one that runs on",
  (steps) => {
    const { clock, lines, reported } = openNode(key, other);
    const texts = { [key]: "", [other]: "" };
    for (const { wait, of, ends } of steps) {
      clock.advanceTo(clock.now() + wait);
      texts[of] += of === key ? "a" : "b";
      lines.line(grew(texts[of] ?? "", of));
      if (!ends || of !== key) continue;
      lines.line(end);
      texts[key] = "";
    }
    clock.advanceTo(clock.now() + 1_000);
    let before = { at: Number.NEGATIVE_INFINITY, length: 0 };
    for (const { at, said } of reported) {
      if (said === "agent_end") before = { ...before, length: 0 };
      if (typeof said !== "string" || !said.startsWith("a") || said === "agent_end") continue;
      expect(at - before.at).toBeGreaterThanOrEqual(engineLimits.feedTextMs);
      expect(said.length).toBeGreaterThan(before.length);
      before = { at, length: said.length };
    }
    const newest = reported.findLast(({ said }) => String(said).startsWith("b"))?.said ?? "";
    expect(newest).toBe(texts[other]);
  },
);
