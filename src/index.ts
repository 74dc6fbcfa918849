/**
 * earshot, the library
 * ====================
 * The rules as pure functions, the conversation's statechart, the types for your own channels and
 * agents, and the whole daemon in your process. These exports are stable; everything else may change.
 */
import { type Daemon, type DaemonOptions, startDaemon } from "./daemon/daemon.ts";

export type { RuntimeStatus } from "./actors/protocol/runtime.ts";
export type { Why } from "./actors/protocol/why.ts";
export type { Daemon, DaemonOptions } from "./daemon/daemon.ts";
export {
  type EarshotConfig,
  type EarshotConfigInput,
  parseConfig,
  resolveSettings,
} from "./domain/config/index.ts";
export type {
  CreditUse,
  Decision,
  EngagementInput,
  EngagementVerdict,
  Explanation,
  Membership,
  Participant,
  Rule,
  Rung,
  Verdict,
} from "./domain/decision.ts";
export { EarshotError, type ErrorCode } from "./domain/errors.ts";
export { formatSessionKey, parseSessionKey, type SessionKeyParts } from "./domain/key.ts";
export {
  deletionSchema,
  editSchema,
  historySchema,
  type Inbound,
  type InboundInput,
  inboundSchema,
  membershipSchema,
  type Reaction,
  type Route,
  reactionSchema,
} from "./domain/message.ts";
export * from "./domain/ports/agent.ts";
export * from "./domain/ports/channel.ts";
export type { Clock, Gap, Log } from "./domain/ports/index.ts";
export * from "./domain/ports/plugin.ts";
export type { StreamLine } from "./domain/stream.ts";
export { stepEvent } from "./machines/conversation/message-analysis.ts";
export { conversationMachine } from "./machines/conversation.machine.ts";
export { decideEngagement, explainEngagement } from "./machines/engagement/engagement.ts";
export type { ConversationEvent } from "./machines/events/events.ts";
export { type ChunkerOptions, createChunker } from "./machines/output/chunker.ts";
export type { PromptMessage } from "./machines/prompt/envelope.ts";
export { composeTurnPrompt, type PromptInput } from "./machines/prompt/prompt.ts";
export { type ResolvedRoute, resolveRoute } from "./machines/routing/routing.ts";

/**
 * Runs a whole earshot in this process: journal, workers, channels, pages and API.
 *
 * @example
 * ```ts
 * const earshot = await createEarshot({ stateDir: "./state", channels: [myChannel] });
 * console.log(earshot.page);
 * await earshot.stop();
 * ```
 * @throws EarshotError naming what is in the way and how to clear it.
 */
export function createEarshot(options: DaemonOptions = {}): Promise<Daemon> {
  return startDaemon(options);
}
