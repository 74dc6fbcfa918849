/**
 * What a start loads, read from the static imports: libraries that serve one channel, one kind of
 * agent or one command are loaded when asked for, and a host loads nothing but what folds events. Benches the same way.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { builtMain } from "./support/built/files.ts";
import { filesBelow } from "./support/files.ts";

const root = resolve(import.meta.dirname, "..");

/** What a file imports as soon as it is loaded; types, and what it imports when asked for, are not. */
function importsOf(path: string): readonly string[] {
  const statements = readFileSync(path, "utf8").matchAll(
    /^(?:import|export)\s+(?!type\b)(?:([^"';]*?)\s+from\s+)?"([^"]+)";/gmu,
  );
  return [...statements].flatMap(([, names = "", from = ""]) => {
    const listed = /^\{([^}]*)\}$/u.exec(names.trim())?.[1]?.split(",") ?? [""];
    const given = listed.map((name) => name.trim()).filter((name) => name !== "");
    const isTypes = given.length > 0 && given.every((name) => name.startsWith("type "));
    return isTypes ? [] : [from.startsWith(".") ? resolve(dirname(path), from) : from];
  });
}

/** Files, from the root, and packages that are loaded with a file. */
function loadedWith(first: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [resolve(root, first)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const name = path.startsWith("/") ? relative(root, path) : path;
    if (loaded.has(name)) continue;
    loaded.add(name);
    if (path.startsWith("/")) waiting.push(...importsOf(path));
  }
  return loaded;
}

/** Of those the packages. */
const packagesOf = (first: string): readonly string[] =>
  [...loadedWith(first)].filter((name) => !name.startsWith("node:") && !/\.tsx?$/u.test(name));

const loaded = loadedWith("src/daemon/cli/commands/start.ts");

describe("what a start loads", () => {
  test("the daemon loads no agent's SDK, no platform's library and nothing for a terminal", () => {
    const packages = packagesOf("src/daemon/cli/commands/start.ts");
    expect(packages).toContain("xstate");
    const heavy =
      /^(ai|@ai-sdk\/.*|grammy|discord\.js|@slack\/.*|matrix-js-sdk|baileys|@clack\/.*|pino-pretty)$/;
    expect(packages.filter((name) => heavy.test(name))).toEqual([]);
  });

  test("the daemon loads no engine that keeps conversations elsewhere, and no simulation", () => {
    const files = [...loaded].map((name) => name.replace(/^src\//u, ""));
    expect(files).toContain("daemon/engine/load.ts");
    const later =
      /^(daemon\/engine\/(engine|front)|engines\/restate\/node|daemon\/replay\/simulate)\.ts$/;
    expect(files.filter((path) => later.test(path))).toEqual([]);
    expect(files.filter((path) => path.startsWith("actors/simulation/"))).toEqual([]);
  });

  test("a start loads the daemon, its runtime, its store and its log", () => {
    for (const name of [
      "src/daemon/daemon.ts",
      "src/actors/runtime/assembly.ts",
      "src/actors/supervisor/supervisor.ts",
      "src/adapters/stores/sqlite-store.ts",
      "src/daemon/what-if/what-if.ts",
      "src/daemon/setup/setup.ts",
      "pino",
    ])
      expect(loaded).toContain(name);
  });

  test.each([
    ["a request of the pages", ["src/daemon/api/app.ts"]],
    ["a change of the config on a page", ["src/daemon/setup/plan.ts", "diff"]],
    ["a recording", ["src/daemon/what-if/recording.ts", "src/actors/recording/recorder.ts"]],
    ["a search for rules", ["src/daemon/quality/tune-search.ts", "src/daemon/quality/tune.ts"]],
    ["an account of a channel", ["grammy", "src/adapters/channels/telegram/channel.ts"]],
    ["an engine in front of the hosts", ["src/daemon/engine/engine.ts"]],
  ])("what %s needs is not loaded", (_, names) => {
    expect(names.filter((name) => loaded.has(name))).toEqual([]);
    for (const name of names.filter((one) => one.startsWith("src/")))
      expect(() => importsOf(resolve(root, name))).not.toThrow();
  });

  test("a host loads four libraries", () => {
    const packages = packagesOf("src/actors/host/worker.ts").toSorted();
    expect(packages).toEqual(["comlink", "lru-cache", "xstate", "zod"]);
  });

  test("what a host loads with its first turn brings no agent's SDK either", () => {
    const packages = packagesOf("src/adapters/host-ports.ts");
    expect(packages).toContain("zod");
    expect(packages.filter((name) => /^(ai|@ai-sdk\/.*)$/.test(name))).toEqual([]);
  });

  test("no bench needs Vitest, as each runs in a process of its own", () => {
    const bench = join(root, "bench");
    const entries = filesBelow(bench).filter((path) => path.endsWith(".ts"));
    const needing = entries.filter((path) => loadedWith(path).has("vitest"));
    expect(entries.length).toBeGreaterThan(20);
    expect(needing).toEqual([]);
  });

  test("what is loaded is kept with one byte for each character", () => {
    const dist = resolve(dirname(builtMain), "..", "..");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".js") && !/^(web|test)\b/.test(name))
      .map((name) => join(dist, name));
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => /[^\0-\xff]/.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});
