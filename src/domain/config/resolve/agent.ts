/**
 * An agent as configured
 * ======================
 * The entry of the list with the shared defaults filled in, and the names it listens to.
 */
import { EarshotError } from "../../errors.ts";
import type { AgentEntry, DriverConfig } from "../daemon/agents.ts";
import type { EarshotConfig } from "../daemon/schema.ts";

export interface ConfiguredAgent {
  readonly id: string;
  readonly name: string;
  /** Implicit names first; no two equal. */
  readonly aliases: readonly string[];
  readonly driver: DriverConfig;
  readonly workspace: string;
  readonly system: string;
  readonly maxConcurrent: number;
  readonly contextTokens: number;
  readonly thinking: EarshotConfig["agents"]["defaults"]["thinking"];
  /** Over the driver's own; null: the driver's. */
  readonly model: string | null;
  /** Names of the tools it is offered; null: all. */
  readonly tools: readonly string[] | null;
}

/** An id that says nothing about the agent, so nobody means it when saying it. */
const genericId = "main";

/** The agent's name in a room: as given, else `earshot` for the generic agent, else its id. */
export function agentName(entry: AgentEntry): string {
  return entry.name ?? (entry.id === genericId ? "earshot" : entry.id);
}

/**
 * The agent's names: its own, its id unless generic, its folder's if one was given, then the
 * aliases.
 */
export function agentAliases(entry: AgentEntry): readonly string[] {
  const folder = entry.workspace?.split(/[/\\]/u).findLast((part) => part !== "");
  const names = [
    agentName(entry),
    ...(entry.id === genericId ? [] : [entry.id]),
    ...(folder === undefined || /^[~.]*$/u.test(folder) ? [] : [folder]),
    ...entry.aliases,
  ];
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
}

/** The agent that answers where no binding says otherwise. */
export function defaultAgentId(config: EarshotConfig): string {
  const { list } = config.agents;
  return (list.find((agent) => agent.default) ?? list[0])?.id ?? genericId;
}

/**
 * The agent of that id, complete.
 * @throws EarshotError EAR_ASSERT when the config has no such agent.
 */
export function agentOf(config: EarshotConfig, agentId: string): ConfiguredAgent {
  const entry = config.agents.list.find((agent) => agent.id === agentId);
  if (entry === undefined)
    throw new EarshotError(
      "EAR_ASSERT",
      `Cannot find an agent as the config has none of that id: received ${JSON.stringify(agentId)}`,
    );
  const { defaults } = config.agents;
  return {
    id: entry.id,
    name: agentName(entry),
    aliases: agentAliases(entry),
    driver: entry.driver ?? defaults.driver,
    workspace: entry.workspace ?? `~/.earshot/agents/${entry.id}`,
    system: entry.system ?? "",
    maxConcurrent: entry.maxConcurrent ?? defaults.maxConcurrent,
    contextTokens: entry.contextTokens ?? defaults.contextTokens,
    thinking: entry.thinking ?? defaults.thinking,
    model: entry.model === undefined ? defaults.model : entry.model,
    tools: entry.tools === undefined ? defaults.tools : entry.tools,
  };
}
