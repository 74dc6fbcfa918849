/**
 * Levels of a room
 * ================
 * What applies to one conversation, the most general level first: its channel, its account, its
 * group, its topic, and its own entry under `conversations`. A group and a topic are looked up in
 * the session key, so nothing that is set for one room can reach another.
 */
import { defaultAccount, isSessionKey, parseSessionKey, type SessionKeyParts } from "../../key.ts";
import { ownValue } from "../conversation/section.ts";
import type { GroupSettings, RoomLevel } from "../daemon/rooms.ts";
import type { EarshotConfig } from "../daemon/schema.ts";

/** What the levels of a room depend on. */
export interface RoomScope {
  /** Session key. */
  readonly key: string;
  readonly channel: string;
  readonly account: string;
}
interface LevelAt {
  /** Its place in the config. */
  readonly path: readonly string[];
  readonly level: RoomLevel;
}
type Groups = Readonly<Record<string, GroupSettings>>;

/** The scope of a key; one that names no channel (shared direct chats) has the channel "". */
export function scopeOfKey(parts: SessionKeyParts, key: string): RoomScope {
  return {
    key,
    channel: "channel" in parts ? parts.channel : "",
    account: "account" in parts ? parts.account : defaultAccount,
  };
}

/** The levels that the config has for a room, the most specific last. */
export function roomLevels(config: EarshotConfig, scope: RoomScope): readonly LevelAt[] {
  const channel = ownValue(config.channels, scope.channel);
  const account = channel?.accounts && ownValue(channel.accounts, scope.account);
  const own = ownValue(config.conversations, scope.key);
  const path = ["channels", scope.channel];
  const accountPath = [...path, "accounts", scope.account];
  const found: LevelAt[] = [];
  const add = (at: readonly string[], level: unknown) => {
    if (level !== undefined) found.push({ path: at, level: level as RoomLevel });
  };
  add(path, channel);
  add(accountPath, account);
  if (channel?.groups !== undefined || account?.groups !== undefined) {
    const room = roomOf(scope);
    if (room !== null) {
      const groups = [
        groupIn(channel?.groups, path, room, scope.channel),
        groupIn(account?.groups as Groups | undefined, accountPath, room, scope.channel),
      ].flatMap((group) => group ?? []);
      for (const group of groups) add(group.path, group.level);
      for (const group of groups) {
        const topic = room.thread === null ? null : ownValue(group.level.topics ?? {}, room.thread);
        if (topic) add([...group.path, "topics", room.thread as string], topic);
      }
    }
  }
  add(["conversations", scope.key], own);
  return found;
}

interface Room {
  readonly id: string;
  readonly thread: string | null;
}

/** The group of a key, and its topic; null: the key is not of one group. */
function roomOf({ key, channel }: RoomScope): Room | null {
  const parts = isSessionKey(key) ? parseSessionKey(key) : null;
  if (parts === null || !("id" in parts) || parts.channel !== channel) return null;
  return { id: parts.id, thread: parts.thread?.id ?? null };
}

/** A group's entry; its id may be written with the channel in front. */
function groupIn(
  groups: Groups | undefined,
  path: readonly string[],
  { id }: Room,
  channel: string,
): { readonly path: readonly string[]; readonly level: GroupSettings } | null {
  if (groups === undefined) return null;
  for (const name of [id, `${channel}:${id}`]) {
    const level = ownValue(groups, name);
    if (level !== undefined) return { path: [...path, "groups", name], level };
  }
  return null;
}

/** Whether a room has settings of its own, which other rooms of its account do not share. */
export function hasOwnSettings(config: EarshotConfig, scope: RoomScope): boolean {
  return roomLevels(config, scope).some(
    ({ path, level }) =>
      (path[0] === "conversations" || path.includes("groups")) && settingsIn(level).length > 0,
  );
}

/** What a level sets besides who is heard. */
function settingsIn(level: RoomLevel): readonly string[] {
  return Object.entries(level).flatMap(([name, value]) =>
    value === undefined || !settingNames.has(name) ? [] : [name],
  );
}

const settingNames: ReadonlySet<string> = new Set([
  ...["system", "model", "tools", "aliases", "engagement", "context", "loopGuard", "messages"],
  ...["stream", "typing", "silent", "turn", "prompt", "errors", "heartbeat", "media"],
]);

/** The agent's names in a room. */
export function roomAliases(
  config: EarshotConfig,
  scope: RoomScope,
  names: readonly string[],
): readonly string[] {
  const added = roomLevels(config, scope).flatMap(({ level }) => level.aliases ?? []);
  return added.length === 0 ? names : [...new Set([...names, ...added])];
}

/** Every level of every room: channels, accounts, groups, topics and conversations. */
export function allRoomLevels({ channels, conversations }: EarshotConfig): readonly LevelAt[] {
  const places = Object.entries(channels).flatMap(([id, channel]) => [
    { path: ["channels", id], level: channel },
    ...Object.entries(channel.accounts ?? {}).map(([name, account]) => ({
      path: ["channels", id, "accounts", name],
      level: account,
    })),
  ]);
  const groups = places.flatMap(({ path, level }) =>
    Object.entries((level.groups ?? {}) as Groups).map(([id, group]) => ({
      path: [...path, "groups", id],
      level: group,
    })),
  );
  const topics = groups.flatMap(({ path, level }) =>
    Object.entries(level.topics ?? {}).map(([id, topic]) => ({
      path: [...path, "topics", id],
      level: topic,
    })),
  );
  const own = Object.entries(conversations).map(([key, level]) => ({
    path: ["conversations", key],
    level,
  }));
  return [...(places as readonly LevelAt[]), ...groups, ...topics, ...own];
}

/** Every name that any room gives an agent. */
export const namesInRooms = (config: EarshotConfig): readonly string[] =>
  allRoomLevels(config).flatMap(({ level }) => level.aliases ?? []);

/** Where the settings of a room come from: each level that sets something, and what. */
export function roomOrigins(
  config: EarshotConfig,
  key: string,
): readonly { readonly path: readonly string[]; readonly sets: readonly string[] }[] {
  const levels = roomLevels(config, scopeOfKey(parseSessionKey(key), key));
  return levels.flatMap(({ path, level }) => {
    const sets = settingsIn(level);
    return sets.length === 0 ? [] : [{ path, sets }];
  });
}
