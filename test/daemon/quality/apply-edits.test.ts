/** Settings are changed in the text of a config file, and nothing else is. */
import fc from "fast-check";
import JSON5 from "json5";
import { expect, test } from "vitest";
import { placesIn } from "../../../src/daemon/config-edit/json5-places.ts";
import { textWith } from "../../../src/daemon/quality/apply-edits.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { property } from "../../support/property.ts";

const edit = (path: readonly (string | number)[], after: unknown) => ({
  path,
  before: null,
  after,
});
const mode = edit(["engagement", "stickiness", "mode"], "sliding");
const windowMs = edit(["engagement", "stickiness", "windowMs"], 60_000);
const aliases = edit(["agents", "list", 0, "aliases"], ["Bot", "küche"]);

test("comments, quotes and layout stay", () => {
  const text = `// ours
{
  engagement: { // how it decides
    "stickiness": { mode: 'one-shot' /* for now */, windowMs: 9e5, },
  },
  agents: {
    list: [
      // the cook
      { id: "cook", name: 'Cook', aliases: ["c, {x}"] },
    ],
  },
}
`;
  expect(textWith(text, [mode, windowMs, aliases])).toBe(`// ours
{
  engagement: { // how it decides
    "stickiness": { mode: "sliding" /* for now */, windowMs: 60000, },
  },
  agents: {
    list: [
      // the cook
      { id: "cook", name: 'Cook', aliases: ["Bot", "küche"] },
    ],
  },
}
`);
});

test.each([
  ["{}", '{ engagement: { stickiness: { mode: "sliding" } } }'],
  [
    "{\n  // nothing yet\n}\n",
    '{ engagement: { stickiness: { mode: "sliding" } } \n  // nothing yet\n}\n',
  ],
  [
    "{\n  commands: { text: false },\n}",
    '{\n  engagement: { stickiness: { mode: "sliding" } },\n  commands: { text: false },\n}',
  ],
  [
    "{ engagement: { stickiness: { windowMs: 5 } } }",
    '{ engagement: { stickiness: { mode: "sliding", windowMs: 5 } } }',
  ],
])("a key that is not there is added: %j", (text, changed) => {
  expect(textWith(text, [mode])).toBe(changed);
});

test("an agent that is not in the file is the one that answers without a list", () => {
  const changed = textWith("{}", [aliases]);
  expect(scenarioConfig({}, JSON5.parse(changed)).agents.list).toMatchObject([
    { id: "main", aliases: ["Bot", "küche"] },
  ]);
});

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes("__"));
const spaces = fc.constantFrom(0, 2, "\t");
property([json, spaces])("every value of a text is found where it stands", (value, space) => {
  const text = `// head\n${JSON5.stringify(value, { space })} /* end */`;
  const check = (place: ReturnType<typeof placesIn>, part: unknown): void => {
    expect(JSON5.parse(text.slice(place.start, place.end))).toEqual(part);
    const entries = typeof part === "object" && part !== null ? Object.entries(part) : [];
    expect(place.below?.size ?? 0).toBe(entries.length);
    for (const [key, one] of entries) {
      const below = place.below?.get(Array.isArray(part) ? Number(key) : key);
      expect(below).toBeDefined();
      if (below !== undefined) check(below, one);
    }
  };
  check(placesIn(text), JSON5.parse(text));
});
