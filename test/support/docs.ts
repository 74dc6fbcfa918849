/** The pages of the manual, and the fenced blocks in them, for the tests that hold them true. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

export interface Page {
  /** From the root of the tree: `docs/guide/turns.md`. */
  readonly path: string;
  readonly text: string;
}

function below(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return below(path);
    return path.endsWith(".md") ? [path] : [];
  });
}

const pageAt = (path: string): Page => ({
  path: relative(root, path),
  text: readFileSync(path, "utf8"),
});

/** The README and everything in docs/. */
export function manual(): Page[] {
  return [join(root, "README.md"), ...below(join(root, "docs"))].map(pageAt);
}

/** The pages outside the manual: how to contribute, the benches, each example. */
export function besides(): Page[] {
  const examples = readdirSync(join(root, "examples"), { withFileTypes: true });
  const folders = examples.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = ["bench", ...folders.map((name) => join("examples", name))];
  return [
    join(root, "CONTRIBUTING.md"),
    ...paths.map((folder) => join(root, folder, "README.md")).filter(existsSync),
  ].map(pageAt);
}

/** Fenced code: what stands behind the fence, and the lines in it. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** The second word behind the fence: what a test is to make of it. */
  readonly role: string;
  readonly text: string;
}

/** The fenced blocks of a page in their order; those inside a list lose its indentation. */
export function blocksOf({ path, text }: Page): Block[] {
  const fenced = /^( *)```(\w*) ?([\w-]*)[^\n]*\n([\s\S]*?)^\1```$/gmu;
  return [...text.matchAll(fenced)].map(
    ({ 1: indent = "", 2: language = "", 3: role = "", 4: inside = "", index }) => ({
      page: path,
      line: text.slice(0, index).split("\n").length,
      language,
      role,
      text: inside
        .split("\n")
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join("\n"),
    }),
  );
}
