/**
 * Finds: inputs that once broke a parser, as small as they could be made. Each is a file of
 * test/fuzz/finds/<target>, read again with every run, and written by `npm run fuzz -- --keep`.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Frames } from "./mutate.ts";

const folderOf = (target: string) => join(import.meta.dirname, "..", "finds", target);

interface Kept {
  /** What did not hold when it was found. */
  readonly why: string;
  /** A frame that is UTF-8 is a text; any other is its bytes in base64. */
  readonly frames: readonly (string | { readonly base64: string })[];
}

export interface Find {
  readonly name: string;
  readonly why: string;
  readonly frames: Frames;
}

export function findsOf(target: string): readonly Find[] {
  const folder = folderOf(target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const { why, frames } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Kept;
      const bytes = frames.map((frame) =>
        typeof frame === "string" ? Buffer.from(frame) : Buffer.from(frame.base64, "base64"),
      );
      return { name, why, frames: bytes };
    });
}

/** The text of a find's file. */
export function findText(why: string, frames: Frames): string {
  const kept: Kept = {
    why,
    frames: frames.map((frame) => {
      const text = frame.toString("utf8");
      return Buffer.from(text).equals(frame) ? text : { base64: frame.toString("base64") };
    }),
  };
  return `${JSON.stringify(kept, null, 2)}\n`;
}

/** Writes a find, and returns its path. */
export function keep(target: string, why: string, frames: Frames): string {
  const folder = folderOf(target);
  mkdirSync(folder, { recursive: true });
  const hash = createHash("sha256").update(Buffer.concat(frames)).digest("hex").slice(0, 10);
  const words = why
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .slice(0, 40)
    .replace(/-$/u, "");
  const path = join(folder, `${words}-${hash}.json`);
  writeFileSync(path, findText(why, frames));
  return path;
}
