/**
 * What an idle daemon has in memory: a start loads what it needs, and what only a request, a turn or an order
 * needs comes with the first of those.
 */
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

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

/** Files of src, from the root, and packages that are loaded with a file. */
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

const loaded = loadedWith("src/daemon/cli/commands/start.ts");

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
