/** Scenario lines: what is accepted, and how a wrong one is reported. */
import { describe, expect, test } from "vitest";
import { parseScenario, scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";

const message = {
  channel: "irc",
  chat: { id: "#a", kind: "group" },
  id: "m1",
  author: { id: "u1" },
};
const line = (value: unknown) => `${JSON.stringify(value)}\n`;

describe("parseScenario()", () => {
  test("fills in the defaults of the short form", () => {
    const { header, lines } = parseScenario(
      line({ t: 0, in: { ...message, text: "hi" } }),
      "a.jsonl",
    );
    expect(header).toEqual({ earshot: 1, config: {} });
    expect(lines[0]).toMatchObject({
      in: {
        account: "default",
        author: { id: "u1", name: "u1", isBot: false, isSelf: false },
        mentions: [],
        attachments: [],
        thread: null,
        replyTo: null,
      },
    });
  });

  test("reads a header, every kind of line and blank lines", () => {
    const place = { channel: "irc", chat: "#a" };
    const text = [
      { earshot: 1, config: { context: { size: 3 } }, start: 1_763_700_000_000 },
      { t: 0, membership: { ...place, humans: 3, bots: 1, truncated: false } },
      { t: 0, history: { ...place, messages: [{ ...message, text: "before" }] } },
      {
        t: 0,
        agent: {
          agentId: "main",
          runs: [{ afterMs: 5, steps: [{ text: "a" }, { tool: "skip_response" }] }],
        },
      },
      { t: 1, platform: { channel: "irc", send: "429", retryAfterMs: 2000, count: 1 } },
      { t: 2, in: { ...message, text: "hi" } },
      { t: 3, edit: { ...place, id: "m1", text: "ho" } },
      { t: 4, delete: { ...place, id: "m1" } },
      { t: 5, crash: "host" },
      { t: 5, passivate: true },
      { t: 9000, end: true },
    ].map(line);
    const { header, lines } = parseScenario(text.join("\n"), "a.jsonl");
    expect(header.start).toBe(1_763_700_000_000);
    expect(lines).toHaveLength(10);
  });

  test.each([
    ["what is not JSON", "{t:0}\n", /a\.jsonl:1: expected one JSON object/],
    ["an unknown event", line({ t: 0, inn: message }), /a\.jsonl:1: expected one of in, edit/],
    [
      "a missing field, with its path",
      line({ t: 0, in: { ...message, author: {} } }),
      /a\.jsonl:1 at in\.author\.id:/,
    ],
    [
      "a wrong type, with its path",
      line({ t: 0, in: { ...message, chat: { id: 5, kind: "group" } } }),
      /at in\.chat\.id:/,
    ],
    [
      "an unknown key of a run",
      line({ t: 0, agent: { runs: [{ after: 5 }] } }),
      /a\.jsonl:1 at agent\.runs\.0/,
    ],
    [
      "a step that is none, with those that are",
      line({ t: 0, agent: { runs: [{ steps: [{ txt: "a" }] }] } }),
      /a\.jsonl:1 at agent\.runs\.0\.steps\.0: expected one step of text, .*hang/,
    ],
    [
      "a step with a wrong value, with its path",
      line({ t: 0, agent: { runs: [{ steps: [{ waitMs: "5" }] }] } }),
      /a\.jsonl:1 at agent\.runs\.0\.steps\.0\.waitMs: .*expected number/,
    ],
    [
      "a header that is not first",
      line({ t: 0, end: true }) + line({ earshot: 1 }),
      /a\.jsonl:2 at earshot/,
    ],
    ["a version of tomorrow", line({ earshot: 2 }), /a\.jsonl:1 at earshot/],
    ["an array", "[]\n", /a\.jsonl:1: expected an object/],
  ])("refuses %s", (_, text, line) => {
    expect(() => parseScenario(text, "a.jsonl")).toThrow(line);
  });

  test("refuses time that runs back and names the line people see, blank lines counted", () => {
    const text = `${line({ t: 5, end: true })}\n${line({ t: 4, end: true })}`;
    expect(() => parseScenario(text, "a.jsonl")).toThrow(
      /a\.jsonl:3 at t: expected at least 5.*received 4/,
    );
  });

  test("takes objects as the simulator page sends them", () => {
    expect(scenarioOf([{ t: 0, end: true }], "request").lines).toEqual([{ t: 0, end: true }]);
    expect(() => scenarioOf([{ t: 0, end: true }, 5], "request")).toThrow(/request:2/);
  });
});
