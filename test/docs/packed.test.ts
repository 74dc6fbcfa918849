/** What `npm pack` takes along: the manual in it leads nowhere that the package does not have. */
import { execFileSync } from "node:child_process";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { besides, manual, type Page, root } from "../support/docs.ts";

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

const asked = ["pack", "--dry-run", "--json", "--ignore-scripts"];
const answer = execFileSync("npm", asked, {
  cwd: root,
  encoding: "utf8" as const,
  stdio: ["ignore", "pipe", "ignore"],
});
const [packed] = JSON.parse(answer) as Packed[];
const files = new Set(packed?.files.map(({ path }) => path));
const isPacked = (path: string) =>
  files.has(path) || [...files].some((file) => file.startsWith(`${path.replace(/\/$/u, "")}/`));

const code = /^ *```[\s\S]*?^ *```$|`[^`\n]*`/gmu;
const inside = [...manual(), ...besides()].filter(({ path }) => files.has(path));

const linked = ({ path, text }: Page) =>
  [...text.replace(code, "").matchAll(/\]\(([^)\s#]+)[^)]*\)/gu)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/u.test(link))
    .map((link) => normalize(join(dirname(path), link)));

test("the manual is in it, with the pages beside the examples and the figures", () => {
  expect(inside.length).toBeGreaterThan(30);
  for (const path of ["README.md", "docs/README.md", "bench/README.md", "LICENSE"])
    expect([path, files.has(path)]).toEqual([path, true]);
});

test("every link leads to a file that is in it, too", () => {
  const links = inside.flatMap((page) => linked(page).map((path) => ({ from: page.path, path })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ path }) => !isPacked(path))).toEqual([]);
});

test("every example that a page names is in it", () => {
  const named = inside.flatMap(
    ({ text }) => text.match(/(?<![\w./-])examples\/[\w./-]*\w/gu) ?? [],
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !isPacked(path))).toEqual([]);
});

test("nothing is in it that is made while working: sources, tests, installed packages, state", () => {
  const strange = [...files].filter((path) =>
    /^(?:src|test|web|scripts|coverage|\.ci)\/|(?:^|\/)node_modules\/|\.(?:tgz|db)$/u.test(path),
  );
  expect(strange).toEqual([]);
});
