/**
 * Which agents hear a message, and in which session. Decided by the host from what the channel
 * reported and the config alone; nothing a message says can choose a route. A config is compiled
 * once and kept as long as the config object lives.
 */

import { defaultAgentId, type EarshotConfig, pathText } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import { formatSessionKey, type SessionKeyParts } from "../../domain/key.ts";
import { type CompiledBindings, compileBindings, type Routable, tiers } from "./bindings.ts";
import { sharedNames } from "./shared-names.ts";

/** One agent that hears a message. */
export interface ResolvedRoute {
  readonly agentId: string;
  readonly sessionKey: string;
  /** 1 to 9 as in docs/guide/routing.md; 0: a broadcast group. */
  readonly tier: number;
  /** Position in `bindings`; null where none matched. */
  readonly bindingIndex: number | null;
  /** One plain sentence: what chose this agent. */
  readonly explanation: string;
}

export type { Routable } from "./bindings.ts";

interface Compiled {
  readonly bindings: CompiledBindings;
  /** `channel:id` to the canonical name of that person. */
  readonly people: ReadonlyMap<string, string>;
  readonly broadcasts: ReadonlyMap<string, readonly string[]>;
  readonly defaultAgent: string;
}

const compiledByConfig = new WeakMap<EarshotConfig, Compiled>();

function compiled(config: EarshotConfig): Compiled {
  const known = compiledByConfig.get(config);
  if (known !== undefined) return known;
  const people = new Map<string, string>();
  for (const [name, ids] of Object.entries(config.session.identityLinks))
    for (const id of ids) people.set(id, name);
  const broadcasts = new Map<string, readonly string[]>();
  for (const [peer, agents] of Object.entries(config.broadcast))
    if (Array.isArray(agents)) broadcasts.set(peer, agents);
  const made: Compiled = {
    bindings: compileBindings(config.bindings),
    people,
    broadcasts,
    defaultAgent: defaultAgentId(config),
  };
  compiledByConfig.set(config, made);
  return made;
}

/**
 * The person of a direct chat: the canonical name where the person is linked, else the platform's
 * id.
 */
function personOf(message: Routable, people: ReadonlyMap<string, string>): string | null {
  if (people.size === 0) return null;
  const { channel, chat, author } = message;
  const byAuthor = author === undefined ? undefined : people.get(`${channel}:${author.id}`);
  return byAuthor ?? people.get(`${channel}:${chat.id}`) ?? null;
}

function directParts(
  config: EarshotConfig,
  message: Routable,
  base: Pick<SessionKeyParts, "agentId" | "thread">,
): SessionKeyParts {
  const { dmScope, mainKey } = config.session;
  if (dmScope === "main") return { ...base, kind: "main", mainKey };
  const person = personOf(message, compiled(config).people);
  if (person !== null) return { ...base, kind: "per-peer", peer: person };
  const { channel, account, chat } = message;
  if (dmScope === "per-peer") return { ...base, kind: "per-peer", peer: chat.id };
  return { ...base, kind: dmScope, channel, account, peer: chat.id };
}

/** The session of one agent that a message belongs to. */
export function sessionKeyOf(config: EarshotConfig, agentId: string, message: Routable): string {
  if (config.session.scope === "global")
    return formatSessionKey({ agentId, kind: "main", mainKey: "global", thread: null });
  const { thread: below, chat } = message;
  const thread = below === null ? null : { kind: below.kind, id: below.id };
  if (chat.kind === "direct")
    return formatSessionKey(directParts(config, message, { agentId, thread }));
  return formatSessionKey({
    agentId,
    kind: chat.kind,
    channel: message.channel,
    account: message.account,
    id: chat.id,
    thread,
  });
}

/** Whether any place is heard by several agents: nearly always not, and then nothing else is asked. */
export function hasSharedPlaces(config: EarshotConfig): boolean {
  return compiled(config).broadcasts.size > 0;
}

/** Whether the agents of a broadcast group answer one after the other. */
export function isSequential(config: EarshotConfig): boolean {
  return config.broadcast.strategy === "sequential";
}

/**
 * The agents that hear a message, each with its session. One, unless the place is a broadcast
 * group. Never empty.
 */
export function resolveRoute(config: EarshotConfig, message: Routable): readonly ResolvedRoute[] {
  const { bindings, broadcasts, defaultAgent } = compiled(config);
  if (broadcasts.size > 0) {
    const scoped = `${message.channel}:${message.chat.id}`;
    const agents = broadcasts.get(scoped) ?? broadcasts.get(message.chat.id);
    if (agents !== undefined)
      return agents.map((agentId) => ({
        agentId,
        sessionKey: sessionKeyOf(config, agentId, message),
        tier: 0,
        bindingIndex: null,
        explanation: `the place is a broadcast group of ${agents.length} agents`,
      }));
  }
  const found = bindings.find(message);
  const tier = found?.tier ?? 9;
  const agentId =
    found === null ? defaultAgent : (config.bindings[found.index]?.agentId ?? defaultAgent);
  const explanation =
    found === null
      ? `no binding matches, so the default agent ${agentId} hears it`
      : `bindings[${found.index}] matches by ${tiers[tier - 1]}`;
  const sessionKey = sessionKeyOf(config, agentId, message);
  return [{ agentId, sessionKey, tier, bindingIndex: found?.index ?? null, explanation }];
}

/** Bindings that never match, or not where they say. */
function unmatchedBindings(config: EarshotConfig): ConfigFinding[] {
  const { bindings, broadcasts } = compiled(config);
  const shadowed = bindings.shadowed.map(({ index, by: [first, second] }) => ({
    at: `bindings[${index}]`,
    ...(second === undefined
      ? {
          wrong: `it can never match, because bindings[${first}] matches before it`,
          fix: "put it before that one or remove it",
        }
      : {
          wrong:
            `it can never match, because bindings[${first}] has every direct chat and ` +
            `bindings[${second}] every group before it`,
          fix: "give it a peer or remove it",
        }),
  }));
  const shared = config.bindings.flatMap(({ match: { channel, peer } }, index) => {
    if (peer === undefined) return [];
    const key = [`${channel}:${peer.id}`, peer.id].find((name) => broadcasts.has(name));
    if (key === undefined) return [];
    return [
      {
        at: `bindings[${index}]`,
        wrong: `it hears nothing there, because ${pathText(["broadcast", key])} has that place`,
        fix: "remove one of the two",
      },
    ];
  });
  return [...shadowed, ...shared];
}

/** What a config allows but its author rarely means. */
export function routingWarnings(config: EarshotConfig): readonly ConfigFinding[] {
  const warnings = [...unmatchedBindings(config), ...sharedNames(config)];
  const [linked] = Object.keys(config.session.identityLinks);
  if (config.session.dmScope === "per-peer" && linked !== undefined)
    warnings.push({
      at: "session.dmScope",
      wrong:
        `everyone with the id ${JSON.stringify(linked.slice(0, 64))} on any channel shares the session ` +
        "of the linked person",
      fix: 'set it to "per-channel-peer"',
    });
  return warnings;
}
