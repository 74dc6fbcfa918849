/**
 * The manual and the config say the same: the reference is made from the schema, every key that any
 * page names exists, and every example is a config that is fine.
 */
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { withConfigReference } from "../../scripts/reference/config.ts";
import { drivers } from "../../src/adapters/agents/index.ts";
import { configFromText } from "../../src/adapters/files/config-file.ts";
import { createRegistry } from "../../src/daemon/config/registry.ts";
import { configKeys } from "../../src/domain/config/docs/config-keys.ts";
import { jsonSchemaOf } from "../../src/domain/config/docs/json-schema.ts";
import { defaultConfig } from "../../src/domain/config/index.ts";
import { type ChannelDefinition, hookNames } from "../../src/domain/ports/index.ts";
import { sampleTurn } from "../../src/testing/agent-contract.ts";
import { blocksOf, manual, type Page, root } from "../support/docs.ts";

const pages = manual();
const page = (path: string) => pages.find((one) => one.path === path) as Page;
const keys = configKeys();

function leaves(value: unknown, path: string): [string, unknown][] {
  const inside = typeof value === "object" && value !== null && !Array.isArray(value);
  const fields = inside ? Object.entries(value) : [];
  if (fields.length === 0) return inside ? [] : [[path, value]];
  return fields.flatMap(([name, one]) => leaves(one, path === "" ? name : `${path}.${name}`));
}

describe("the reference", () => {
  test("is as the schema has it", () => {
    const { text } = page("docs/reference/config.md");
    expect(withConfigReference(text)).toBe(text);
  });

  test("has every key of the defaults, with its default", () => {
    const named = new Map(keys.map((key) => [key.path, key.default]));
    const shown = leaves(defaultConfig, "").filter(([path]) => !/^(channels|agents)\./u.test(path));
    expect(shown.length).toBeGreaterThan(70);
    for (const [path, value] of shown)
      expect([path, named.get(path)]).toEqual([path, JSON.stringify(value)]);
  });

  test("says of every key what it is, and what may stand there", () => {
    expect(keys.length).toBeGreaterThan(120);
    const mute = keys.filter(
      ({ type, about, path }) => about === "" || (type === "" && !path.endsWith("<name>")),
    );
    expect(mute.map(({ path }) => path)).toEqual([]);
  });
});

/** `agents.*.maxConcurrent` and `stream.mode: "draft"` as the names in them. */
function mentionsOf({ path, text }: Page): { at: string; names: string[] }[] {
  const sections = Object.keys(defaultConfig);
  const prose = text
    .replace(/^ *```[\s\S]*?^ *```$/gmu, "")
    .replace(/<!-- made[\s\S]*?<!-- end/u, "");
  return [...prose.matchAll(/`([a-zA-Z]+(?:\.[\w*<>-]+|\[\])+)(?=[`:[ ])/gu)].flatMap(
    ([, key = ""]) => {
      const names = key
        .split(".")
        .filter((name) => !/^\d+$/u.test(name))
        .map((name) => name.replace("[]", ""));
      return sections.includes(names[0] ?? "") ? [{ at: `${path}: ${key}`, names }] : [];
    },
  );
}

/** Whether a key, or one above or below it, goes by these names; `*` and `<…>` stand for any. */
const fits = (names: readonly string[], known: readonly string[]) =>
  names.every((name, at) => {
    const own = known[at];
    if (own === undefined)
      return known.at(-1)?.startsWith("<") === true || opens.has(known.join("."));
    return own === name || own.startsWith("<") || name === "*" || name.startsWith("<");
  });
/** What is below these is checked by the driver, the channel or the converter. */
const opens = new Set([
  "agents.list.driver",
  "agents.defaults.driver",
  ...Object.keys(defaultConfig.media).map((name) => `media.${name}`),
]);

/** `baseDir` is set by the loader, `kind` names the driver itself. */
const optionNames = (schema: z.ZodType) => {
  const { properties = {} } = jsonSchemaOf(schema) as { properties?: object };
  return Object.keys(properties).filter((name) => name !== "kind" && name !== "baseDir");
};

describe("the pages", () => {
  test("name no key that is not there", () => {
    const known = keys.map(({ path }) => path.replaceAll("[]", "").split("."));
    const places = [
      ["channels", "<channel>"],
      ["channels", "<channel>", "accounts", "<account>"],
      ["conversations", "<key>"],
      ["agents", "list"],
    ];
    const all = [...known, ...places.flatMap((place) => known.map((one) => [...place, ...one]))];
    const others = [
      ...hookNames,
      ...Object.keys(sampleTurn()).map((name) => `turn.${name}`),
      "turn.permissions",
      "turn.askOwner",
      "context.clock",
      "context.reportState",
      "context.reportGap",
    ];
    // The page of log events names those only, and some are called like a key.
    const mentions = pages
      .filter(({ path }) => path !== "docs/reference/logs.md")
      .flatMap(mentionsOf);
    expect(mentions.length).toBeGreaterThan(100);
    expect(all.some((one) => fits(["engagement", "windowMs"], one))).toBe(false);
    const unknown = mentions.filter(
      ({ names }) => !others.includes(names.join(".")) && !all.some((one) => fits(names, one)),
    );
    expect(unknown.map(({ at }) => at)).toEqual([]);
  });

  test("of drivers and channels tell every option they take", () => {
    const taken: [string, readonly string[]][] = [];
    for (const { kind, configSchema } of drivers.values())
      taken.push([`docs/agents/${kind}.md`, optionNames(configSchema)]);
    for (const { id, accountSchema } of createRegistry().channels.values())
      taken.push([`docs/channels/${id}.md`, optionNames(accountSchema)]);
    const pageless = ["guide", "scripted"].map((kind) => `docs/agents/${kind}.md`);
    const local = ["terminal", "webchat"].map((id) => `docs/channels/${id}.md`);
    const paged = taken.filter(([path]) => ![...pageless, ...local].includes(path));
    expect(paged.length).toBeGreaterThan(6);
    const untold = paged.flatMap(([path, names]) =>
      names.filter((name) => !page(path).text.includes(name)).map((name) => `${path}: ${name}`),
    );
    expect(untold).toEqual([]);
  });

  const examples = pages.flatMap(blocksOf).filter(({ language }) => language === "json5");
  const channels = new Map<string, ChannelDefinition>(createRegistry().channels);
  beforeAll(async () => {
    const path = join(root, "examples/write-a-channel/pigeon.mjs");
    const { pigeon } = (await import(path)) as { pigeon: ChannelDefinition };
    channels.set(pigeon.id, pigeon);
  });
  const envOf = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/"\$\{(\w+)\}"/gu)].map(([, name]) => [name, "a-secret-of-some-length"]),
    );

  test.each(examples.map((block) => [`${block.page}:${block.line}`, block] as const))(
    "show a config that is fine: %s",
    (at, { text }) => {
      expect(() =>
        configFromText(text, at, { env: envOf(text), parse: { drivers, channels } }),
      ).not.toThrow();
    },
  );
});
