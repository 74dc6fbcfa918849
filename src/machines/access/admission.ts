/**
 * Who may speak, decided before a conversation exists for the message: policy and lists of the
 * place, then the sender's authority. Every kind of event passes the same checks. People are known by
 * their platform's stable id, compared byte for byte on the channel it came from; names grant
 * nothing. What admission finds out becomes part of the record and is never worked out again later.
 */

import { type EarshotConfig, localChannels, ownValue } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import type { Decision, Rule } from "../../domain/decision.ts";
import type { HistoryReport, Inbound, Reaction } from "../../domain/message.ts";
import type { ChannelEvent } from "../../domain/ports/index.ts";
import type { Authority } from "../events/events.ts";
import { type GrantScope, type KnownPeople, noKnownPeople } from "./access-entries.ts";
import { type AccessRules, accessOf, listedRoom, names, peopleOf } from "./access-rules.ts";

export interface AdmissionContext {
  /** The channel is local: its author is the operator. */
  readonly local: boolean;
  /** The people on the access list. @default nobody */
  readonly known?: KnownPeople;
}

/**
 * What becomes of an event. `null`: admitted, the conversation decides. `own`: our own words coming
 * back, dropped without a decision. The others end here and are recorded.
 */
export interface Admission {
  readonly decision: null | "own" | Exclude<Decision, "engage" | "observe" | "duplicate">;
  /** Set when the event was denied. */
  readonly rule: Rule | null;
  readonly authority: Authority;
  /** One plain sentence for `why` and the log; for a refusal, what would admit it. */
  readonly explanation: string;
  /** Set where a stranger may ask to be let in: they are given a code, once. */
  readonly pairs?: true;
}

/** A person as the checks see them. */
interface Sender {
  readonly id: string;
  readonly isSelf: boolean;
  readonly isChat: boolean;
}
/** Where something was said. */
interface Place {
  readonly channel: string;
  readonly account: string;
  readonly chat: { readonly id: string; readonly kind: "direct" | "group" | "channel" };
  readonly thread?: { readonly id: string } | null;
}
type AccessCheck = { readonly rule: Rule | null; readonly explanation: string };

const noAuthority: Authority = { commandAuthorized: false, owner: false };
const operator: Authority = { commandAuthorized: true, owner: true };

const byPlatform: Admission = {
  decision: null,
  rule: null,
  authority: noAuthority,
  explanation: "reported by the platform itself",
};

const passed = (explanation: string): AccessCheck => ({ rule: null, explanation });
const refused = (rule: Rule, explanation: string): AccessCheck => ({ rule, explanation });
const quoted = (text: string): string => JSON.stringify(text.slice(0, 128));

/** Where something was said, what is configured there, and how its sender is known. */
interface Case {
  readonly config: EarshotConfig;
  readonly rules: AccessRules;
  readonly place: Place;
  readonly sender: Sender;
  readonly owner: boolean;
  /** Whether the sender is on the access list with this scope. */
  readonly is: (scope: GrantScope) => boolean;
}

/** Owners speak directly without being listed again; so do people that an owner has listed. */
function checkDirect({ rules, place, sender, owner, is }: Case): AccessCheck {
  const { dmPolicy } = rules;
  if (dmPolicy === "disabled") return refused("dm-policy", "direct chats are switched off");
  if (dmPolicy === "open") return passed("direct chats are open");
  if (owner) return passed("the sender is an owner");
  if (names(rules.allowFrom, place.channel, sender.id)) return passed("the sender is on allowFrom");
  if (is("direct")) return passed("an owner put the sender on the list of direct chats");
  if (is("member")) return passed("the sender is a member");
  // Who was paired before the policy became a list is not on it.
  if (dmPolicy === "pairing" && is("paired")) return passed("the sender was approved by a code");
  const person = quoted(`${place.channel}:${sender.id}`);
  const list = `add ${person} to ${rules.places.allowFrom}`;
  const fix = dmPolicy === "pairing" ? `approve them with \`earshot pair\`, or ${list}` : list;
  return refused("dm-policy", `the sender is not known here: ${fix}`);
}

