/** A change of the config file as a person checks it before it is written. */
import { createHash } from "node:crypto";
import { withoutSecrets } from "../config/excerpt.ts";

export interface ShownDiff {
  /** Lines of a unified diff, without its head. */
  readonly lines: string[];
  /** Of the text that it starts from: a file that changed meanwhile is not written over. */
  readonly token: string;
}

/** Without the secrets that the file may have. What compares is loaded with the first change. */
export async function diffOf(before: string, after: string): Promise<ShownDiff> {
  const { structuredPatch } = await import("diff");
  const [old, fresh] = [withoutSecrets(before), withoutSecrets(after)];
  const { hunks } = structuredPatch("", "", old, fresh, "", "", { context: 3 });
  const lines = hunks.flatMap(({ oldStart, newStart, lines: own }) => [
    `@@ ${oldStart} ${newStart} @@`,
    // Not "No newline at end of file": that is no line of the file.
    ...own.filter((line) => !line.startsWith("\\")),
  ]);
  return { lines, token: tokenOf(before) };
}

export const tokenOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 32);
