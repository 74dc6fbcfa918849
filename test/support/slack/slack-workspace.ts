/**
 * A Slack workspace with people in it, without any network: users, conversations, messages and what an
 * app is sent about them, in the forms of https://docs.slack.dev/reference/events/message and
 * https://docs.slack.dev/reference/objects/conversation-object. The server beside it gives it the Web API
 * and Socket Mode; tests speak for the people.
 */
import type {
  GenericMessageEvent,
  MessageChangedEvent,
  MessageDeletedEvent,
  ReactionAddedEvent,
  ReactionRemovedEvent,
} from "@slack/types";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly real_name: string;
  readonly is_bot: boolean;
  readonly deleted: boolean;
}

/** A message as a history has it. */
export interface Message extends Readonly<Record<string, unknown>> {
  readonly type: "message";
  readonly ts: string;
  readonly text: string;
  readonly user?: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly bot_id?: string;
  readonly blocks?: readonly unknown[];
}

export type ChatType = "channel" | "group" | "im" | "mpim";

export interface Room {
  readonly id: string;
  readonly type: ChatType;
  name: string;
  readonly members: Set<string>;
  readonly messages: Map<string, Message>;
  /** Message to emoji name to users. */
  readonly reactions: Map<string, Map<string, Set<string>>>;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly data: Buffer;
  /** Set when it is shown in a room. */
  share: { readonly channel: string; readonly ts: string } | null;
}

/** What an app is sent: an event, a button or a slash command. */
export interface Sent {
  readonly type: "events_api" | "interactive" | "slash_commands";
  readonly payload: Readonly<Record<string, unknown>>;
}

export const teamId = "T0KITCHEN";
export const appId = "A0EARSHOT";
const letters = "ABCDEFGHJKMNPQRSTVWXYZ";

export class SlackWorkspace {
  readonly users = new Map<string, User>();
  readonly rooms = new Map<string, Room>();
  readonly files = new Map<string, StoredFile>();
  readonly bot: User;
  readonly botId = "B0SCOUT";
  /** Called with all that the app is sent. */
  onSent: (sent: Sent) => void = () => undefined;
  readonly #watching = new Set<() => void>();
  #count = 0;
  #micros = 0;

  constructor() {
    this.bot = this.user("scout", { is_bot: true });
  }

  watch(changed: () => void): () => void {
    this.#watching.add(changed);
    return () => this.#watching.delete(changed);
  }

