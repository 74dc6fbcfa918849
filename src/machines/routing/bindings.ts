/**
 * Compiled bindings
 * =================
 * A list of bindings turned into one map per tier, so that a lookup costs the same for ten bindings
 * and for a hundred thousand. A binding becomes one entry whose name is made of everything it asks
 * for; a message is looked up under each combination of facts that some binding of the tier uses
 * (at most 16). Only the first binding of a name is kept: a later one could never match.
 */
import type { BindingMatch } from "../../domain/config/daemon/bindings.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { ChatKind } from "../../domain/message.ts";

/** Which bindings are tried first; 9 is the default agent. */
export const tiers = [
  "peer",
  "parent peer",
  "peer kind",
  "guild and roles",
  "guild",
  "team",
  "account",
  "channel",
  "default agent",
] as const;
export type Tier = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** What routing looks at; messages, edits, deletions and reports all have it. */
export interface Routable {
  readonly channel: string;
  readonly account: string;
  readonly chat: { readonly id: string; readonly kind: ChatKind };
  readonly thread: { readonly id: string; readonly kind: "thread" | "topic" } | null;
  readonly author?: { readonly id: string } | undefined;
  readonly scope?:
    | {
        readonly guildId?: string | undefined;
        readonly teamId?: string | undefined;
        readonly roles?: readonly string[] | undefined;
      }
    | undefined;
}

export interface BindingFound {
  readonly tier: Tier;
  readonly index: number;
}
/** A binding that can never match. */
export interface ShadowedBinding {
  readonly index: number;
  /** What always matches before it: one of its own tier, or one for each kind of chat. */
  readonly by: readonly [number] | readonly [direct: number, group: number];
}
export interface CompiledBindings {
  find(message: Routable): BindingFound | null;
  readonly shadowed: readonly ShadowedBinding[];
}

/** What a binding may ask for besides channel and peer, as bits of a mask. */
const asks = { account: 1, guild: 2, team: 4, role: 8 } as const;
const allAsks = 15;

interface Facts {
  readonly account: string;
  readonly guild: string | undefined;
  readonly team: string | undefined;
  readonly roles: readonly string[];
}
/** Bindings of one tier: names to the first index, and the masks that occur. */
interface TierIndex {
  readonly first: Map<string, number>;
  readonly masks: Set<number>;
}

/** Lengths in front keep parts apart whatever they hold. */
const part = (text: string): string => `${text.length}:${text}`;
/** Groups and channels are the same kind of peer. */
const kindOf = (kind: string): string => (kind === "direct" ? "d" : "g");

function nameOf(channel: string, peer: string, mask: number, facts: Facts, role: string): string {
  let name = `${mask}/${part(channel)}${peer}`;
  if ((mask & asks.account) !== 0) name += part(facts.account);
  if ((mask & asks.guild) !== 0) name += part(facts.guild ?? "");
  if ((mask & asks.team) !== 0) name += part(facts.team ?? "");
  if ((mask & asks.role) !== 0) name += part(role);
  return name;
}

/** Whether a binding names one account. */
export const accountAsked = (match: BindingMatch): boolean =>
  match.accountId !== undefined && match.accountId !== "*";

/** The tier a binding belongs to; exact peers serve tier 1 and, for threads, tier 2. */
export function tierOf(match: BindingMatch): Tier {
  if (match.peer !== undefined) return match.peer.id === "*" ? 3 : 1;
  if (match.guildId !== undefined) return match.roles === undefined ? 5 : 4;
  if (match.teamId !== undefined) return 6;
  return accountAsked(match) ? 7 : 8;
}

function maskOf(match: BindingMatch): number {
  return (
    (accountAsked(match) ? asks.account : 0) |
    (match.guildId === undefined ? 0 : asks.guild) |
    (match.teamId === undefined ? 0 : asks.team) |
    (match.roles === undefined ? 0 : asks.role)
  );
}

/** A binding's peer as `peersOf` writes them; for a whole kind its letter, without a peer nothing. */
export function peerOf(match: BindingMatch): string {
  if (match.peer === undefined) return "";
  const kind = kindOf(match.peer.kind);
  return match.peer.id === "*" ? kind : kind + part(match.peer.id);
}

const factsOf = (match: BindingMatch): Facts => ({
  account: match.accountId ?? "",
  guild: match.guildId,
  team: match.teamId,
  roles: match.roles ?? [],
});

/** The earliest binding that asks for no more than `mask` does, or undefined. */
function earliest(
  tier: TierIndex,
  channel: string,
  peer: string,
  facts: Facts,
  mask: number,
): number | undefined {
  let least: number | undefined;
  for (const candidate of tier.masks) {
    if ((candidate & ~mask) !== 0) continue;
    const roles = (candidate & asks.role) === 0 ? [""] : facts.roles;
    for (const role of roles) {
      const index = tier.first.get(nameOf(channel, peer, candidate, facts, role));
      if (index !== undefined && (least === undefined || index < least)) least = index;
    }
  }
  return least;
}

