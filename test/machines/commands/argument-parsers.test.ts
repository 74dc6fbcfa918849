/** The words after a command: each form has one spelling, and what is out of its bounds is refused. */
import { describe, expect, test } from "vitest";
import {
  debugWords,
  execOf,
  execWord,
  execWords,
  modelWord,
  queueWord,
  queueWords,
  verbAndPath,
} from "../../../src/machines/commands/argument-parsers.ts";

describe("a word of /queue", () => {
  test.each([
    ["Collect", "collect"],
    ["default", "default"],
    ["RESET", "default"],
    ["drop:NEW", "drop:new"],
    ["cap:1", "cap:1"],
    ["cap:0007", "cap:7"],
    ["cap:1000", "cap:1000"],
    ["debounce:0", "debounce:0"],
    ["debounce:250", "debounce:250"],
    ["debounce:250ms", "debounce:250"],
    ["debounce:1.4", "debounce:1"],
    ["debounce:1.234s", "debounce:1234"],
    ["debounce:60m", "debounce:3600000"],
    ["debounce:3600000", "debounce:3600000"],
  ])("%j is %j", (given, said) => expect(queueWord(given)).toBe(said));

  test.each([
    ...["", "sometimes", "cap", "cap:", "cap:0", "cap:1001", "cap:x", "cap:x5", "cap:5x", "xcap:5"],
    ...["cap:00005", "drop:", "drop:all", "xdrop:new", "drop:newest"],
    ...[
      "debounce:",
      "debounce:s",
      "debounce:x5",
      "debounce:5x",
      "debounce:5ss",
      "debounce:1.2345s",
    ],
    ...["debounce:3600001", "debounce:61m", "debounce:00000001", "xdebounce:5", "5", "debounce"],
  ])("%j is none", (given) => expect(queueWord(given)).toBeNull());
});

describe("a word of /exec", () => {
  test.each([
    ["DEFAULT", "default"],
    ["reset", "default"],
    ["host=HERE", "host=here"],
    ["security=full", "security=full"],
    ["ask=on-miss", "ask=on-miss"],
  ])("%j is %j", (given, said) => expect(execWord(given)).toBe(said));

  test.each([
    ...["", "host=there", "security=off", "ask=full", "full", "off", "security", "security="],
    ...["xsecurity=full", "security=full2", "ask=off!", "insecurity=full", "task=off"],
  ])("%j is none", (given) => expect(execWord(given)).toBeNull());

  test("together they are settings; without a setting, as configured", () => {
    expect(execOf(["security=full", "host=here", "ask=off"])).toStrictEqual({
      security: "full",
      ask: "off",
    });
    expect(execOf(["host=here"])).toStrictEqual({});
    expect(execOf([])).toStrictEqual({});
    expect(execOf(["default"])).toBeNull();
  });
});

test("`default` comes alone, and no command has more words than it has settings", () => {
  expect(queueWords.safeParse(["default"]).data).toEqual(["default"]);
  expect(queueWords.safeParse(["default", "cap:2"]).success).toBe(false);
  expect(queueWords.safeParse(["steer", "cap:2", "drop:old", "debounce:1"]).success).toBe(true);
  expect(queueWords.safeParse(["steer", "cap:2", "drop:old", "cap:1", "cap:2"]).success).toBe(
    false,
  );
  expect(execWords.safeParse(["reset", "ask=off"]).success).toBe(false);
  expect(execWords.safeParse(["ask=off", "host=here", "security=full"]).success).toBe(true);
  expect(execWords.safeParse(["ask=off", "ask=off", "ask=off", "ask=off"]).success).toBe(false);
});

test.each([
  ["/config", verbAndPath],
  ["/debug", debugWords],
])("a value of %s has up to 64 words", (_, form) => {
  const set = (count: number) => ["SET", "a.b", ...Array.from({ length: count }, () => "x")];
  expect(form.safeParse(set(0)).success).toBe(false);
  expect(form.safeParse(set(1)).data).toEqual(["set", "a.b", "x"]);
  expect(form.safeParse(set(64)).success).toBe(true);
  expect(form.safeParse(set(65)).success).toBe(false);
});

test("what is asked about models has one spelling; a model's name keeps its own", () => {
  expect(modelWord.parse("LIST")).toBe("list");
  expect(modelWord.parse("Default")).toBe("default");
  expect(modelWord.parse("GPT-5")).toBe("GPT-5");
});
