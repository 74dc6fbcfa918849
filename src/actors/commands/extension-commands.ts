/**
 * Commands of agents and plugins, as they stand
 * =============================================
 * The further entries of the table of commands, made from what the daemon was given: plugins are fixed
 * at its start, skills are read from the agents' folders by whoever keeps them.
 */
import type { Plugin, PluginCommand, Skill } from "../../domain/ports/index.ts";
import { type ExtraCommand, extraWord } from "../../machines/commands/extension-commands.ts";

export interface ExtensionPorts {
  readonly plugins?: readonly Plugin[];
  /** The skills of all agents. */
  readonly skills?: () => readonly Skill[];
}

export interface ExtensionCommands {
  /** Plugins' in their order, then skills. */
  list(): readonly ExtraCommand[];
  /** What an agent is told for a skill of its own; null: it has none of that name any more. */
  skill(agentId: string, name: string): Skill | null;
  /** The handler of a plugin's command; null: there is none. */
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
      // Plugins that were not loaded from files have been looked at by nobody.
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
