/**
 * A configured agent
 * ==================
 * The list entry with the shared defaults filled in, and the names the agent answers to.
 */
import { EarshotError } from "../../errors.ts";
import type { LevelDefaults } from "../../session.ts";
import type { AgentEntry, DriverConfig } from "../daemon/agents.ts";
import type { EarshotConfig } from "../daemon/schema.ts";

export interface ConfiguredAgent extends LevelDefaults {
  readonly id: string;
  readonly name: string;
  /** Implicit names first; distinct. */
  readonly aliases: readonly string[];
  readonly driver: DriverConfig;
  /** As configured: `~` and `<state>`, the state directory, are not filled in. */
  readonly workspace: string;
  /** What it is for; empty: nobody said. */
  readonly purpose: string;
  readonly system: string;
  readonly maxConcurrent: number;
  readonly contextTokens: number;
  readonly thinking: EarshotConfig["agents"]["defaults"]["thinking"];
  /** Overrides the driver's model; null: the driver's. */
  readonly model: string | null;
  /** Names of the tools offered to the agent; null: all. */
  readonly tools: readonly string[] | null;
}

/** A generic id, which is not a name of the agent. */
const genericId = "main";

/**
 * The agent's name in a room: the configured one, `earshot` for the generic agent, otherwise its
 * id.
 */
export function agentName(entry: AgentEntry): string {
  return entry.name ?? (entry.id === genericId ? "earshot" : entry.id);
}

/**
 * The agent's names: its own, its id unless generic, its folder's name if configured, then the
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

/** The agent that answers where no binding matches. */
export function defaultAgentId(config: EarshotConfig): string {
  const { list } = config.agents;
  return (list.find((agent) => agent.default) ?? list[0])?.id ?? genericId;
}

/**
 * The agent with this id, with defaults filled in.
 * @throws EarshotError EAR_ASSERT when the config has no such agent.
 */
export function agentOf(config: EarshotConfig, agentId: string): ConfiguredAgent {
  const entry = config.agents.list.find((agent) => agent.id === agentId);
  if (entry === undefined)
    throw new EarshotError(
      "EAR_ASSERT",
      `Cannot find an agent: the config has none with this id (received ${JSON.stringify(agentId)})`,
    );
  const { defaults } = config.agents;
  return {
    id: entry.id,
    name: agentName(entry),
    aliases: agentAliases(entry),
    driver: entry.driver ?? defaults.driver,
    workspace: entry.workspace ?? `<state>/agents/${entry.id}`,
    purpose: entry.purpose ?? "",
    system: entry.system ?? "",
    maxConcurrent: entry.maxConcurrent ?? defaults.maxConcurrent,
    contextTokens: entry.contextTokens ?? defaults.contextTokens,
    thinking: entry.thinking ?? defaults.thinking,
    verboseDefault: entry.verboseDefault ?? defaults.verboseDefault,
    reasoningDefault: entry.reasoningDefault ?? defaults.reasoningDefault,
    elevatedDefault: entry.elevatedDefault ?? defaults.elevatedDefault,
    usageDefault: entry.usageDefault ?? defaults.usageDefault,
    model: entry.model === undefined ? defaults.model : entry.model,
    tools: entry.tools === undefined ? defaults.tools : entry.tools,
  };
}
