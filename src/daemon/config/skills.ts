/**
 * Keeps the skills found in the agents' folders in memory. They are read at the start and with
 * every config change, so a message never reads the disk.
 */
import { readSkills } from "../../adapters/files/skills.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Log, Skill } from "../../domain/ports/index.ts";

export interface SkillRegistry {
  readonly list: () => readonly Skill[];
  /** Reads them again. Never rejects: what cannot be read is logged and left out. */
  load(config: EarshotConfig): Promise<void>;
}

/** `base`: where relative workspaces start. */
export function createSkillRegistry(base: string, log: Log): SkillRegistry {
  let known: readonly Skill[] = [];
  return {
    list: () => known,
    async load(config) {
      const { skills, problems } = await readSkills(config, base);
      known = skills;
      for (const problem of problems) log("warn", "skill.left-out", { problem });
    },
  };
}
