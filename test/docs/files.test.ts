/**
 * Files that the documentation names
 * ==================================
 * Every path exists, and the path of a message in docs/concepts.md is one that the imports allow.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { besides, manual, type Page, root } from "../support/docs.ts";

const pathFilesMax = 12;
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = [...manual(), ...besides()];

/** Paths from the root of the tree: `src/daemon`, `docs/api.md`, `src/adapters/channels/<id>`. */
const named = /(?<![\w./@<:-])(?:src|web|test|bench|docs|examples|scripts|schema)\/[\w./*<>-]*/gu;

/** The part of a path before its first placeholder. */
function literal(path: string): string {
  const at = path.search(/[*<]/u);
  const kept = at === -1 ? path : path.slice(0, path.lastIndexOf("/", at));
  return kept.replace(/[./]+$/u, "");
}

/** A path that a page names is one of the tree, or of the folder that the page shows. */
const exists = ({ path: page }: Page, path: string) =>
  [root, join(root, dirname(page))].some((folder) => existsSync(join(folder, literal(path))));

test("every path that a page names exists", () => {
  const paths = pages.flatMap((page) =>
    [...page.text.matchAll(named)].map(([path]) => ({ page, path })),
  );
  expect(paths.length).toBeGreaterThan(80);
  const missing = paths.filter(({ page, path }) => !exists(page, path));
  expect(missing.map(({ page, path }) => `${page.path}: ${path}`)).toEqual([]);
});

test("a path that does not exist is found", () => {
  const [page] = pages as [Page];
  expect(exists(page, "src/actors/<part>/journal.ts")).toBe(true);
  expect(exists(page, "src/actors/log/journal.ts")).toBe(false);
});

interface Step {
  readonly file: string;
  /** What the next file is given, by the name that stands in both. */
  readonly handsOver: string | null;
}

/** The numbered lists of the section, each a chain of its own. */
function pathsOfMessages(): Step[][] {
  const [, section = ""] = read("docs/concepts.md").split("## The path of one message\n");
  const [text = ""] = section.split("\n## ");
  const lists: Step[][] = [];
  for (const { 1: at = "", 2: file = "", 3: about = "" } of text.matchAll(
    /^(\d+)\. `([^`]+)`((?:.*\n)(?: +.*\n)*)/gmu,
  )) {
    if (at === "1") lists.push([]);
    const [, handsOver = null] = /\(`(\w+)`\)\.\s*$/u.exec(about) ?? [];
    lists.at(-1)?.push({ file, handsOver });
  }
  return lists;
}

function importsOf(file: string): string[] {
  const found = read(file).matchAll(/\b(?:import|export)\b[^"';]*?from\s*"(\.[^"]+)"/gu);
  return [...found].map(([, what = ""]) => relative(root, resolve(root, dirname(file), what)));
}

/** Files that only say what two parts give to each other. */
const isContract = (path: string) =>
  /^src\/(?:actors\/protocol|machines\/events|domain\/ports)\//u.test(path);

/** One imports the other, or both import what is handed over. */
function meet(one: string, other: string): boolean {
  const [ofOne, ofOther] = [importsOf(one), importsOf(other)];
  if (ofOne.includes(other) || ofOther.includes(one)) return true;
  return ofOne.some((path) => isContract(path) && ofOther.includes(path));
}

test("the path of a message follows the imports, through at most 12 files", () => {
  const lists = pathsOfMessages();
  expect(lists.length).toBeGreaterThan(0);
  const files = new Set(lists.flat().map(({ file }) => file));
  expect(files.size).toBeGreaterThan(6);
  expect(files.size).toBeLessThanOrEqual(pathFilesMax);
  const all = [...files];
  expect(all[0]).toMatch(/^src\/daemon\/api\/routes\//u);
  expect(lists.at(-1)?.at(-1)?.file).toMatch(/^src\/adapters\/channels\//u);
  expect(all.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  for (const steps of lists)
    for (const [index, { file, handsOver }] of steps.slice(0, -1).entries()) {
      const next = steps[index + 1]?.file ?? "";
      const says = (path: string) => new RegExp(`\\b${handsOver}\\b`, "u").test(read(path));
      expect([file, handsOver, says(file), says(next)]).toEqual([file, handsOver, true, true]);
      expect([file, next, meet(file, next)]).toEqual([file, next, true]);
    }
});
