/**
 * The people, servers and messages of a Discord in the platform's own form (discord-api-types, after
 * https://discord.com/developers/docs/resources/message, .../channel, .../guild and .../events/gateway-events).
 * What happens is emitted as gateway events.
 */
import type {
  APIAttachment,
  APIMessage,
  APIMessageReference,
  APIRole,
  APIUser,
  GatewayGuildCreateDispatchData,
} from "discord-api-types/v10";

const epochMs = 1_420_070_400_000;

export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly guild_id?: string;
  readonly name: string;
  readonly parent_id?: string;
  readonly owner_id?: string;
  last_message_id: string | null;
  /** Whether the bot sees it. */
  isVisible: boolean;
  /** Whether the bot may read what was said. */
  hasHistory: boolean;
  readonly messages: Map<string, APIMessage>;
  /** Message to emoji that the bot has put there. */
  readonly reactions: Map<string, string[]>;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly channels: Channel[];
  readonly threads: Channel[];
  readonly roles: APIRole[];
  members: number;
}

export type Said = Partial<APIMessage> & { readonly replyTo?: APIMessage };

export interface Event {
  readonly t: string;
  readonly d: unknown;
}

export class DiscordWorld {
  readonly bot: APIUser = { ...userOf("4242424242", "scout", "Scout"), bot: true };
  readonly applicationId = "5252525252";
  readonly guilds: Guild[] = [];
  readonly channels = new Map<string, Channel>();
  readonly commands: { name: string; description: string; options?: unknown[] }[] = [];
  /** Emits to every session. */
  onEvent: (event: Event) => void = () => undefined;
  readonly #watchers = new Set<() => void>();
  #count = 0;

  /** A new id, later than all before. */
  snowflake(at = Date.now()): string {
    this.#count += 1;
    return String((BigInt(at - epochMs) << 22n) + BigInt(this.#count));
  }

  user(name: string, more: Partial<APIUser> = {}): APIUser {
    return { ...userOf(this.snowflake(), name.toLowerCase(), name), ...more };
  }

  guild(name: string): Guild {
    const id = this.snowflake();
    const role = {
      id: this.snowflake(),
      name: "Scout",
      tags: { bot_id: this.bot.id },
    } as unknown as APIRole;
    const guild: Guild = { id, name, channels: [], threads: [], roles: [role], members: 4 };
    this.guilds.push(guild);
    return guild;
  }

  channel(guild: Guild, name: string, type = 0): Channel {
    const channel = this.#channel({ type, name, guild_id: guild.id });
    guild.channels.push(channel);
    return channel;
  }

  thread(guild: Guild, parent: Channel, owner: APIUser, name: string): Channel {
    const about = { parent_id: parent.id, owner_id: owner.id, guild_id: guild.id };
    const thread = this.#channel({ type: 11, name, ...about });
    guild.threads.push(thread);
    return thread;
  }

  direct(): Channel {
    return this.#channel({ type: 1, name: "" });
  }

  #channel(about: Pick<Channel, "type" | "name"> & Partial<Channel>): Channel {
    const channel: Channel = {
      id: this.snowflake(),
      last_message_id: null,
      isVisible: true,
      hasHistory: true,
      messages: new Map(),
      reactions: new Map(),
      ...about,
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  /** A message that is not announced. */
  build(channel: Channel, author: APIUser, content: string, said: Said = {}): APIMessage {
    const { replyTo, ...more } = said;
    const id = this.snowflake();
    const reference: APIMessageReference | undefined = replyTo && {
      type: 0,
      message_id: replyTo.id,
      channel_id: channel.id,
    };
    const message = {
      id,
      channel_id: channel.id,
      type: replyTo === undefined ? 0 : 19,
      author,
      content,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      ...(replyTo !== undefined && { message_reference: reference, referenced_message: replyTo }),
      ...more,
    } as APIMessage;
    channel.messages.set(id, message);
    channel.last_message_id = id;
    return message;
  }

  say(channel: Channel, author: APIUser, content: string, said: Said = {}): APIMessage {
    const message = this.build(channel, author, content, said);
    this.announce(channel, message);
    return message;
  }

  announce(channel: Channel, message: APIMessage, nonce?: string): void {
    const { guild_id } = channel;
    const member = { roles: [], joined_at: message.timestamp, deaf: false, mute: false, flags: 0 };
    const inGuild = guild_id === undefined ? {} : { guild_id, member };
    this.emit("MESSAGE_CREATE", { ...message, ...inGuild, ...(nonce !== undefined && { nonce }) });
  }

  edit(channel: Channel, id: string, content: string): void {
    const message = channel.messages.get(id);
    if (message === undefined) throw new Error("there is no such message");
    message.content = content;
    message.edited_timestamp = new Date().toISOString();
    this.emit("MESSAGE_UPDATE", { ...message, guild_id: channel.guild_id });
  }

  delete(channel: Channel, id: string): void {
    channel.messages.delete(id);
    this.emit("MESSAGE_DELETE", { id, channel_id: channel.id, guild_id: channel.guild_id });
  }

  react(channel: Channel, message_id: string, user: APIUser, emoji: string, on: boolean): void {
    const message = channel.messages.get(message_id);
    const at = { user_id: user.id, channel_id: channel.id, message_id, guild_id: channel.guild_id };
    const what = { emoji: { id: null, name: emoji }, burst: false, type: 0 };
    if (!on) this.emit("MESSAGE_REACTION_REMOVE", { ...at, ...what });
    else {
      const by = { member: { user, roles: [] }, message_author_id: message?.author.id };
      this.emit("MESSAGE_REACTION_ADD", { ...at, ...what, ...by });
    }
  }

  /** Somebody presses a button, or picks a command; resolves to the interaction's id. */
  interact(channel: Channel, user: APIUser, more: object): string {
    const id = this.snowflake();
    const by = channel.guild_id === undefined ? { user } : { member: { user, roles: [] } };
    const { guild_id, id: channel_id } = channel;
    const owned = { entitlements: [], authorizing_integration_owners: {}, app_permissions: "0" };
    const about = {
      id,
      application_id: this.applicationId,
      token: `t-${id}`,
      version: 1,
      ...owned,
    };
    const at = { guild_id, channel_id, channel: wireChannel(channel) };
    this.emit("INTERACTION_CREATE", { ...about, ...at, ...by, ...more });
    return id;
  }

  /** Messages of the bot in a channel. */
  answers(channel: Channel): APIMessage[] {
    return [...channel.messages.values()].filter(({ author }) => author.id === this.bot.id);
  }

  emit(t: string, d: unknown): void {
    this.onEvent({ t, d });
    this.changed();
  }

  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** GUILD_CREATE of a server. */
  guildCreate(guild: Guild): Partial<GatewayGuildCreateDispatchData> {
    const { id, name, roles, members: member_count } = guild;
    return {
      id,
      name,
      roles,
      member_count,
      channels: guild.channels.map(wireChannel) as never[],
      threads: guild.threads.filter(({ isVisible }) => isVisible).map(wireChannel) as never[],
    };
  }
}

/** A channel as the API has it. */
export function wireChannel(channel: Channel): object {
  const { messages: _m, reactions: _r, isVisible: _v, hasHistory: _h, ...about } = channel;
  return about;
}

export function attachmentOf(id: string, name: string, url: string): APIAttachment {
  return { id, filename: name, size: 4, url, proxy_url: url, content_type: "image/png" };
}

function userOf(id: string, username: string, global_name: string): APIUser {
  return { id, username, global_name, discriminator: "0", avatar: null } as APIUser;
}
