/** Nobody ever sees the silent token, not even its first letter; everything else is said. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSilence } from "../../../src/machines/output/silence.ts";
import { property } from "../../support/property.ts";
import { growthOver16, linearMax } from "../../support/runtime/growth.ts";

const strip = { token: "NO_REPLY", mixed: "strip" as const };
const drop = { token: "NO_REPLY", mixed: "drop" as const };

function run(
  deltas: readonly string[],
  settings: { token: string; mixed: "strip" | "drop" } = strip,
) {
  const silence = createSilence(settings);
  const pushed = deltas.map((delta) => silence.push(delta));
  const { silent, rest } = silence.end();
  return { silent, pushed, said: pushed.join("") + rest };
}

const silentForms = [
  "NO_REPLY",
  "no_reply",
  "No_Reply.",
  "**NO_REPLY**",
  "  NO_REPLY\n",
  "NO_REPLY NO_REPLY\nNO_REPLY",
  "NO_REPLYNO_REPLY",
  '"NO_REPLY"',
  '{"action":"NO_REPLY"}',
  '{ "action" : "no_reply" }',
  '```\n{"action":"NO_REPLY"}\n```',
  "",
  " \n",
];
const spoken: readonly (readonly [string, string])[] = [
  ["NO_REPLY, but hello", "but hello"],
  ["Hello. NO_REPLY", "Hello."],
  ["Hello **NO_REPLY**", "Hello"],
  ["NO_REPLYING is a word", "NO_REPLYING is a word"],
  ["NO_REPLYNO_REPLIES", "NO_REPLYNO_REPLIES"],
  ["NO_REPLYNOW", "NO_REPLYNOW"],
  ["say NO_REPLY to be silent", "say NO_REPLY to be silent"],
  ["NO", "NO"],
  ["N", "N"],
  ["NO_", "NO_"],
  ["No, thanks", "No, thanks"],
  ['{"action":"go"}', '{"action":"go"}'],
  ["**bold** text!", "**bold** text!"],
  ["...", "..."],
];

/** A text split at random places. */
const split = (text: string) =>
  fc
    .array(fc.nat(text.length), { maxLength: text.length })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), text.length])
    .map((cuts) => cuts.slice(1).map((end, index) => text.slice(cuts[index], end)));

describe("silence", () => {
  property([fc.constantFrom(...silentForms).chain(split)])(
    "every form of the token is silent, and not a letter of it is ever shown",
    (deltas) => {
      const { silent, pushed } = run(deltas);
      expect(silent).toBe(true);
      expect(pushed.join("")).toBe("");
      expect(run([deltas.join("")]).silent).toBe(true);
      expect(run(deltas, drop).silent).toBe(true);
    },
  );

  property([
    fc.constantFrom(...spoken).chain(([text, said]) => fc.tuple(split(text), fc.constant(said))),
  ])("a real text is said, without the token at its edges, for any split", ([deltas, said]) => {
    const result = run(deltas);
    expect(result.silent).toBe(false);
    expect(result.said).toBe(said);
    expect(run([deltas.join("")]).silent).toBe(false);
  });

  const pieces = fc.string({
    unit: fc.constantFrom("NO_REPLY", "NO", "_", " ", ".", "{", '"', "a", "🙂", '{"action":"'),
    maxLength: 12,
  });
  property([pieces.chain((text) => fc.tuple(fc.constant(text), split(text)))])(
    "the same answer gives the same words however it was split",
    ([text, deltas]) => {
      const whole = run([text]);
      const parts = run(deltas);
      expect([parts.silent, parts.silent || parts.said]).toEqual([
        whole.silent,
        whole.silent || whole.said,
      ]);
    },
  );

  property([fc.string({ unit: "grapheme" })])("text without the token is said whole", (text) => {
    fc.pre(!text.toLowerCase().includes("no_reply"));
    const { silent, said } = run([text]);
    expect(silent).toBe(text.trim() === "");
    expect(said).toBe(text);
  });

  test("real text flows: it is not held back until the end", () => {
    expect(run(["Hello ", "wor", "ld"]).pushed).toEqual(["Hello", " wor", "ld"]);
  });

  test("with `drop` a token at an edge unsays the whole answer, and nothing was shown before", () => {
    expect(run(["Hello. ", "NO_REPLY"], drop)).toEqual({
      silent: true,
      pushed: ["", ""],
      said: "",
    });
    expect(run(["Hello."], drop)).toMatchObject({ silent: false, said: "Hello." });
  });

  test("another token works alike", () => {
    expect(run(["[[silent]]"], { token: "[[silent]]", mixed: "strip" }).silent).toBe(true);
    expect(run(["[[[silent]] x"], { token: "[[silent]]", mixed: "strip" }).said).toBe("x");
  });

  test("a megabyte of almost-tokens takes linear time", () => {
    for (const unit of ["NO_REPLY ", "NO_", "{ ", " "])
      expect(growthOver16((count) => run([unit.repeat(count)]), 5_000)).toBeLessThan(linearMax);
  });
});
