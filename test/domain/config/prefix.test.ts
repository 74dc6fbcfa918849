/** What may come before an answer: names that something fills in, and no others. */
import { describe, expect, test } from "vitest";
import { configProblems, parseConfig, resolveSettings } from "../../../src/domain/config/index.ts";

const problems = (raw: unknown) => configProblems(raw).map(({ message }) => message);

describe("messages.responsePrefix", () => {
  test("refuses a name that nothing fills in, with the path and the names there are", () => {
    const [problem] = problems({ messages: { responsePrefix: "[{agent} {modle}]" } });
    expect(problem).toContain("messages.responsePrefix");
    expect(problem).toContain("unknown placeholder {modle}. Known: {model}, {agent}, {thinkLevel}");
    const list = [{ id: "a", messages: { responsePrefix: "{constructor}" } }];
    expect(problems({ agents: { list } })[0]).toContain("agents.list[0].messages.responsePrefix");
  });

  test("takes the names there are, and braces that name nothing", () => {
    expect(
      problems({ messages: { responsePrefix: "{agent}|{model}|{thinkLevel} {} {1}" } }),
    ).toEqual([]);
  });

  test("of the most specific place is the one of a conversation", () => {
    const config = parseConfig({
      messages: { responsePrefix: "all" },
      agents: { list: [{ id: "main", messages: { responsePrefix: "{agent}" } }] },
    });
    const scope = {
      agentId: "main",
      key: "agent:main:main",
      channel: "telegram",
      account: "default",
      chatKind: "direct",
    } as const;
    expect(resolveSettings(config, scope, 1).responsePrefix).toBe("{agent}");
  });
});
