/** The checks of judges, and of business accounts whose customers would have to be paired. */
import { expect, test } from "vitest";
import { noFacts } from "../../../src/daemon/checks/check.ts";
import { checkConfig } from "../../../src/daemon/checks/config-checks.ts";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const registry = createRegistry();

async function found(raw: object): Promise<readonly string[]> {
  const all = await checkConfig(parseConfig(raw, registry), ["mistake"], noFacts);
  return all.flatMap(({ id, at, wrong }) =>
    id.startsWith("judge.") || id === "access.business-pairing" ? `${id} ${at}: ${wrong}` : [],
  );
}

const judge = { kind: "command", command: "./judge" };
const never = "the judge is never asked: it decides on messages kept as context, and none are kept";
const blind = "the judge sees only the message it is asked about";

test("a judge that sees what was said before is as it should be", async () => {
  expect(await found({})).toEqual([]);
  expect(await found({ engagement: { judge } })).toEqual([]);
  expect(await found({ context: { size: 0 } })).toEqual([]);
  const off = { engagement: { judge: null }, context: { size: 0 } };
  const channels = { webhook: { groups: { kitchen: off } } };
  expect(await found({ engagement: { judge }, channels })).toEqual([]);
});

test("a judge without context is named with its place, at every level", async () => {
  const at = async (raw: object) =>
    (await found(raw)).map((one) => one.slice("judge.no-context ".length));
  expect(await at({ engagement: { judge }, context: { size: 0 } })).toEqual([
    `engagement.judge: ${never}`,
  ]);
  expect(await at({ engagement: { judge }, context: { historyLimit: 0 } })).toEqual([
    `engagement.judge: ${never}`,
  ]);
  expect(await at({ engagement: { judge }, context: { size: 1 } })).toEqual([
    `engagement.judge: ${blind}`,
  ]);
  const groups = { kitchen: { context: { size: 0 } }, garden: { context: { size: 5 } } };
  expect(await at({ engagement: { judge }, channels: { webhook: { groups } } })).toEqual([
    `channels.webhook.groups.kitchen.context: ${never}`,
  ]);
  const list = [{ id: "main", engagement: { judge } }];
  const conversations = { "agent:main:webhook:group:kitchen": { context: { size: 0 } } };
  expect(await at({ agents: { list }, conversations })).toEqual([
    `conversations["agent:main:webhook:group:kitchen"].context: ${never}`,
  ]);
  const own = { accounts: { a: { groups: { kitchen: { engagement: { judge } } } } } };
  expect(await at({ channels: { webhook: { context: { size: 0 }, ...own } } })).toEqual([
    `channels.webhook.accounts.a.groups.kitchen.engagement.judge: ${never}`,
  ]);
});

test("a judge that may not be asked, or whose answer is cut off, is named", async () => {
  const model = { kind: "model", model: "small", baseUrl: "http://127.0.0.1:1/v1" };
  expect(await found({ engagement: { judge: { ...model, maxOutputTokens: 200 } } })).toEqual([]);
  expect(
    await found({ engagement: { judge: { ...model, maxOutputTokens: 8, perDayMax: 0 } } }),
  ).toEqual([
    "judge.short-answer engagement.judge.maxOutputTokens: an answer is cut off at 8 tokens, and a cut answer does not count",
    "judge.no-budget engagement.judge.perDayMax: the judge is never asked",
  ]);
});

test("a business account whose customers would get pairing codes is named", async () => {
  const account = { botToken: "4242:abcdefgh", business: true };
  const named = async (over: object, more: object = {}) =>
    found({ channels: { telegram: { accounts: { shop: { ...account, ...over } } } }, ...more });
  expect(await named({})).toEqual([
    "access.business-pairing channels.telegram.accounts.shop.dmPolicy: each customer of the business account gets a pairing code, in the name of its owner",
  ]);
  expect(await named({ dmPolicy: "open" })).toEqual([]);
  expect(await named({}, { access: { dmPolicy: "allowlist" } })).toEqual([]);
  expect(await named({ business: false })).toEqual([]);
});