/** Groups that are heard at all, and who is heard in them. No role and no pairing counts here. */
function checkGroup({ rules, place, sender, is }: Case): AccessCheck {
  if (rules.groupPolicy === "disabled") return refused("group-policy", "groups are switched off");
  const group = listedRoom(rules, place.chat.id, place.thread?.id);
  const by = group?.by ?? "group";
  if (group !== undefined && !group.enabled)
    return refused("group-policy", `this ${by} is switched off in groups`);
  const only = group?.allowFrom;
  if (only === undefined && rules.groupPolicy === "open") return passed("groups are open");
  const onGroupList = only !== undefined && names(only, place.channel, sender.id);
  if (onGroupList) return passed(`the sender is on this ${by}'s allowFrom`);
  if (only !== undefined)
    return refused("group-policy", `the sender is not on this ${by}'s allowFrom`);
  if (names(rules.groupAllowFrom, place.channel, sender.id))
    return passed("the sender is on groupAllowFrom");
  if (is("group")) return passed("an owner put the sender on the list of groups");
  if (group !== undefined && rules.groupAllowFrom.size === 0)
    return passed("the group is listed in groups");
  const where = quoted(`${place.channel}:${place.chat.id}`);
  return refused(
    "group-policy",
    group === undefined
      ? `the group is not listed: add ${where}: {} to access.groups, ` +
          `or set ${rules.places.groupPolicy} to "open"`
      : "the sender is not on groupAllowFrom, which names who is heard in groups",
  );
}

/** Who may give commands: the list for this channel if there is one, else the place's own lists. */
function mayCommand({ config, rules, place, sender, is }: Case): boolean {
  if (ownValue(config.channels, place.channel)?.enforceOwner === true) return false;
  const { allowFrom } = config.commands;
  const here = ownValue(allowFrom, place.channel);
  const everywhere = ownValue(allowFrom, "*");
  const general = everywhere && peopleOf(everywhere, null);
  const only = here === undefined ? general : peopleOf(here, place.channel);
  if (only !== undefined) return names(only, place.channel, sender.id);
  if (is("member")) return true;
  if (place.chat.kind === "direct") {
    const paired = rules.dmPolicy === "pairing" && is("paired");
    return paired || is("direct") || names(rules.allowFrom, place.channel, sender.id);
  }
  const room = listedRoom(rules, place.chat.id, place.thread?.id)?.allowFrom;
  if (room !== undefined) return names(room, place.channel, sender.id);
  return is("group") || names(rules.groupAllowFrom, place.channel, sender.id);
}

function admitFrom(
  config: EarshotConfig,
  context: AdmissionContext,
  place: Place,
  sender: Sender | null,
): Admission {
  if (sender?.isSelf === true)
    return { decision: "own", rule: null, authority: noAuthority, explanation: "our own message" };
  if (context.local)
    return {
      decision: null,
      rule: null,
      authority: operator,
      explanation: "a local channel: the sender is the operator",
    };
  const direct = place.chat.kind === "direct";
  // A chat speaks in rooms; who would be behind it in a direct one, nobody can say.
  if (sender === null || (direct && sender.isChat))
    return denied(refused("no-author", "nobody is identified as the sender"));
  const rules = accessOf(config, place.channel, place.account);
  const { channel, account } = place;
  const known = context.known ?? noKnownPeople;
  const is = (scope: GrantScope) => known.has(scope, { channel, account, id: sender.id });
  const listed = names(peopleOf(config.commands.ownerAllowFrom, null), channel, sender.id);
  const owner = listed || is("owner");
  const one: Case = { config, rules, place, sender, owner, is };
  const check = direct ? checkDirect(one) : checkGroup(one);
  if (check.rule !== null) {
    const pairs = direct && rules.dmPolicy === "pairing";
    return pairs ? { ...denied(check), pairs } : denied(check);
  }
  const commandAuthorized = owner || mayCommand(one);
  const { explanation } = check;
  return { decision: null, rule: null, authority: { owner, commandAuthorized }, explanation };
}

