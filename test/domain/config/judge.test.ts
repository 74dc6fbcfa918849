/** Where a judge may be set, what of it a conversation sees, and that it keeps its secrets. */
import { expect, test } from "vitest";
import { drivers } from "../../../src/adapters/agents/index.ts";
import {
  configProblems,
  defaultConfig,
  parseConfig,
  resolveJudge,
  resolveSettings,
  secretValues,
  withoutSecrets,
} from "../../../src/domain/config/index.ts";

const key = "agent:main:irc:group:kitchen";
const other = "agent:main:irc:group:garden";
const scope = { agentId: "main", channel: "irc", account: "default", chatKind: "group" } as const;
const model = {
  kind: "model",
  model: "small",
  baseUrl: "http://127.0.0.1:1/v1",
  apiKey: "judge-key-1234",
};

test("without a judge no config, and no conversation, says a word about one", () => {
  expect(JSON.stringify(defaultConfig)).not.toContain("judge");
  expect(resolveSettings(defaultConfig, { ...scope, key }, 1).engagement).not.toHaveProperty(
    "judge",
  );
  expect(resolveJudge(defaultConfig, "main", key)).toBeNull();
});

test("the most specific level replaces a judge as a whole, or removes it", () => {
  const own = { kind: "command", command: "judge", minConfidence: 0.9 };
  const conversations = {
    [key]: { engagement: { judge: own } },
    [other]: { engagement: { judge: null } },
  };
  const config = parseConfig({ engagement: { judge: model }, conversations }, { drivers });
  const judge = resolveJudge(config, "main", key);
  expect(judge).toMatchObject({ minConfidence: 0.9, perDayMax: 500, driver: { command: "judge" } });
  expect(judge?.driver).not.toHaveProperty("baseUrl");
  expect(resolveJudge(config, "main", other)).toBeNull();
  const rules = (of: string) => resolveSettings(config, { ...scope, key: of }, 1).engagement.judge;
  expect([rules(key), rules(other), rules("agent:main:irc:group:attic")]).toEqual([
    { minConfidence: 0.9 },
    undefined,
    { minConfidence: 0.7 },
  ]);
});

test("its key is a secret, at every level", () => {
  const conversations = { [key]: { engagement: { judge: { ...model, apiKey: "other-key-99" } } } };
  const config = parseConfig({ engagement: { judge: model }, conversations }, { drivers });
  expect(secretValues(config).sort()).toEqual(["judge-key-1234", "other-key-99"]);
  expect(JSON.stringify(withoutSecrets(config))).not.toMatch(/judge-key|other-key/);
});

test("options that its driver does not have are refused with their place", () => {
  const judge = { kind: "command", command: "x", modle: "y" };
  const [problem] = configProblems({ engagement: { judge } }, { drivers });
  expect(problem?.message).toContain("engagement.judge");
  expect(configProblems({ engagement: { judge: { kind: "acp" } } }, { drivers })).toHaveLength(1);
});
