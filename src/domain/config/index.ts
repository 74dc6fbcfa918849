/**
 * Configuration
 * =============
 * The door to the folder: one schema per section beside this file, the parser, and what is derived
 * from a parsed config. Names and defaults are in docs/config.md.
 */

export { agentAliases, agentOf, type ConfiguredAgent, defaultAgentId } from "./agent.ts";
export { type ConfigValue, changedPaths, configValues, type ValueOrigin } from "./changes.ts";
export { type AccountConfig, accountsOf, type ChannelConfig, localChannels } from "./channels.ts";
export { isLoopbackHost } from "./daemon.ts";
export { isPlain, overlay, pathText, unsafePath } from "./overlay.ts";
export {
  type ConfigProblem,
  configProblems,
  defaultConfig,
  type ParseOptions,
  parseConfig,
  scenarioConfig,
} from "./parse.ts";
export { resolveSettings, type SettingsScope } from "./resolve.ts";
export { configSchema, type EarshotConfig, type EarshotConfigInput } from "./schema.ts";
export { isSecretPath, mapTexts, secretValues, withoutSecrets } from "./secrets.ts";
export { ownValue } from "./section.ts";
