/**
 * Settings of a conversation
 * ==========================
 * Each level overrides the previous one field by field: the file's own sections, the agent, then the
 * levels of the room (rooms.ts). `byChannel` shorthands belong to the level that contains them.
 */
import type { Trigger } from "../../decision.ts";
import { holdsSeveralChats } from "../../key.ts";
import type { ChatKind } from "../../message.ts";
import type { ConversationSettings, SendPolicy } from "../../settings.ts";
import type { Overrides } from "../conversation/overrides.ts";
import { ownValue } from "../conversation/section.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { overlay } from "../parse/overlay.ts";
import { agentAliases, agentName } from "./agent.ts";
import { type RoomScope, roomAliases, roomLevels } from "./rooms.ts";

/** What a conversation's settings depend on. */
export interface SettingsScope extends RoomScope {
  readonly agentId: string;
  readonly chatKind: ChatKind;
}

type General = Pick<
  EarshotConfig,
  "engagement" | "context" | "loopGuard" | "messages" | "stream" | "typing" | "silent" | "turn"
> &
  Pick<EarshotConfig, "prompt" | "errors">;

/** The levels that may override the file's own sections, the most specific last. */
export function placesOf(
  config: EarshotConfig,
  scope: Omit<SettingsScope, "chatKind">,
): readonly Overrides[] {
  const agent = config.agents.list.find(({ id }) => id === scope.agentId);
  const room = roomLevels(config, scope).map(({ level }) => level);
  return agent === undefined ? room : [agent, ...room];
}

/**
 * The windows and the queue mode of the most specific level that sets one, including its shorthand.
 * The age at which a batch is closed is hard where it is set; a window that a more specific level or
 * a shorthand sets raises it.
 */
function shorthands({ messages: base }: General, places: readonly Overrides[], channel: string) {
  const { inbound, queue } = base;
  let mode = ownValue(queue.byChannel, channel) ?? queue.mode;
  const short = ownValue(inbound.byChannel, channel);
  let idleMs = short ?? inbound.debounceMs;
  let maxMs = Math.max(inbound.debounceMaxMs, short ?? 0);
  for (const { messages } of places) {
    const { inbound: own, queue: ownQueue } = messages ?? {};
    const ownShort = own?.byChannel && ownValue(own.byChannel, channel);
    const set = ownShort ?? own?.debounceMs;
    idleMs = set ?? idleMs;
    maxMs = own?.debounceMaxMs ?? Math.max(maxMs, set ?? 0);
    maxMs = Math.max(maxMs, ownShort ?? 0);
    mode = (ownQueue?.byChannel && ownValue(ownQueue.byChannel, channel)) ?? ownQueue?.mode ?? mode;
  }
  return { debounce: { idleMs, maxMs }, mode };
}

function ackOf(messages: General["messages"], kind: ChatKind): string | null {
  const { ackReaction, ackScope } = messages;
  if (ackReaction === "" || ackScope === "off") return null;
  if (ackScope === "direct" && kind !== "direct") return null;
  if (ackScope === "group" && kind === "direct") return null;
  return ackReaction;
}

/** The first matching rule decides; otherwise the default. */
function sendPolicy({ session }: EarshotConfig, scope: SettingsScope): SendPolicy {
  const { rules, default: otherwise } = session.sendPolicy;
  const rule = rules.find(
    ({ match: { channel, chatKind, keyPrefix } }) =>
      (channel === undefined || channel === scope.channel) &&
      (chatKind === undefined || chatKind === scope.chatKind) &&
      (keyPrefix === undefined || scope.key.startsWith(keyPrefix)),
  );
  return rule?.action ?? otherwise;
}

/** Whether the most specific level that speaks of a judge has one. */
function judgeRule(config: EarshotConfig, places: readonly Overrides[]) {
  const last = [config, ...places].findLast(({ engagement }) => engagement?.judge !== undefined);
  const judge = last?.engagement?.judge ?? null;
  return judge === null ? {} : { judge: { minConfidence: judge.minConfidence } };
}

const isTrigger = (name: string): name is Trigger => name !== "everyone";

/**
 * Resolves the settings of one conversation. Pure; callers cache the result per config version and
 * key. An agent that the config no longer contains keeps its id as its only name.
 */
export function resolveSettings(
  config: EarshotConfig,
  scope: SettingsScope,
  version: number,
): ConversationSettings {
  const places = placesOf(config, scope);
  const general = places.reduce<General>((base, place) => {
    const { engagement, context, loopGuard, messages, stream, typing, silent, turn } = place;
    const { prompt, errors } = place;
    return overlay(base, {
      engagement,
      context,
      loopGuard,
      messages,
      stream,
      typing,
      silent,
      turn,
      prompt,
      errors,
    });
  }, config);
  const entry = config.agents.list.find((agent) => agent.id === scope.agentId);
  const { debounce, mode } = shorthands(config, places, scope.channel);
  const { engagement, context, loopGuard, messages, stream, typing, silent, turn } = general;
  return {
    version,
    agentId: scope.agentId,
    agentName: entry === undefined ? scope.agentId : agentName(entry),
    severalChats: holdsSeveralChats(scope.key),
    engagement: {
      trigger: engagement.trigger.filter(isTrigger),
      activation: engagement.activation,
      broadcasts: engagement.broadcasts,
      aliases: roomAliases(
        config,
        scope,
        entry === undefined ? [scope.agentId] : agentAliases(entry),
      ),
      stickiness: engagement.stickiness,
      freshMembershipMs: engagement.freshMembershipMs,
      participantDays: engagement.participantDays,
      ...judgeRule(config, places),
    },
    everyoneMentions: engagement.trigger.includes("everyone"),
    context: {
      size: context.historyLimit === 0 ? 0 : context.size,
      maxAgeMs: context.maxAgeMs,
    },
    loopGuard,
    debounce,
    queue: {
      mode,
      debounceMs: messages.queue.debounceMs,
      cap: messages.queue.cap,
      drop: messages.queue.drop,
    },
    send: sendPolicy(config, scope),
    ackReaction: ackOf(messages, scope.chatKind),
    replyTo: messages.replyTo,
    responsePrefix: messages.responsePrefix,
    stream: { ...stream, minChars: Math.min(stream.minChars, stream.maxChars) },
    typing,
    silent,
    turn: { idleMs: turn.idleMs, maxMs: turn.maxMs, replyAgeMsMax: turn.replyAgeMsMax },
    notifyRoom: general.errors.notifyRoom,
    messagePrefix: messages.messagePrefix,
    promptHeadings: general.prompt.headings,
    promptSystem: general.prompt.system,
  };
}
