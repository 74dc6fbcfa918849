/**
 * Access lists of a place
 * =======================
 * The lists and policies that hold for one account: what the account says replaces what its channel
 * says, which replaces the general section. Every list becomes a set of ids with their channel in
 * front, whatever form it was written in, and a sender is looked up in that one form only: an id on
 * one channel that looks like `other:123` is not the person 123 of the other.
 */
import type { GroupAccess } from "../../domain/config/daemon/access.ts";
import { type EarshotConfig, ownValue, pathText } from "../../domain/config/index.ts";

/** Ids with their channel in front. */
export type People = ReadonlySet<string>;

export interface AccessRules {
  readonly dmPolicy: EarshotConfig["access"]["dmPolicy"];
  readonly groupPolicy: EarshotConfig["access"]["groupPolicy"];
  readonly allowFrom: People;
  readonly groupAllowFrom: People;
  /** By platform id. */
  readonly groups: ReadonlyMap<string, GroupRules>;
  /** Where in the config each of them is set, or where it would be set. */
  readonly places: Readonly<Record<"allowFrom" | "groupPolicy", string>>;
}
interface TopicRules {
  readonly enabled: boolean;
  /** Undefined: no list of its own. */
  readonly allowFrom: People | undefined;
}
export interface GroupRules extends TopicRules {
  /** By platform id. */
  readonly topics: ReadonlyMap<string, TopicRules>;
}

const sets = new WeakMap<readonly string[], People>();

/**
 * A list as a set, made once. Every entry of a general list carries its channel; under a channel it
 * may, and what does not is of that channel.
 */
export function peopleOf(list: readonly string[], channel: string | null): People {
  const known = sets.get(list);
  if (known !== undefined) return known;
  const scoped = (id: string) =>
    channel === null || id.startsWith(`${channel}:`) ? id : `${channel}:${id}`;
  const made = new Set(list.map(scoped));
  sets.set(list, made);
  return made;
}

/** Whether a set names this person. An empty set names nobody, and nobody is in no set. */
export function names(people: People, channel: string, id: string | undefined): boolean {
  return id !== undefined && people.size > 0 && people.has(`${channel}:${id}`);
}

type RulesByAccount = Map<string, AccessRules>;
const rulesByConfig = new WeakMap<EarshotConfig, Map<string, RulesByAccount>>();
/**
 * Channels and accounts may be named by callers of the API; the memory of their rules is bounded.
 */
const rulesCountMax = 1_000;

/** The entry of a map, made on the first call unless the map is full. */
function getOrCreate<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const found = map.get(name);
  if (found !== undefined) return found;
  const made = make();
  if (map.size < rulesCountMax) map.set(name, made);
  return made;
}

export function accessOf(config: EarshotConfig, channel: string, account: string): AccessRules {
  let channels = rulesByConfig.get(config);
  if (channels === undefined) {
    channels = new Map();
    rulesByConfig.set(config, channels);
  }
  const accounts = getOrCreate<RulesByAccount>(channels, channel, () => new Map());
  return getOrCreate(accounts, account, () => compile(config, channel, account));
}

type ListedGroup = GroupAccess & {
  readonly topics?: Readonly<Record<string, GroupAccess>> | undefined;
};

/**
 * The groups of a place by platform id: the general ones of this channel, then its own over them.
 */
function groupsOf(
  general: Readonly<Record<string, GroupAccess>>,
  own: Readonly<Record<string, ListedGroup>> | undefined,
  channel: string,
): ReadonlyMap<string, GroupRules> {
  const groups = new Map<string, GroupRules>();
  const prefix = `${channel}:`;
  const rulesOf = ({ enabled, allowFrom }: GroupAccess): TopicRules => ({
    enabled,
    allowFrom: allowFrom && peopleOf(allowFrom, channel),
  });
  const add = (id: string, { topics = {}, ...group }: ListedGroup) => {
    const own = Object.entries(topics).map(([name, topic]) => [name, rulesOf(topic)] as const);
    groups.set(id, { ...rulesOf(group), topics: new Map(own) });
  };
  for (const [id, entry] of Object.entries(general))
    if (id.startsWith(prefix)) add(id.slice(prefix.length), entry);
  for (const [id, entry] of Object.entries(own ?? {}))
    add(id.startsWith(prefix) ? id.slice(prefix.length) : id, entry);
  return groups;
}

/** What is listed for a room: its topic's own rules over its group's. */
export interface ListedRoom extends TopicRules {
  /** What says so. */
  readonly by: "group" | "topic";
}

/** The rules of the room where something was said; undefined: its group is not listed. */
export function listedRoom(
  rules: AccessRules,
  chatId: string,
  threadId: string | undefined,
): ListedRoom | undefined {
  const group = rules.groups.get(chatId);
  if (group === undefined) return undefined;
  const topic = threadId === undefined ? undefined : group.topics.get(threadId);
  if (topic === undefined || !group.enabled) return { ...group, by: "group" };
  if (!topic.enabled || topic.allowFrom !== undefined) return { ...topic, by: "topic" };
  return { ...group, by: "group" };
}

function compile(config: EarshotConfig, channel: string, account: string): AccessRules {
  const general = config.access;
  const place = ownValue(config.channels, channel);
  const own = place?.accounts && ownValue(place.accounts, account);
  const list = (name: "allowFrom" | "groupAllowFrom"): People => {
    const local = own?.[name] ?? place?.[name];
    return local === undefined ? peopleOf(general[name], null) : peopleOf(local, channel);
  };
  const placeOf = (name: keyof AccessRules["places"]): string => {
    if (own?.[name] !== undefined)
      return pathText(["channels", channel, "accounts", account, name]);
    return pathText(place?.[name] === undefined ? ["access", name] : ["channels", channel, name]);
  };
  return {
    places: {
      allowFrom: placeOf("allowFrom"),
      groupPolicy: placeOf("groupPolicy"),
    },
    dmPolicy: own?.dmPolicy ?? place?.dmPolicy ?? general.dmPolicy,
    groupPolicy: own?.groupPolicy ?? place?.groupPolicy ?? general.groupPolicy,
    allowFrom: list("allowFrom"),
    groupAllowFrom: list("groupAllowFrom"),
    groups: groupsOf(general.groups, own?.groups ?? place?.groups, channel),
  };
}
