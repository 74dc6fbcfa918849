/**
 * What a start loads, read from the static imports: libraries that serve one channel, one kind of
 * agent or one command are loaded when asked for, and a host loads nothing but what folds events. Benches the same way.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { builtMain } from "./support/built/files.ts";
import { filesBelow } from "./support/files.ts";

const src = resolve(import.meta.dirname, "..", "src");
const statics = /(?:^|\n)(?:import|export)\b(?! type\b)[^"';]*?from\s*"([^"]+)"/g;

/** The packages that importing a file of src/ brings, its own files' imports followed. */
function packagesOf(entry: string, files: (path: string) => void = () => undefined): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    files(path);
    for (const [, what = ""] of readFileSync(path, "utf8").matchAll(statics))
      if (what.startsWith(".")) visit(resolve(path, "..", what));
      else if (!what.startsWith("node:")) packages.add(what);
  };
  visit(resolve(src, entry));
  return packages;
}

describe("what a start loads", () => {
  test("the daemon loads no agent's SDK, no platform's library and nothing for a terminal", () => {
    const packages = packagesOf("daemon/cli/commands/start.ts");
    expect(packages).toContain("xstate");
    const heavy =
      /^(ai|@ai-sdk\/.*|grammy|discord\.js|@slack\/.*|matrix-js-sdk|baileys|@clack\/.*|pino-pretty)$/;
    expect([...packages].filter((name) => heavy.test(name))).toEqual([]);
  });

  test("the daemon loads no engine that keeps conversations elsewhere, and no simulation", () => {
    const files: string[] = [];
    packagesOf("daemon/cli/commands/start.ts", (path) => files.push(path.slice(src.length + 1)));
    expect(files).toContain("daemon/engine/load.ts");
    const later =
      /^(daemon\/engine\/(engine|front)|engines\/restate\/node|daemon\/replay\/simulate)\.ts$/;
    expect(files.filter((path) => later.test(path))).toEqual([]);
    expect(files.filter((path) => path.startsWith("actors/simulation/"))).toEqual([]);
  });

  test("a host loads four libraries", () => {
    const packages = [...packagesOf("actors/host/worker.ts")].sort();
    expect(packages).toEqual(["comlink", "lru-cache", "xstate", "zod"]);
  });

  test("what a host loads with its first turn brings no agent's SDK either", () => {
    const packages = [...packagesOf("adapters/host-ports.ts")];
    expect(packages).toContain("zod");
    expect(packages.filter((name) => /^(ai|@ai-sdk\/.*)$/.test(name))).toEqual([]);
  });

  test("no bench needs Vitest, as each runs in a process of its own", () => {
    const bench = resolve(src, "..", "bench");
    const entries = filesBelow(bench).filter((path) => path.endsWith(".ts"));
    const needing = entries.filter((path) => packagesOf(path).has("vitest"));
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
