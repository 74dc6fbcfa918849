/**
 * What is known of servers, channels and people
 * =============================================
 * Discord names channels, roles and people by ids; their names and kinds come with the servers when the
 * gateway is entered and change by its events. What is not known is asked for once. Bounded: the
 * longest unused is forgotten and asked for again.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Inbound, Route } from "../../../domain/message.ts";
import type { DiscordClient } from "./client.ts";
import { isRejected } from "./errors.ts";
import {
  channelSchema,
  channelTypes,
  isThread,
  type WireChannel,
  type WireGuild,
  type WireMember,
  type WireRole,
  type WireUser,
} from "./wire.ts";

/** The bot's identity. */
export interface DiscordSelf {
  readonly id: string;
  readonly username: string;
  readonly name: string;
}

interface Guild {
  name: string | undefined;
  /** Everybody, bots included; null: Discord has not said. */
  members: number | null;
  readonly roles: Map<string, WireRole>;
}

const askMsMax = 10_000;
const guildsMax = 10_000;

export class DiscordChats {
  self: DiscordSelf = { id: "", username: "", name: "" };
  /** Nonces of what this account has sent: it comes back as a message. */
  readonly sent = new LRUCache<string, true>(atMost(limits.unfinishedSendsMax));
  readonly #channels = new LRUCache<string, WireChannel>(atMost(limits.discordNamesMax));
  readonly #people = new LRUCache<string, WireUser>(atMost(limits.discordNamesMax));
  readonly #guilds = new LRUCache<string, Guild>(atMost(guildsMax));

  setGuild({ id, name, member_count, channels, threads, roles }: WireGuild): void {
    const known = new Map(roles.map((role) => [role.id, role]));
    this.#guilds.set(id, { name, members: member_count ?? null, roles: known });
    for (const channel of [...channels, ...threads]) this.setChannel({ ...channel, guild_id: id });
  }

  forgetGuild(id: string): void {
    this.#guilds.delete(id);
  }

  setRole(guildId: string, role: WireRole): void {
    this.#guilds.get(guildId)?.roles.set(role.id, role);
  }

  setChannel(channel: WireChannel): void {
    this.#channels.set(channel.id, channel);
  }

  forgetChannel(id: string): void {
    this.#channels.delete(id);
  }

  meet(user: WireUser, member?: WireMember | null): void {
    const nick = member?.nick;
    this.#people.set(user.id, nick == null || nick === "" ? user : { ...user, global_name: nick });
  }

  channel(id: string): WireChannel | undefined {
    return this.#channels.get(id);
  }

  person(id: string): WireUser | undefined {
    return this.#people.get(id);
  }

  /** The name of a role, and whether it is the one that Discord made for this bot. */
  role(guildId: string | undefined, id: string): { name: string; isOurs: boolean } | undefined {
    const role = guildId === undefined ? undefined : this.#guilds.get(guildId)?.roles.get(id);
    if (role === undefined) return undefined;
    return { name: role.name, isOurs: role.tags?.bot_id === this.self.id };
  }

  /** Everybody in the server of a channel; null: unknown. */
  membersAround(channelId: string): number | null {
    const guildId = this.#channels.get(channelId)?.guild_id;
    return guildId === undefined ? null : (this.#guilds.get(guildId)?.members ?? null);
  }

  /** Asks for a channel that is not known, and for the one that a thread belongs to. */
  async learn(
    client: DiscordClient,
    id: string,
    guildId: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    // Without a server it is a direct chat.
    if (guildId === undefined) return;
    const channel = this.#channels.get(id) ?? (await this.#fetch(client, id, guildId, signal));
    const parent = isThread(channel) ? channel.parent_id : null;
    if (parent != null && !this.#channels.has(parent))
      await this.#fetch(client, parent, guildId, signal);
  }

  async #fetch(
    client: DiscordClient,
    id: string,
    guildId: string,
    signal: AbortSignal,
  ): Promise<WireChannel> {
    const options = { what: "look up a channel", signal, msMax: askMsMax };
    try {
      this.setChannel(await client.ask("GET", `/channels/${id}`, channelSchema, options));
    } catch (error) {
      if (!isRejected(error)) throw error;
      // It is gone, or not for us.
      this.setChannel({ id, type: channelTypes.text, guild_id: guildId });
    }
    return this.#channels.get(id) as WireChannel;
  }

  /** Where something happened: a thread belongs to its channel. */
  placeOf(id: string, guildId: string | undefined): Pick<Inbound, "chat" | "thread"> {
    if (guildId === undefined) return { chat: { id, kind: "direct" }, thread: null };
    const channel = this.#channels.get(id);
    if (channel === undefined || !isThread(channel) || channel.parent_id == null)
      return { chat: this.#chat(id), thread: null };
    const { name, owner_id: owner, parent_id: parent } = channel;
    const thread = {
      id,
      kind: "thread" as const,
      ...(owner == null ? {} : { rootAuthorId: owner }),
      ...(name == null || name === "" ? {} : { title: name }),
    };
    return { chat: this.#chat(parent), thread };
  }

  #chat(id: string): Inbound["chat"] {
    const channel = this.#channels.get(id);
    const kind = channel?.type === channelTypes.announcement ? "channel" : "group";
    const name = channel?.name;
    return { id, kind, ...(name == null || name === "" ? {} : { title: name }) };
  }
}

/** The channel that a route leads to. */
export const channelIn = ({ chat, thread }: Pick<Route, "chat" | "thread">): string =>
  thread?.id ?? chat.id;

export const nameOf = ({ global_name, username }: WireUser): string => global_name || username;
