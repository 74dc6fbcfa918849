/** The manual hangs together: links lead somewhere, every page is found, no key is made up. */
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { besides, manual, type Page, root } from "../support/docs.ts";

const pages = manual();

/** The page without its code: what is in backticks or fences is no link. */
const prose = ({ text }: Page) =>
  text.replace(/^ *```[\s\S]*?^ *```$/gmu, "").replace(/`[^`\n]*`/gu, "code");

/** What a page links to, external addresses aside: path from the root and anchor. */
function linksOf(page: Page): { path: string; anchor: string; link: string }[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/gu)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/u.test(link)) return [];
    const [to = "", anchor = ""] = link.split("#");
    const path = to === "" ? page.path : normalize(join(dirname(page.path), to));
    return [{ path, anchor, link: `${page.path}: ${link}` }];
  });
}

/** The anchors that a reader on GitHub finds: the headings, in small letters, with hyphens. */
const anchorsOf = ({ text }: Page) =>
  [...text.replace(/^ *```[\s\S]*?^ *```$/gmu, "").matchAll(/^#+ (.*)$/gmu)].map(
    ([, heading = ""]) =>
      heading
        .replace(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
  );

test("every link leads to a file that is there, and to a heading in it", () => {
  const links = [...pages, ...besides()].flatMap(linksOf);
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ path, anchor }) => {
    if (!existsSync(join(root, path))) return true;
    if (anchor === "") return false;
    const page = pages.find((one) => one.path === path);
    return page === undefined || !anchorsOf(page).includes(anchor);
  });
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test("every page is one step from the index, and the index from the README", () => {
  const [readme] = pages.filter(({ path }) => path === "README.md");
  const [index] = pages.filter(({ path }) => path === "docs/README.md");
  expect(linksOf(readme as Page).map(({ path }) => path)).toContain("docs/README.md");
  const listed = new Set(linksOf(index as Page).map(({ path }) => path));
  const hidden = pages.map(({ path }) => path).filter((path) => !listed.has(path));
  expect(hidden).toEqual(["docs/README.md"]);
});

test("every picture is shown on a page", () => {
  const shown = new Set(pages.flatMap(linksOf).map(({ path }) => path));
  const pictures = ["conversation", "delivery", "connection", "host"].map(
    (name) => `docs/pictures/machines/${name}.svg`,
  );
  for (const picture of [...pictures, "docs/pictures/chat.png"])
    expect([...shown]).toContain(picture);
});

test("a page opens with its one title", () => {
  for (const { path, text } of pages) {
    expect(text.startsWith("# "), path).toBe(true);
    const titles = text.replace(/^ *```[\s\S]*?^ *```$/gmu, "").match(/^# /gmu);
    expect(titles, path).toHaveLength(1);
  }
});

test("no paragraph stands on two pages", () => {
  const seen = new Map<string, string>();
  const twice: string[] = [];
  for (const page of pages)
    for (const paragraph of prose(page).split(/\n{2,}/u)) {
      const words = paragraph.replace(/\s+/gu, " ").trim();
      if (words.length < 120) continue;
      const before = seen.get(words);
      if (before !== undefined && before !== page.path)
        twice.push(`${before} and ${page.path}: ${words}`);
      seen.set(words, page.path);
    }
  expect(seen.size).toBeGreaterThan(100);
  expect(twice).toEqual([]);
});
