/** A config file is changed in one step, with its old text beside it. */
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import JSON5 from "json5";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeConfigFile } from "../../../src/daemon/config-edit/file.ts";
import { withItem, withoutValue, withValue } from "../../../src/daemon/config-edit/json5-text.ts";
import { property } from "../../support/property.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "earshot-config-edit-"));
  file = join(folder, "earshot.json5");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the mode stays, and every change keeps the text before it under a free name", async () => {
  writeFileSync(file, "{}\n");
  chmodSync(file, 0o640);
  expect(await changeConfigFile(file, () => "{ a: 1 }\n")).toBe(`${file}.bak`);
  expect(await changeConfigFile(file, () => "{ a: 2 }\n")).toBe(`${file}.bak2`);
  expect(readFileSync(`${file}.bak`, "utf8")).toBe("{}\n");
  expect(readFileSync(`${file}.bak2`, "utf8")).toBe("{ a: 1 }\n");
  expect(readFileSync(file, "utf8")).toBe("{ a: 2 }\n");
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("a file that is not there is made for its owner only", async () => {
  expect(await changeConfigFile(file, (text) => withValue(text, ["a"], 1))).toBeNull();
  expect(JSON5.parse(readFileSync(file, "utf8"))).toEqual({ a: 1 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["earshot.json5"]);
});

test("a link stays a link", async () => {
  writeFileSync(join(folder, "real.json5"), "{}\n", { mode: 0o600 });
  symlinkSync("real.json5", file);
  await changeConfigFile(file, () => "{ a: 1 }\n");
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "real.json5"), "utf8")).toBe("{ a: 1 }\n");
});

test("a change that another program makes meanwhile is not lost", async () => {
  writeFileSync(file, "{}\n", { mode: 0o600 });
  const change = changeConfigFile(file, () => {
    writeFileSync(file, "{ theirs: true }\n");
    return "{ ours: true }\n";
  });
  await expect(change).rejects.toMatchObject({
    code: "EAR_USAGE",
    message: `Cannot change ${file}: another program changed it meanwhile. Try again`,
  });
  expect(readFileSync(file, "utf8")).toBe("{ theirs: true }\n");
  expect(readdirSync(folder)).toEqual(["earshot.json5"]);
});

test("without a change nothing is written", async () => {
  writeFileSync(file, "{}\n", { mode: 0o600 });
  expect(await changeConfigFile(file, (text) => text)).toBeNull();
  expect(readdirSync(folder)).toEqual(["earshot.json5"]);
});

const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null));
const key = fc.string().filter((name) => name !== "__proto__");
property([
  fc.uniqueArray(fc.tuple(key, leaf), { selector: ([name]) => name, maxLength: 6 }),
  key,
  // As JSON, in which zero has no sign.
  fc
    .json({ maxDepth: 2 })
    .filter((text) => !text.includes("__"))
    .map((text) => JSON.parse(text)),
])("a value is set and every other line stays, comments included", (entries, name, after) => {
  const lines = entries.map(
    ([one, value], index) => `  ${JSON.stringify(one)}: ${JSON5.stringify(value)}, // {${index}}`,
  );
  const text = ["// head", "{", ...lines, "  /* [ tail */", "}"].join("\n");
  const changed = withValue(text, [name], after);
  expect(JSON5.parse(changed)).toEqual({ ...Object.fromEntries(entries), [name]: after });
  const found = entries.findIndex(([one]) => one === name);
  const kept = text.split("\n").filter((line, index) => index !== found + 2 && line !== "{");
  const written = changed.split("\n");
  for (const line of kept) expect(written).toContain(line);
  for (const index of entries.keys()) expect(changed).toContain(`// {${index}}`);
});

const plain = fc.oneof(fc.integer(), fc.boolean(), fc.constantFrom("", "a, b", "//", "{x}"));
const someValue = fc.oneof(
  plain,
  fc.array(plain, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("a", "b", "c d"), plain, { maxKeys: 3 }),
);
const someConfig = fc.dictionary(fc.constantFrom("k", "l", "m", "n o"), someValue, {
  minKeys: 1,
  maxKeys: 4,
});
const layouts = [
  (value: unknown) => JSON5.stringify(value),
  (value: unknown) => JSON5.stringify(value, { space: 2 }),
  (value: unknown) => JSON.stringify(value, null, 2).replaceAll("\n", " /* , */\n"),
  (value: unknown) => JSON.stringify(value, null, 1).replaceAll("\n", " // , }\n"),
];

property([someConfig, fc.constantFrom(...layouts), fc.nat()])(
  "a value that is taken out is gone, everything else and every comment stay",
  (config, layout, pick) => {
    const paths = Object.entries(config).flatMap(([key, value]) => [
      [key],
      ...(typeof value === "object"
        ? Object.keys(value).map((step) => [key, Array.isArray(value) ? Number(step) : step])
        : []),
    ]);
    const [key = "", step] = paths[pick % paths.length] ?? [];
    const text = layout(config);
    const left = withoutValue(text, step === undefined ? [key] : [key, step]);
    const expected = structuredClone(config) as Record<string, unknown>;
    const below = expected[key];
    if (step === undefined) delete expected[key];
    else if (Array.isArray(below)) below.splice(Number(step), 1);
    else delete (below as Record<string, unknown>)[step];
    expect(JSON5.parse(left)).toEqual(expected);
    if (layout !== layouts[2]) return;
    const inside = (of: string) => of.split("/* , */").length;
    if (typeof config[key] !== "object") expect(inside(left)).toBe(inside(text));
  },
);

property([someConfig, fc.constantFrom(...layouts), plain])(
  "an item that is added is the last of its list",
  (config, layout, item) => {
    const text = layout({ ...config, list: [1, "two"], none: [] });
    const more = JSON5.parse(withItem(withItem(text, ["list"], item), ["none"], item));
    expect(more).toEqual({ ...config, list: [1, "two", item], none: [item] });
  },
);

test("a value that is taken out leaves the layout that a person would", () => {
  const text = "{\n  a: 1, // one\n  b: 2,\n  c: { d: 3, e: 4 },\n}\n";
  expect(withoutValue(text, ["b"])).toBe("{\n  a: 1, // one\n  c: { d: 3, e: 4 },\n}\n");
  expect(withoutValue(text, ["a"])).toBe("{\n  // one\n  b: 2,\n  c: { d: 3, e: 4 },\n}\n");
  expect(withoutValue(text, ["c", "d"])).toContain("c: { e: 4 }");
  expect(withoutValue(text, ["c", "e"])).toContain("c: { d: 3 }");
  expect(withoutValue(text, ["f"])).toBe(text);
});
