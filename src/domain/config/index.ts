/**
 * Configuration
 * =============
 * The door to the folder: one schema per section beside this file, the parser, and what is derived
 * from a parsed config. Names and defaults are in docs/config.md.
 */
export { agentOf, defaultAgentId } from "./agent.ts";
export { changedPaths, configValues } from "./changes.ts";
export { accountsOf, localChannels } from "./channels.ts";
export { isLoopbackHost } from "./daemon.ts";
export { isPlain, overlay, pathText, unsafePath } from "./overlay.ts";
export {
  configProblems,
  defaultConfig,
  type ParseOptions,
  parseConfig,
  scenarioConfig,
} from "./parse.ts";
export { resolveSettings } from "./resolve.ts";
export { heartbeatKeys, resolveHeartbeat } from "./resolve-heartbeat.ts";
export { resolveMedia } from "./resolve-media.ts";
export type { EarshotConfig, EarshotConfigInput } from "./schema.ts";
export { isSecretPath, mapTexts, secretValues, withoutSecrets } from "./secrets.ts";
export { ownValue } from "./section.ts";
