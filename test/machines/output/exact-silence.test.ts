/** The silent token to the unit: what is held, what flows, what is taken off. */
import { describe, expect, test } from "vitest";
import { createSilence } from "../../../src/machines/output/silence.ts";

const token = "NO_REPLY";
const run = (text: string, mixed: "strip" | "drop" = "strip", named = token) => {
  const silence = createSilence({ token: named, mixed });
  const pushed = [...text].map((unit) => silence.push(unit));
  return { pushed, ...silence.end() };
};
const said = (text: string) => {
  const { pushed, silent, rest } = run(text);
  return silent ? null : pushed.join("") + rest;
};

describe("a token at an edge", () => {
  test.each<[string, string | null]>([
    ["NO_REPLY", null],
    ["no_replyNO_REPLYno_replyNO_REPLY", null],
    ["NO_REPLY".repeat(5), "NO_REPLY".repeat(5)],
    ["NO_REPLY ".repeat(6), null],
    ['{"action":"no_reply"}', null],
    [`{${" ".repeat(64)}"action":"NO_REPLY"}`, null],
    [`{${" ".repeat(65)}"action":"NO_REPLY"}`, `{${" ".repeat(65)}"action":`],
    ['{"action":"NO_REPLY"} x', "x"],
    ["x NO_REPLY", "x"],
    ["x (NO_REPLY)", "x"],
    ["x. **NO_REPLY**", "x."],
    ["x, NO_REPLY!?", "x,"],
    ["x: NO_REPLY and y", "x: NO_REPLY and y"],
    ["NO_REPLY: x", "x"],
    ["NO_REPLY) x", ") x"],
    ["(NO_REPLY) x", ") x"],
    ["NO_REPLYx", "NO_REPLYx"],
    ["xNO_REPLY", "xNO_REPLY"],
    ["x NO_REPLY NO_REPLY", "x"],
    ["x NO_REPLYNO_REPLY", "x"],
    ["NNO_REPLY", "NNO_REPLY"],
    ["NO NO_REPLY", "NO"],
    ["...", "..."],
    ["", null],
    [" \n", null],
    ["x", "x"],
    ["x ", "x "],
  ])("%j is %j", (text, left) => expect(said(text)).toBe(left));

  test("is held until it is decided, and nothing else is", () => {
    expect(run("a NO b").pushed).toEqual(["a", "", "", "", " NO", " b"]);
    expect(run("abc").pushed).toEqual(["a", "b", "c"]);
    expect(run("a.b").pushed).toEqual(["a", "", ".b"]);
    expect(run("a").rest).toBe("");
    expect(run("a. ").rest).toBe(". ");
    expect(run("a NO_").rest).toBe(" NO_");
  });

  test("unsays the whole answer where it is mixed, and else nothing is changed", () => {
    expect(run("x NO_REPLY", "drop")).toMatchObject({ silent: true, rest: "" });
    expect(run("NO_REPLY", "drop")).toMatchObject({ silent: true, rest: "" });
    expect(run(" x. ", "drop")).toMatchObject({ silent: false, rest: " x. " });
    expect(run(" ", "drop").silent).toBe(true);
    expect(run("say NO_REPLY twice", "drop").rest).toBe("say NO_REPLY twice");
  });

  test("may be any word", () => {
    expect(run("[[x]]", "strip", "[[X]]").silent).toBe(true);
    expect(run("--", "strip", "--").silent).toBe(true);
    expect(run("a --", "strip", "--").rest).toBe("");
    expect(run("--a", "strip", "--").pushed.join("")).toBe("a");
  });
});
