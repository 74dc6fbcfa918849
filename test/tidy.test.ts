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

/**
 * Words of an earlier vocabulary, each with the field's term and the reason. They are looked for in
 * comments and, word by word, in identifiers. Strings may hold them: stored names keep their readers.
 */
const gone: readonly { readonly word: RegExp; readonly say: string; readonly why: string }[] = [
  { word: /strands?|braid(s|ed)?/, say: "partition, merge", why: "replays run on one thread" },
  { word: /glances?/, say: "summary", why: "it is a summary of a conversation" },
  // `name:` and `.name` may be fields of the API, which keep their names.
  { word: /(?<!\.)pulses?(?!:)/, say: "heartbeat, activity", why: "it meant both" },
  { word: /desks?/, say: "service", why: "one word for a part with methods" },
  { word: /shelf|shelves/, say: "cache, registry", why: "it caches files or registers skills" },
  { word: /(?<!\.)lanes?(?!:)/, say: "turn slot, send queue", why: "it meant both" },
  { word: /taps?/, say: "listener, telemetry", why: "listeners are called listeners" },
  // Not `told:`, a field of log lines; `lanes:` is one of the API.
  { word: /told(?!:)/, say: "notify, report, emit", why: "it named data, events and calls" },
  { word: /whoever|whom/, say: "the caller, the author, who", why: "name who it is" },
  { word: /befalls?/, say: "happens to", why: "archaic" },
  { word: /knock(s|ed|ing)?/, say: "access request, header check", why: "two different things" },
  { word: /(?<!\.)fellows?(?!:)/, say: "sibling agent", why: "agents of one room are siblings" },
  { word: /struck/, say: "redact, delete, record a death", why: "it meant all three" },
  { word: /breath(s|e)?/, say: "next event loop turn", why: "it is a turn of the event loop" },
  { word: /houses?/, say: "daemon", why: "the program is a daemon" },
  { word: /teach(es)?|taught|lessons?/, say: "help text", why: "commands have help" },
  { word: /mend(s|ed|ing)?/, say: "repair, retry, fix", why: "say which" },
  { word: /books?/, say: "store, index", why: "it stores or indexes" },
  { word: /blot(s|ted|ting)?/, say: "redact", why: "secrets are redacted" },
  { word: /incarnations?/, say: "process, epoch", why: "a host has epochs" },
  { word: /aloud/, say: "synthesize, speech", why: "text to speech" },
  { word: /walks?/, say: "telemetry, path, visit", why: "it named the traces of a message" },
  { word: /sweep(s|er|ers)?|swept/, say: "checkpointer, delete old", why: "it meant both" },
  { word: /(?<!start )gates?/, say: "start gate, access check", why: "only the start has a gate" },
  { word: /tells?|telling/, say: "notify, report, emit", why: "it named data, events and calls" },
  { word: /strikes?/, say: "death, mark", why: "it counted deaths of a host" },
  { word: /hardly|anew|thereby|upon/, say: "rarely, again, so", why: "archaic" },
];
/** Everything that holds English: the code of the daemon and the pages, tests, benches, scripts. */
const written = ["src", "web/src", "test", "bench", "scripts", "examples"]
  .flatMap((folder) => filesBelow(resolve(root, folder), /\.(tsx?|mjs|css)$/))
  .filter((path) => !/node_modules|tidy\.test\.ts$/.test(path));
/** What is read of a file for the words: comments as they are, identifiers in words. */
function vocabulary(text: string): string {
  const strings = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? [];
  const names = text
    .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, " ")
    .replace(strings, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2");
  // Stored names in comments stand between backticks.
  return `${comments.join("\n").replace(/`[^`\n]*`/g, " ")}\n${names}`;
}
const vocabularies = written.map((path) => ({
  path: relative(root, path),
  lines: vocabulary(read(path)).split("\n"),
}));

describe("tidy", () => {
  test.each(gone)("no $word: say $say, as $why", ({ word }) => {
    const whole = new RegExp(`\\b(${word.source})\\b`, "i");
    expect(written.length).toBeGreaterThan(1_000);
    const found = vocabularies.flatMap(({ path, lines }) =>
      lines.flatMap((line) => (whole.test(line) ? [`${path}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

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

  test("a conversation's second step in one event is `next`, which asks what is due now", () => {
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

  test("what test files share has no hooks of its own, as it is loaded once for many of them", () => {
    const shared = tests.filter((path) => !path.endsWith(".test.ts"));
    expect(shared.length).toBeGreaterThan(50);
    expect(offenders(shared, /^(before|after)(Each|All)\(/)).toEqual([]);
  });

  test("no test draws from a list of all characters, which stays in memory", () => {
    expect(offenders(tests, /unit: ?"binary"/)).toEqual([]);
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
    const bundled = read(resolve(root, "scripts/build/bundle.mjs"));
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