/**
 * The peers a message may be bound by: itself first, then, for a thread, the chat it hangs below.
 */
export function peersOf(message: Routable): readonly { tier: 1 | 2; peer: string }[] {
  const { chat, thread, author } = message;
  const kind = kindOf(chat.kind);
  if (thread === null) {
    const chatPeer = { tier: 1, peer: kind + part(chat.id) } as const;
    // Where a direct chat has an id of its own, people still bind the person.
    if (chat.kind !== "direct" || author === undefined || author.id === chat.id) return [chatPeer];
    return [chatPeer, { tier: 1, peer: kind + part(author.id) }];
  }
  const own = { tier: 1, peer: kind + part(`${chat.id}:${thread.kind}:${thread.id}`) } as const;
  const parent = { tier: 2, peer: kind + part(chat.id) } as const;
  // Topic numbers repeat from group to group; only a platform's thread id is a peer by itself.
  if (thread.kind === "topic") return [own, parent];
  return [own, { tier: 1, peer: kind + part(thread.id) }, parent];
}

/** The binding of a tier that leaves no sender to this match, the last one needed; or undefined. */
function coverOf(tier: TierIndex, match: BindingMatch, peer: string): number | undefined {
  const facts = factsOf(match);
  const roles = match.roles ?? [undefined];
  const covers = roles.map((role) =>
    earliest(
      tier,
      match.channel,
      peer,
      { ...facts, roles: role === undefined ? [] : [role] },
      maskOf(match),
    ),
  );
  const known = covers.filter((cover) => cover !== undefined);
  return known.length === roles.length ? Math.max(...known) : undefined;
}

/** Bindings by tier, and those for whole kinds of chats, that leave nothing to a match. */
function overtaken(kinds: TierIndex, match: BindingMatch): ShadowedBinding["by"] | undefined {
  if (match.peer !== undefined) return undefined;
  const direct = coverOf(kinds, match, kindOf("direct"));
  const group = coverOf(kinds, match, kindOf("group"));
  return direct === undefined || group === undefined ? undefined : [direct, group];
}

export function compileBindings(bindings: EarshotConfig["bindings"]): CompiledBindings {
  const index = new Map<Tier, TierIndex>();
  const shadowed: ShadowedBinding[] = [];
  for (const [position, { match }] of bindings.entries()) {
    const tier = tierOf(match);
    const entry = index.get(tier) ?? { first: new Map<string, number>(), masks: new Set<number>() };
    index.set(tier, entry);
    const by = coverOf(entry, match, peerOf(match));
    if (by !== undefined) shadowed.push({ index: position, by: [by] });
    const mask = maskOf(match);
    entry.masks.add(mask);
    for (const role of match.roles ?? [""]) {
      const name = nameOf(match.channel, peerOf(match), mask, factsOf(match), role);
      if (!entry.first.has(name)) entry.first.set(name, position);
    }
  }
  const kinds = index.get(3);
  const reported = new Set(shadowed.map((one) => one.index));
  if (kinds !== undefined)
    for (const [position, { match }] of bindings.entries()) {
      const by = reported.has(position) ? undefined : overtaken(kinds, match);
      if (by !== undefined) shadowed.push({ index: position, by });
    }
  return { shadowed, find: (message) => (index.size === 0 ? null : find(index, message)) };
}

function find(index: ReadonlyMap<Tier, TierIndex>, message: Routable): BindingFound | null {
  const { channel, scope } = message;
  const facts: Facts = {
    account: message.account,
    guild: scope?.guildId,
    team: scope?.teamId,
    roles: scope?.roles ?? [],
  };
  const known =
    (facts.guild === undefined ? allAsks & ~asks.guild & ~asks.role : allAsks) &
    (facts.team === undefined ? ~asks.team : allAsks);
  const peers = index.get(1);
  if (peers !== undefined)
    for (const tier of [1, 2] as const) {
      // A place with two names is one peer: the binding that comes first in the file decides.
      const found = peersOf(message)
        .filter((one) => one.tier === tier)
        .map(({ peer }) => earliest(peers, channel, peer, facts, known))
        .filter((position) => position !== undefined);
      if (found.length > 0) return { tier, index: Math.min(...found) };
    }
  for (const tier of [3, 4, 5, 6, 7, 8] as const) {
    const entry = index.get(tier);
    if (entry === undefined) continue;
    const peer = tier === 3 ? kindOf(message.chat.kind) : "";
    const found = earliest(entry, channel, peer, facts, known);
    if (found !== undefined) return { tier, index: found };
  }
  return null;
}
