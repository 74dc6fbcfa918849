/** Which agents a line calls where several agents hear it: names anywhere in its author's own words. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callAtStart, narrowTo } from "../../../src/machines/engagement/called-agents.ts";
import {
  decideEngagement,
  explainEngagement,
} from "../../../src/machines/engagement/engagement.ts";
import { engagementInputs } from "../../../src/testing/arbitraries.ts";
import { property } from "../../support/property.ts";

const agents = [
  { name: "Scout", aliases: ["Scout", "boss"] },
  { name: "Rover", aliases: ["Rover"] },
  { name: "Straße", aliases: ["Straße", "a.b"] },
];
const plain = { mentions: [] };
const us = { mentions: [{ id: "we", isSelf: true }] };

describe("a line", () => {
  test.each([
    ["scout, what now?", [0]],
    ["what do you think, BOSS?", [0]],
    ["rover and scout", [0, 1]],
    ["STRASSE!", [2]],
    ["nobody in particular", null],
    ["scout, rover and straße", null],
    ["> scout said that\nrover, true?", [1]],
    ["see https://example.org/scout rover", [1]],
  ] as const)("%j calls %j", (text, expected) => {
    expect(narrowTo(text, plain, agents)).toEqual(expected);
  });

  test("that mentions the account they share calls by names, not by the account's", () => {
    expect(narrowTo("@scout_bot what now?", us, agents)).toBeNull();
    expect(narrowTo("@scout_bot rover?", us, agents)).toEqual([1]);
    expect(narrowTo("@scout: you?", us, agents)).toEqual([0]);
    expect(narrowTo("@scout.-. you?", us, agents)).toEqual([0]);
    expect(narrowTo("@a.b you?", us, agents)).toEqual([2]);
    expect(narrowTo("boss@scout_bot!", us, agents)).toEqual([0]);
    const several = { mentions: [{ id: "bo", isSelf: false }, ...us.mentions] };
    expect(narrowTo("@bo @scout_bot what now?", several, agents)).toBeNull();
  });

  test("that is forwarded calls nobody by a name in it", () => {
    expect(
      narrowTo("rover, true?", { ...plain, forwarded: { authorName: "Cy" } }, agents),
    ).toBeNull();
    expect(narrowTo("rover, true?", { ...plain, forwarded: false }, agents)).toEqual([1]);
  });

  test("may begin with a name, and what follows is the rest", () => {
    expect(callAtStart("Rover, /stop", agents)).toEqual({ place: 1, units: 7 });
    expect(callAtStart("  boss /stop", agents)).toEqual({ place: 0, units: 7 });
    expect(callAtStart("rover,   /stop", agents)).toEqual({ place: 1, units: 9 });
    const longer = ["big scout: hey", "big scout"].map((name) => ({ name, aliases: [name] }));
    expect(callAtStart("big scout: hey /stop", longer)).toEqual({ place: 0, units: 15 });
    expect(callAtStart("big scout: hey /stop", longer.toReversed())).toMatchObject({ place: 1 });
    expect(callAtStart("A.B: /stop", agents)).toEqual({ place: 2, units: 5 });
    for (const text of ["rovers /stop", "/stop rover", "rover", "> rover /stop", ""])
      expect(callAtStart(text, agents)).toBeNull();
  });
});

property([fc.string(), fc.array(fc.constantFrom("scout", "ROVER", "boss", "Straße", "x"))])(
  "every called agent has a name in the text, and nobody else is",
  (noise, said) => {
    const text = [noise.replaceAll(/[>:@]/gu, ""), ...said].join(" ");
    const called = narrowTo(text, plain, agents);
    const folded = text.normalize("NFKC").toLowerCase();
    const named = agents.flatMap(({ aliases }, place) =>
      aliases.some((alias) => folded.includes(alias.toLowerCase())) ? [place] : [],
    );
    if (called !== null) expect(called).toEqual(expect.arrayContaining(named));
    else expect([0, agents.length]).toContain(named.length);
  },
);

property([engagementInputs, fc.array(fc.string({ minLength: 1 }), { minLength: 1 })])(
  "who is not called observes whatever else is so, keeps every credit, and why names the others",
  (input, names) => {
    const called = { ...input, message: { ...input.message, namesOnly: names } };
    const verdict = decideEngagement(called);
    expect(verdict).toEqual({ decision: "observe", rule: "addressed-elsewhere", credit: "kept" });
    const { rungs } = explainEngagement(called);
    const [first] = rungs.filter(({ outcome }) => outcome === "matched");
    expect(first?.fact).toMatch(/^names .*only$/su);
  },
);