  changed(): void {
    for (const changed of [...this.#watching]) changed();
  }

  /** A number as Slack's ids have it. */
  #id(prefix: string): string {
    this.#count += 1;
    const letter = letters[this.#count % letters.length] ?? "A";
    return `${prefix}0${letter}${String(this.#count).padStart(5, "0")}`;
  }

  /** The next time of a message; each is later than the one before. */
  ts(at = Date.now()): string {
    this.#micros = Math.max(this.#micros + 1, at * 1_000);
    return `${Math.floor(this.#micros / 1_000_000)}.${String(this.#micros % 1_000_000).padStart(6, "0")}`;
  }

  user(name: string, more: Partial<User> = {}): User {
    const user = {
      id: this.#id("U"),
      name: name.toLowerCase(),
      real_name: name,
      is_bot: false,
      deleted: false,
      ...more,
    };
    this.users.set(user.id, user);
    return user;
  }

  room(type: ChatType, name: string, people: readonly User[], hasBot = true): Room {
    const id = this.#id({ channel: "C", group: "C", im: "D", mpim: "C" }[type]);
    const members = new Set(people.map((user) => user.id));
    if (hasBot) members.add(this.bot.id);
    const room = { id, type, name, members, messages: new Map(), reactions: new Map() };
    this.rooms.set(id, room);
    return room;
  }

  /** Stores a message without a word to the app. */
  store(room: Room, by: User | null, text: string, more: Partial<Message> = {}): Message {
    const ts = more.ts ?? this.ts();
    const root = more.thread_ts === undefined ? undefined : room.messages.get(more.thread_ts);
    const message: Message = {
      type: "message",
      ts,
      text,
      team: teamId,
      ...(by !== null && { user: by.id, client_msg_id: `id-${ts}` }),
      ...(by?.is_bot && { bot_id: this.botOf(by), app_id: appId }),
      ...(root !== undefined && { parent_user_id: root.user }),
      ...more,
    };
    room.messages.set(ts, message);
    if (root !== undefined) {
      const count = Number(root.reply_count ?? 0) + 1;
      room.messages.set(root.ts, {
        ...root,
        thread_ts: root.ts,
        reply_count: count,
        latest_reply: ts,
      });
    }
    this.changed();
    return message;
  }

  botOf = (user: User): string => (user.id === this.bot.id ? this.botId : `B${user.id.slice(1)}`);

  /** Somebody says something; the app is sent it where its bot is a member. */
  say(room: Room, by: User | null, text: string, more: Partial<Message> = {}): Message {
    const message = this.store(room, by, text, more);
    this.announce(room, message);
    return message;
  }

  announce(room: Room, message: Message): void {
    if (!room.members.has(this.bot.id)) return;
    const event = this.eventOf(room, message);
    this.event(event);
    if (!message.text.includes(`<@${this.bot.id}>`) || room.type === "im") return;
    // An app that listens to both is sent a mention twice.
    const { channel_type: _unsent, ...mention } = event;
    this.event({ ...mention, type: "app_mention" });
  }

  eventOf(room: Room, message: Message) {
    return {
      ...message,
      channel: room.id,
      channel_type: room.type,
      event_ts: message.ts,
    } as unknown as GenericMessageEvent & Record<string, unknown>;
  }

  edit(room: Room, ts: string, text: string, more: Partial<Message> = {}): void {
    const before = room.messages.get(ts) as Message;
    const at = this.ts();
    const edited = { user: String(before.user), ts: at };
    const { client_msg_id: _kept, ...rest } = before;
    const after: Message = { ...rest, text, edited, ...more } as Message;
    room.messages.set(ts, after);
    this.event({
      type: "message",
      subtype: "message_changed",
      hidden: true,
      ts: at,
      event_ts: at,
      channel: room.id,
      channel_type: room.type,
      message: after,
      previous_message: before,
    } as unknown as MessageChangedEvent & Record<string, unknown>);
    this.changed();
  }

  remove(room: Room, ts: string): void {
    const before = room.messages.get(ts) as Message;
    room.messages.delete(ts);
    const at = this.ts();
    this.event({
      type: "message",
      subtype: "message_deleted",
      hidden: true,
      ts: at,
      event_ts: at,
      channel: room.id,
      channel_type: room.type,
      deleted_ts: ts,
      previous_message: before,
    } as unknown as MessageDeletedEvent & Record<string, unknown>);
    this.changed();
  }

  /** False: nothing has changed. */
  react(room: Room, ts: string, by: User, reaction: string, on: boolean): boolean {
    const all = room.reactions.get(ts) ?? new Map<string, Set<string>>();
    room.reactions.set(ts, all);
    const users = all.get(reaction) ?? new Set<string>();
    all.set(reaction, users);
    if (users.has(by.id) === on) return false;
    if (on) users.add(by.id);
    else users.delete(by.id);
    this.event({
      type: on ? "reaction_added" : "reaction_removed",
      user: by.id,
      reaction,
      event_ts: this.ts(),
      item_user: String(room.messages.get(ts)?.user),
      item: { type: "message", channel: room.id, ts },
    } satisfies ReactionAddedEvent | ReactionRemovedEvent as Record<string, unknown>);
    this.changed();
    return true;
  }

  reactions(room: Room, ts: string): string[] {
    const all = [...(room.reactions.get(ts) ?? [])];
    return all.filter(([, users]) => users.size > 0).map(([name]) => name);
  }

  /** An event in its wrapping (https://docs.slack.dev/apis/events-api/#callback-field). */
  event(event: Readonly<Record<string, unknown>>, authorised = this.bot): void {
    const at = this.ts();
    this.onSent({
      type: "events_api",
      payload: {
        token: "an-old-verification-token",
        team_id: teamId,
        context_team_id: teamId,
        context_enterprise_id: null,
        api_app_id: appId,
        type: "event_callback",
        event,
        event_id: `Ev${at.replace(".", "")}`,
        event_time: Math.floor(Number(at)),
        authorizations: [
          {
            enterprise_id: null,
            team_id: teamId,
            user_id: authorised.id,
            is_bot: authorised.id === this.bot.id,
            is_enterprise_install: false,
          },
        ],
        is_ext_shared_channel: false,
        event_context: `4-${at}`,
      },
    });
  }

  /** Somebody uses a slash command. */
  command(room: Room, by: User, command: string, text: string): void {
    this.onSent({
      type: "slash_commands",
      payload: {
        token: "an-old-verification-token",
        team_id: teamId,
        team_domain: "kitchen",
        channel_id: room.id,
        channel_name: room.name,
        user_id: by.id,
        user_name: by.name,
        command,
        text,
        api_app_id: appId,
        is_enterprise_install: "false",
        response_url: "https://hooks.slack.com/commands/T0KITCHEN/1/2",
        trigger_id: `${this.ts()}.abcdef`,
      },
    });
  }

  /** Somebody presses a button of a message. */
  press(room: Room, ts: string, by: User, label: string): void {
    const message = room.messages.get(ts) as Message;
    const buttons = (message.blocks ?? []).flatMap((block) => {
      const { type, block_id, elements } = block as Record<string, unknown>;
      return type === "actions"
        ? (elements as Record<string, unknown>[]).map((element) => ({ ...element, block_id }))
        : [];
    });
    const pressed = buttons.find(({ text }: Record<string, unknown>) => {
      return (text as { text: string }).text === label;
    });
    if (pressed === undefined) throw new Error(`no button ${label}`);
    this.onSent({
      type: "interactive",
      payload: {
        type: "block_actions",
        token: "an-old-verification-token",
        api_app_id: appId,
        team: { id: teamId, domain: "kitchen" },
        user: { id: by.id, username: by.name, name: by.name, team_id: teamId },
        channel: { id: room.id, name: room.type === "im" ? "directmessage" : room.name },
        container: { type: "message", message_ts: ts, channel_id: room.id, is_ephemeral: false },
        message,
        state: { values: {} },
        trigger_id: `${this.ts()}.fedcba`,
        response_url: "https://hooks.slack.com/actions/T0KITCHEN/1/2",
        actions: [{ ...pressed, action_ts: this.ts() }],
      },
    });
  }
}
