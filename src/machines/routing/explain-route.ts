/**
 * Why this agent
 * ==============
 * The tiers of routing as they were tried for one message, each with what was found. For people who
 * ask (`earshot route`), so it reads the list of bindings from the top instead of the compiled
 * maps. Who is chosen comes from the intake, as for every message.
 */
import type { BindingMatch } from "../../domain/config/daemon/bindings.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import {
  accountAsked,
  peerOf,
  peersOf,
  type Routable,
  type Tier,
  tierOf,
  tiers,
} from "./bindings.ts";
import type { ResolvedRoute } from "./routing.ts";

/** One tier as it was tried. */
export interface TierTried {
  readonly tier: Tier;
  /** As in docs/guide/routing.md. */
  readonly name: string;
  readonly outcome: "matched" | "passed" | "not-reached";
  /** What was found, not what was sought. */
  readonly fact: string;
}

/**
 * The nine tiers in the order tried: why these routes, and not another. Grows with the bindings, so
 * it is not for every message.
 */
export function explainTiers(
  config: EarshotConfig,
  message: Routable,
  [chosen]: readonly ResolvedRoute[],
): readonly TierTried[] {
  const at = chosen?.tier ?? 9;
  return tiers.map((name, index) => {
    const tier = (index + 1) as Tier;
    if (at === 0 || tier > at)
      return { tier, name, outcome: "not-reached", fact: at === 0 ? "a broadcast group" : "" };
    if (tier === at) return { tier, name, outcome: "matched", fact: chosen?.explanation ?? "" };
    return { tier, name, outcome: "passed", fact: whyNot(config, message, tier) };
  });
}

function whyNot({ bindings }: EarshotConfig, message: Routable, tier: Tier): string {
  if (tier === 2 && message.thread === null) return "it is in no thread";
  // Exact peers serve both tiers: as the place itself and as what a thread hangs below.
  const kind = tier === 2 ? 1 : tier;
  const all = [...bindings.entries()].filter(([, { match }]) => tierOf(match) === kind);
  if (all.length === 0) return "no binding is of this kind";
  const here = all.filter(([, { match }]) => match.channel === message.channel);
  if (here.length === 0)
    return `${counted(all.length)} of this kind, none for ${quoted(message.channel)}`;
  const near = here.filter(([, { match }]) => peerFits(match, message, tier));
  const [first] = near;
  if (first === undefined) return `${counted(here.length)} of this kind, none for this peer`;
  const more = near.length === 1 ? "" : `, and ${near.length - 1} more`;
  return `bindings[${first[0]}] ${missing(first[1].match, message)}${more}`;
}

const counted = (count: number): string => (count === 1 ? "1 binding" : `${count} bindings`);
const quoted = (text: string): string => JSON.stringify(text.slice(0, 64));

function peerFits(match: BindingMatch, message: Routable, tier: Tier): boolean {
  if (match.peer === undefined) return true;
  const peer = peerOf(match);
  if (tier === 3) return peer === (message.chat.kind === "direct" ? "d" : "g");
  return peersOf(message).some((one) => one.tier === tier && one.peer === peer);
}

/** The first field that does not hold. */
function missing(match: BindingMatch, { account, scope }: Routable): string {
  const has = (value: string | undefined) => (value === undefined ? "none" : quoted(value));
  if (accountAsked(match) && match.accountId !== account)
    return `wants account ${quoted(match.accountId ?? "")}, this is ${quoted(account)}`;
  if (match.guildId !== undefined && match.guildId !== scope?.guildId)
    return `wants guild ${quoted(match.guildId)}, this has ${has(scope?.guildId)}`;
  if (match.teamId !== undefined && match.teamId !== scope?.teamId)
    return `wants team ${quoted(match.teamId)}, this has ${has(scope?.teamId)}`;
  return `wants a role of ${(match.roles ?? []).slice(0, 8).map(quoted).join(", ")}`;
}
