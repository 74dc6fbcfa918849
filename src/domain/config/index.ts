/**
 * Configuration
 * =============
 * The public surface of this folder: one schema per section, the parser, and the functions over a
 * parsed config. Names and defaults are in docs/reference/config.md.
 */

export { type JudgeSettings, judgeSettings } from "./conversation/judge.ts";
export { ownValue } from "./conversation/section.ts";
export { accountsOf, localChannels } from "./daemon/channels.ts";
export { isLoopbackHost } from "./daemon/daemon.ts";
export type { EarshotConfig, EarshotConfigInput } from "./daemon/schema.ts";
export { type ConfigValue, changedPaths, configValues } from "./parse/changes.ts";
export { judgesOf } from "./parse/judges.ts";
export { isPlain, overlay, pathText, unsafePath } from "./parse/overlay.ts";
export {
  ConfigError,
  configProblems,
  defaultConfig,
  type ParseOptions,
  parseConfig,
  scenarioConfig,
} from "./parse/parse.ts";
export {
  isSecretName,
  isSecretPath,
  mapTexts,
  secretValues,
  withoutSecrets,
} from "./parse/secrets.ts";
export { agentOf, type ConfiguredAgent, defaultAgentId } from "./resolve/agent.ts";
export { agentIn } from "./resolve/agent-in-room.ts";
export { resolveFirstRead } from "./resolve/first-read.ts";
export { heartbeatKeys, resolveHeartbeat } from "./resolve/heartbeat.ts";
export { resolveJudge } from "./resolve/judge.ts";
export { resolveMedia } from "./resolve/media.ts";
export { resolveSettings } from "./resolve/resolve.ts";
export { allRoomLevels, namesInRooms, roomOrigins } from "./resolve/rooms.ts";
