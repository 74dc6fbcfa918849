/** What a heartbeat asks for, and what becomes of its answer. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  composeHeartbeat,
  hasInstructions,
  heartbeatAnswer,
  heartbeatToken,
} from "../../../src/machines/prompt/heartbeat.ts";

describe("a HEARTBEAT.md", () => {
  test.each([
    ["nothing", ""],
    ["white space", " \n\t\r\n  "],
    ["headings", "# Heartbeat\n\n## Every morning\n###"],
    ["a comment", "<!-- keep this\nempty -->\n"],
    ["a comment that never ends", "<!-- look after the mail"],
    ["empty points of lists", "- \n* [ ]\n- [x]\n1.\n2)\n+"],
    ["a rule", "---\n* * *\n___\n"],
    ["all of it", "\ufeff# Beat\r\n<!-- a --> <!-- b -->\r- [ ]\n---"],
  ])("with %s asks for nothing", (_, text) => {
    expect(hasInstructions(text.replace("\ufeff", ""))).toBe(false);
  });

  test.each([
    "Check the mail.",
    "# Beat\n\n- [ ] look at the build",
    "<!-- off --> but this counts",
    "1. water",
    "-5 degrees: warn them",
  ])("that says %j asks for something", (text) => {
    expect(hasInstructions(text)).toBe(true);
  });

  test("of the largest size is read in one pass, however it is meant to hurt", () => {
    const lines = ["<!--".repeat(16_000), `${" ".repeat(64_000)}x`, `${"- ".repeat(32_000)}y`];
    expect(lines.map(hasInstructions)).toEqual([false, true, true]);
  });
});

describe("its prompt", () => {
  test("has the instructions behind the turn's fence and the rule for silence", () => {
    const prompt = composeHeartbeat({ instructions: "Check the mail.\n", at: 0, fence: "f1" });
    expect(prompt).toContain("answer with exactly HEARTBEAT_OK");
    expect(prompt).toContain("1970-01-01 00:00:00 UTC");
    expect(prompt.endsWith("<instructions f1>\nCheck the mail.\n</instructions f1>")).toBe(true);
  });
});

describe("its answer", () => {
  test.each([
    "HEARTBEAT_OK",
    "heartbeat_ok.",
    "**HEARTBEAT_OK**",
    ' "HEARTBEAT_OK" ',
    "HEARTBEAT_OK HEARTBEAT_OK",
    "HEARTBEAT_OK — all quiet.",
    "Nothing to report.\n\nHEARTBEAT_OK",
    "",
    "  \n",
  ])("%j is not sent", (answer) => {
    expect(heartbeatAnswer(answer, 300)).toBeNull();
  });

  test("is sent without the token where it says more than an acknowledgement", () => {
    const words = "The build is red. ".repeat(20).trim();
    expect(heartbeatAnswer(`HEARTBEAT_OK\n\n${words}`, 300)).toBe(words);
    expect(heartbeatAnswer(`${words} HEARTBEAT_OK`, 300)?.trim()).toBe(words);
    expect(heartbeatAnswer("HEARTBEAT_OK red", 2)).toBe("red");
    expect(heartbeatAnswer("HEARTBEAT_OK red", 3)).toBeNull();
  });

  test("is sent as it is where it has no token, however short", () => {
    expect(heartbeatAnswer("Fire!", 300)).toBe("Fire!");
    expect(heartbeatAnswer("HEARTBEAT_OKAY is no token", 300)).toBe("HEARTBEAT_OKAY is no token");
  });

  test("never shows the token at either end, and nothing said is lost beyond the limit", () => {
    const word = fc.constantFrom("build", "red", "Ann", "mail", "ok", "7");
    const words = fc.array(word, { minLength: 1, maxLength: 40 }).map((all) => all.join(" "));
    const before = fc.constantFrom("", `${heartbeatToken} `, `${heartbeatToken}\n\n`);
    const after = fc.constantFrom("", ` ${heartbeatToken}`, `\n${heartbeatToken}.`);
    fc.assert(
      fc.property(
        before,
        words,
        after,
        fc.integer({ min: 0, max: 60 }),
        (head, said, tail, max) => {
          const sent = heartbeatAnswer(head + said + tail, max);
          const acknowledges = head + tail !== "";
          expect(sent).toBe(acknowledges && said.length <= max ? null : said);
        },
      ),
    );
  });
});
