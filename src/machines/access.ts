/**
 * Access lists of a place
 * =======================
 * The lists and policies that hold for one account: what the account says replaces what its channel
 * says, which replaces the general section. Every list becomes a set of ids with their channel in
 * front, whatever form it was written in, and a sender is looked up in that one form only: an id on
 * one channel that looks like `other:123` is not the person 123 of the other.
 */
import type { GroupAccess } from "../domain/config/access.ts";
import { type EarshotConfig, ownValue } from "../domain/config/index.ts";

/** Ids with their channel in front. */
export type People = ReadonlySet<string>;

export interface AccessRules {
  readonly dmPolicy: EarshotConfig["access"]["dmPolicy"];
  readonly groupPolicy: EarshotConfig["access"]["groupPolicy"];
  readonly allowFrom: People;
  readonly groupAllowFrom: People;
  /** The entry of a group by its platform id. */
  readonly group: (id: string) => GroupRules | undefined;
  /** Entries that `group` may find. */
  readonly groupsCount: number;
}
export interface GroupRules {
  readonly enabled: boolean;
  /** Undefined: no list of its own. */
  readonly allowFrom: People | undefined;
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

const rulesByConfig = new WeakMap<EarshotConfig, Map<string, AccessRules>>();
/** Accounts may be named by callers of the API; the memory of their rules is bounded. */
const rulesCountMax = 1_000;

/** The rules of one account. */
export function accessOf(config: EarshotConfig, channel: string, account: string): AccessRules {
  let known = rulesByConfig.get(config);
  if (known === undefined) {
    known = new Map();
    rulesByConfig.set(config, known);
  }
  const name = `${channel.length}:${channel}${account}`;
  const found = known.get(name);
  if (found !== undefined) return found;
  const rules = compile(config, channel, account);
  if (known.size < rulesCountMax) known.set(name, rules);
  return rules;
}

function compile(config: EarshotConfig, channel: string, account: string): AccessRules {
  const general = config.access;
  const place = ownValue(config.channels, channel);
  const own = place?.accounts && ownValue(place.accounts, account);
  const list = (name: "allowFrom" | "groupAllowFrom"): People => {
    const local = own?.[name] ?? place?.[name];
    return local === undefined ? peopleOf(general[name], null) : peopleOf(local, channel);
  };
  const groups = own?.groups ?? place?.groups;
  const entryOf = (id: string): GroupAccess | undefined => {
    const scoped = `${channel}:${id}`;
    const local = groups && (ownValue(groups, scoped) ?? ownValue(groups, id));
    return local ?? ownValue(general.groups, scoped);
  };
  return {
    dmPolicy: own?.dmPolicy ?? place?.dmPolicy ?? general.dmPolicy,
    groupPolicy: own?.groupPolicy ?? place?.groupPolicy ?? general.groupPolicy,
    allowFrom: list("allowFrom"),
    groupAllowFrom: list("groupAllowFrom"),
    groupsCount: Object.keys(groups ?? {}).length + Object.keys(general.groups).length,
    group: (id) => {
      const entry = entryOf(id);
      if (entry === undefined) return undefined;
      const { enabled, allowFrom } = entry;
      return { enabled, allowFrom: allowFrom && peopleOf(allowFrom, channel) };
    },
  };
}
