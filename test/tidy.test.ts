/**
 * House rules that a machine can read: purity, sizes, no left-overs. Each rule is a list of
 * offenders that must be empty, so a failure names the file and the line.
 */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../src/domain/limits.ts";
import { filesBelow } from "./support/files.ts";

const root = resolve(import.meta.dirname, "..");
const sources = filesBelow(resolve(root, "src"));
const tests = filesBelow(resolve(root, "test"));
const read = (path: string) => readFileSync(path, "utf8");
/** The code without comments, line numbers kept. Strings stay: good enough for these patterns. */
const code = (path: string) =>
  read(path)
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|\s)\/\/.*$/gm, "$1");

function offenders(paths: readonly string[], pattern: RegExp, text = code): string[] {
  return paths.flatMap((path) =>
    text(path)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${relative(root, path)}:${index + 1} ${line.trim()}`] : [],
      ),
  );
}
const below = (...folders: string[]) =>
  sources.filter((path) =>
    folders.some((folder) => relative(root, path).startsWith(`src/${folder}/`)),
  );

describe("tidy", () => {
  test("domain and machines are pure: no clock, chance, timer, process or network", () => {
    const impure =
      /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|setImmediate|queueMicrotask|performance\.now|process\.|fetch\()/;
    expect(offenders(below("domain", "machines"), impure)).toEqual([]);
  });

  test("actors take time, chance and network from ports", () => {
    const impure = /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|fetch\()/;
    expect(offenders(below("actors"), impure)).toEqual([]);
  });

  test("no regular expression is made from data", () => {
    expect(offenders(below("domain", "machines", "actors"), /new RegExp\(/)).toEqual([]);
  });

  test("conversation machines have no timers, invocations or raised events of their own", () => {
    const files = below("machines").filter((path) => path.includes("conversation"));
    expect(files.length).toBeGreaterThan(0);
    expect(offenders(files, /\b(after|invoke|spawnChild|sendTo|raise)\s*[:(]/)).toEqual([]);
  });

  test("a conversation's second step in one event is `next`, which asks what is owed now", () => {
    const files = below("machines").filter((path) => path.includes("conversation"));
    expect(offenders(files, /\balways:/)).toHaveLength(1);
    const chart = read(resolve(root, "src/machines/conversation.machine.ts"));
    expect(chart).toMatch(/next: \{\s+description: "[^"]+",\s+always: \[/);
  });

  test("statements are prepared from fixed text", () => {
    expect(offenders(sources, /\.(prepare|exec)\(\s*`[^`]*\$\{/)).toEqual([]);
  });

  test("secrets are never compared with ===", () => {
    expect(
      offenders(sources, /\b(token|secret|signature|apiKey)\s*===\s*(?!undefined|null)[a-z]/i),
    ).toEqual([]);
  });

  test("no mark of unfinished work is left", () => {
    const marks = /\b(TODO|FIXME|XXX|not implemented)\b/i;
    expect(
      offenders(
        [...sources, ...tests].filter((path) => !path.endsWith("tidy.test.ts")),
        marks,
        read,
      ),
    ).toEqual([]);
  });

  test("no test is skipped, exclusive or to be done", () => {
    expect(offenders(tests, /\b(it|test|describe)\.(todo|only|skip)\(/)).toEqual([]);
  });

  test("no source file is over 16 kB", () => {
    const large = sources.filter((path) => Buffer.byteLength(read(path)) > 16_384);
    expect(large.map((path) => relative(root, path))).toEqual([]);
  });

  test("every limit is held to somewhere", () => {
    const names = Object.keys(limits);
    const users = sources.filter((path) => !path.endsWith("domain/limits.ts")).map(code);
    const words = new Set(users.flatMap((text) => text.match(/\w+/g) ?? []));
    const unused = names.filter((name) => !words.has(name));
    expect(names.length).toBeGreaterThan(0);
    expect(unused).toEqual([]);
  });

  test("every source file opens with a comment that says what it is", () => {
    const bare = sources.filter((path) => !/^(#!.*\n)?\/\*\*|^\/\//.test(read(path)));
    expect(bare.map((path) => relative(root, path))).toEqual([]);
  });

  test("no object literal is spread into the one around it", () => {
    expect(offenders([...sources, ...tests], /\.\.\.\{\s*(\w|$)/)).toEqual([]);
  });

  test("no export default in the library", () => {
    expect(offenders(sources, /^export default/)).toEqual([]);
  });

  test("a file beside the code is found from dist/chunks as well, where it stands in the package", () => {
    const relativeTo = /\.\/.*import\.meta\.(url|dirname|filename)/;
    const found = offenders(sources, relativeTo);
    expect(found.length).toBeGreaterThan(0);
    const bundled = read(resolve(root, "scripts/bundle.mjs"));
    for (const line of found)
      for (const [, entry] of line.matchAll(/\.\.\/((?:actors|adapters|daemon)\/[\w/-]+)/g))
        expect(bundled).toContain(`"${entry}"`);
    const roomless = /^src\/\w+\/[^/]+:\d+ .*["`]\.\.\//;
    expect(found.filter((line) => !roomless.test(line))).toEqual([]);
  });

  test("every test file asserts something", () => {
    const hollow = tests.filter(
      (path) => path.endsWith(".test.ts") && !/\b(expect|assert)\b|Contract\(/.test(read(path)),
    );
    expect(hollow.map((path) => relative(root, path))).toEqual([]);
  });

  test("the lock file holds the optional packages of every platform, as `npm ci` demands", () => {
    const { packages } = JSON.parse(read(resolve(root, "package-lock.json"))) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    const held = Object.keys(packages);
    expect(wanted.length).toBeGreaterThan(0);
    expect(
      wanted.filter((name) => !held.some((path) => path.endsWith(`node_modules/${name}`))),
    ).toEqual([]);
  });
});
