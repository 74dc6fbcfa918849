/**
 * Commands of skills and plugins
 * ==============================
 * The additional entries of the command table: plugins are fixed at start, skills are read from the
 * agents' folders.
 */
import type { Plugin, PluginCommand, Skill } from "../../domain/ports/index.ts";
import { type ExtraCommand, extraWord } from "../../machines/commands/extension-commands.ts";

export interface ExtensionPorts {
  readonly plugins?: readonly Plugin[];
  /** The skills of all agents. */
  readonly skills?: () => readonly Skill[];
}

export interface ExtensionCommands {
  /** Commands of plugins in their order, then skills. */
  list(): readonly ExtraCommand[];
  /** An agent's skill; null: it no longer has one with that name. */
  skill(agentId: string, name: string): Skill | null;
  /** The handler of a plugin's command; null: no such command. */
  handler(name: string): PluginCommand | null;
}

export function createExtensionCommands({
  plugins = [],
  skills = () => [],
}: ExtensionPorts): ExtensionCommands {
  const handlers = new Map<string, PluginCommand>();
  const brought: ExtraCommand[] = [];
  for (const { name: plugin, commands = {} } of plugins)
    for (const [word, command] of Object.entries(commands)) {
      // Plugins passed in by a program have not been validated.
      if (plugin === "skill" || !extraWord.test(plugin) || !extraWord.test(word)) continue;
      const name = `${plugin}:${word}` as const;
      const { help, usage = "", who = "owner", menu = false } = command;
      if (handlers.has(name)) continue;
      handlers.set(name, command);
      brought.push({ name, who, usage, help, menu, agentId: null });
    }
  return {
    list: () => [
      ...brought,
      ...skills().map(({ name, agentId, help, usage, who, menu }) => ({
        name: `skill:${name}` as const,
        agentId,
        help,
        usage,
        who,
        menu,
      })),
    ],
    skill: (agentId, name) =>
      skills().find((skill) => skill.agentId === agentId && `skill:${skill.name}` === name) ?? null,
    handler: (name) => handlers.get(name) ?? null,
  };
}