/** Whether codes are taken here at all: wherever anybody may be heard. */
export function takesClaims(config: EarshotConfig, place: Place): boolean {
  const rules = accessOf(config, place.channel, place.account);
  if (place.chat.kind === "direct") return rules.dmPolicy !== "disabled";
  if (rules.groupPolicy === "disabled") return false;
  return listedRoom(rules, place.chat.id, place.thread?.id)?.enabled !== false;
}

/** Whether anything is heard in that place: our own agents are on no list of people. */
export function hearsPlace(
  config: EarshotConfig,
  { channel, account, chat, thread }: Place,
): boolean {
  const rules = accessOf(config, channel, account);
  if (chat.kind === "direct") return rules.dmPolicy !== "disabled";
  if (rules.groupPolicy === "disabled") return false;
  const group = listedRoom(rules, chat.id, thread?.id);
  if (group !== undefined) return group.enabled;
  return rules.groupPolicy === "open" || rules.groupAllowFrom.size > 0;
}

function denied(check: AccessCheck): Admission {
  const { rule, explanation } = check;
  return { decision: "denied", rule, authority: noAuthority, explanation };
}

const senderOf = (author: Inbound["author"] | undefined): Sender | null =>
  author === undefined
    ? null
    : { id: author.id, isSelf: author.isSelf, isChat: author.isChat === true };

/** A local channel may pass on what strangers say or do, and then says so. */
function admitMessage(
  config: EarshotConfig,
  context: AdmissionContext,
  done: Inbound | Reaction,
): Admission {
  const here = done.outside === true ? { ...context, local: false } : context;
  return admitFrom(config, here, done, senderOf(done.author));
}

/**
 * Judges one event of a channel. An edit or a reaction is its author's; one that names nobody is denied, also
 * where everybody may speak. Deletions and reads of members or history come from the
 * platform itself and pass; the messages inside a history are judged one by one by `admitHistory`.
 */
export function admit(
  event: ChannelEvent,
  config: EarshotConfig,
  context: AdmissionContext,
): Admission {
  switch (event.type) {
    case "message":
      return admitMessage(config, context, event.message);
    case "edit":
      if (event.edit.author?.isHost === true && hearsPlace(config, event.edit)) return byPlatform;
      return admitFrom(config, context, event.edit, senderOf(event.edit.author));
    case "reaction":
      return admitMessage(config, context, event.reaction);
    default:
      return byPlatform;
  }
}

/** The messages of a history that may be remembered; our own are kept, they are what we said. */
export function admitHistory(
  report: HistoryReport,
  config: EarshotConfig,
  context: AdmissionContext,
): readonly Inbound[] {
  return report.messages.filter((message) => {
    const { decision } = admitMessage(config, context, message);
    return decision === null || decision === "own";
  });
}

/** Accounts that can hear no group, which is rarely intended. */
export function accessWarnings(config: EarshotConfig): readonly ConfigFinding[] {
  const warnings: ConfigFinding[] = [];
  for (const [id, channel] of Object.entries(config.channels)) {
    for (const [account, own] of Object.entries(channel.accounts ?? {})) {
      const rules = accessOf(config, id, account);
      // The author of a message on a local channel is the operator, except for posts to a hook.
      const local = localChannels.some((one) => one === id) && !Object.hasOwn(own, "hook");
      if (!channel.enabled || local) continue;
      const nobody = rules.groupAllowFrom.size === 0 && rules.groups.size === 0;
      if (rules.groupPolicy === "allowlist" && nobody)
        warnings.push({
          at: `channels.${id}.accounts.${account}`,
          wrong: "it hears no group",
          fix: `list one in channels.${id}.groups, or set groupPolicy to "open"`,
        });
    }
  }
  return warnings;
}
