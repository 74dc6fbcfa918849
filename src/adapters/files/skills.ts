/**
 * Skills in agents' folders
 * =========================
 * Reads `<workspace>/skills/<name>/skill.json` of every agent. The folder's owner or the agent
 * writes these files: links are not followed, sizes are bounded, and an invalid manifest is skipped
 * with a reason, so one bad folder does not affect the others.
 */
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import { type Skill, skillSchema } from "../../domain/ports/index.ts";
import { parseJson5 } from "./config-file.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** JSON around the longest prompt, each unit escaped. */
const manifestBytesMax = 8 * limits.skillUnitsMax;
const folderName = /^[a-z][a-z0-9_-]{0,31}$/u;

export interface FoundSkills {
  readonly skills: readonly Skill[];
  /** Reasons for skipped folders, one line each. */
  readonly problems: readonly string[];
}

/** The skills of all agents; relative workspaces start at `base`. */
export async function readSkills(config: EarshotConfig, base: string): Promise<FoundSkills> {
  const skills: Skill[] = [];
  const problems: string[] = [];
  for (const { id, workspace } of config.agents.list) {
    if (workspace === undefined) continue;
    const folder = resolve(base, workspace.replace(/^~(?=$|\/)/u, homedir()), "skills");
    for (const name of await namesIn(folder, problems)) {
      const path = join(folder, name, "skill.json");
      try {
        const text = await textOf(path);
        if (text === null) continue;
        const parsed = skillSchema.safeParse(parseJson5(text, path));
        if (!parsed.success) throw new Error(z.prettifyError(parsed.error).replaceAll("\n", " "));
        skills.push({ ...parsed.data, name, agentId: id });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        problems.push(`${path} is left out: ${why}`);
      }
    }
  }
  return { skills, problems };
}

/** Folders that may be skills, sorted by name. */
async function namesIn(folder: string, problems: string[]): Promise<readonly string[]> {
  try {
    if (!(await lstat(folder)).isDirectory()) throw new Error("it is not a folder");
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.flatMap((entry) =>
      entry.isDirectory() && folderName.test(entry.name) ? [entry.name] : [],
    );
    if (names.length > limits.skillsPerAgentMax)
      problems.push(
        `${folder} has more than ${limits.skillsPerAgentMax} skills: the rest is left out`,
      );
    return names.sort().slice(0, limits.skillsPerAgentMax);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      problems.push(`${folder} cannot be read: ${code ?? message}`);
    return [];
  }
}

/** Null: the file does not exist. */
async function textOf(path: string): Promise<string | null> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw new Error(error.code === "ELOOP" ? "it is a symbolic link" : String(error.code));
    },
  );
  if (handle === null) return null;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > manifestBytesMax)
      throw new Error(`it is not a plain file of at most ${manifestBytesMax} bytes`);
    const buffer = Buffer.alloc(stats.size);
    const { bytesRead } = await handle.read(buffer, 0, stats.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
