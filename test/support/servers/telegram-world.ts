/**
 * A Telegram with people in it: users, chats, messages and the update queue of one bot, without any
 * network. The server beside it gives it the Bot API; tests speak for the people.
 */
import type {
  BusinessConnection,
  Chat,
  Message,
  MessageEntity,
  Update,
  User,
} from "@grammyjs/types";

export interface Call {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: number;
}

export interface SayOptions {
  readonly replyTo?: Message;
  /** message_thread_id of a forum topic. */
  readonly topic?: number;
  readonly entities?: MessageEntity[];
  /**
   * Anything else a message may have: photo, caption, media_group_id, forward_origin, sender_chat.
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface Room {
  readonly chat: Chat;
  readonly members: Set<number>;
  readonly messages: Map<number, Message>;
  readonly reactions: Map<number, string[]>;
  readonly topics: Map<number, Message>;
  blocked: boolean;
  /** The supergroup that this group has become. */
  movedTo: number | null;
}

const mentionPattern = /@[A-Za-z]\w{2,31}|\/[a-z]\w*(?:@\w+)?/g;

/** Entities as Telegram's server finds them in plain text. */
export function entitiesOf(text: string): MessageEntity[] {
  return [...text.matchAll(mentionPattern)].map((found) => ({
    type: found[0].startsWith("/") ? "bot_command" : "mention",
    offset: found.index,
    length: found[0].length,
  }));
}

export class TelegramWorld {
  readonly bot: User = {
    id: 4_242,
    is_bot: true,
    first_name: "Scout",
    username: "scout_bot",
  };
  /** Whether its privacy mode is off. */
  hearsAll = true;
  readonly users = new Map<number, User>();
  readonly rooms = new Map<number, Room>();
  /** Business accounts that the bot is connected to. */
  readonly businesses = new Map<string, BusinessConnection>();
  /** Chats of those with their customers, as `<connection>/<person>`. */
  readonly businessRooms = new Map<string, Room>();
  readonly calls: Call[] = [];
  /** The menu of commands. */
  commands: readonly { readonly command: string; readonly description: string }[] = [];
  /** Not yet confirmed, in order. Raw, as garbage may be among them. */
  queue: { readonly update_id: number }[] = [];
  readonly files = new Map<string, Buffer>();
  /** Where updates are posted to; null: the bot asks for them. */
  webhook: { readonly url: string; readonly secret_token?: string } | null = null;
  /** What the last post that failed was answered. */
  webhookError: { readonly at: number; readonly message: string } | null = null;
  private nextUpdate = 1_000;
  private nextMessage = 100;
  private nextId = 7_000;
  private readonly listeners = new Set<() => void>();

  /** Calls `wake` whenever something changed. Returns the way to stop it. */
  watch(wake: () => void): () => void {
    this.listeners.add(wake);
    return () => this.listeners.delete(wake);
  }

  changed(): void {
    for (const wake of [...this.listeners]) wake();
  }

  user(first_name: string, over: Partial<User> = {}): User {
    this.nextId += 1;
    const username = first_name.toLowerCase();
    const user: User = { id: this.nextId, is_bot: false, first_name, username, ...over };
    this.users.set(user.id, user);
    return user;
  }

  group(title: string, members: readonly User[], over: Partial<Chat.SupergroupChat> = {}): Room {
    this.nextId += 1;
    const id = -1_000_000_000_000 - this.nextId;
    return this.room({ id, type: "supergroup", title, ...over }, members);
  }

  /** A group that is no supergroup yet. */
  basicGroup(title: string, members: readonly User[]): Room {
    this.nextId += 1;
    return this.room({ id: -this.nextId, type: "group", title }, members);
  }

  /**
   * Makes a supergroup of a group: another chat, whose messages are numbered from 1. Both chats get
   * a service message, as at Telegram; `silent`: the bot gets no update.
   */
  migrate(group: Room, by: User, { silent = false } = {}): Room {
    const { title = "" } = group.chat as { title?: string };
    const members = [...group.members].flatMap((id) => this.users.get(id) ?? []);
    const supergroup = this.group(title, members);
    const to = this.build(group, by, { migrate_to_chat_id: supergroup.chat.id });
    group.movedTo = supergroup.chat.id;
    this.nextMessage = 1;
    const from = this.build(supergroup, by, { migrate_from_chat_id: group.chat.id });
    if (silent) return supergroup;
    this.post({ message: to });
    this.post({ message: from });
    return supergroup;
  }

  channel(title: string): Room {
    this.nextId += 1;
    return this.room({ id: -1_000_000_000_000 - this.nextId, type: "channel", title }, []);
  }

  direct(user: User): Room {
    const { id, first_name } = user;
    return this.rooms.get(id) ?? this.room({ id, type: "private", first_name }, [user]);
  }

  /** Somebody connects the bot to their business account, or changes what it may do there. */
  connectBusiness(
    owner: User,
    { canReply = true, enabled = true, id = `bc_${owner.id}` } = {},
  ): BusinessConnection {
    const connection: BusinessConnection = {
      id,
      user: owner,
      user_chat_id: owner.id,
      date: 1,
      rights: canReply ? { can_reply: true } : {},
      is_enabled: enabled,
    };
    this.businesses.set(id, connection);
    this.post({ business_connection: connection });
    return connection;
  }

  /** Writes in the chat of a business account with a customer. */
  sayInBusiness(
    { id }: BusinessConnection,
    customer: User,
    by: User,
    text: string,
    extra: object = {},
  ): Message {
    const room = this.businessRoom(id, customer);
    const message = this.build(room, by, {
      text,
      entities: entitiesOf(text),
      business_connection_id: id,
      ...extra,
    });
    this.post({ business_message: message });
    return message;
  }

  businessRoom(connection: string, { id, first_name }: User): Room {
    const key = `${connection}/${id}`;
    const known = this.businessRooms.get(key);
    if (known !== undefined) return known;
    const chat = { id, type: "private", first_name } as const;
    const room = this.newRoom(chat, []);
    this.businessRooms.set(key, room);
    return room;
  }

  private room(chat: Chat, members: readonly User[]): Room {
    const room = this.newRoom(chat, members);
    this.rooms.set(chat.id, room);
    return room;
  }

  private newRoom(chat: Chat, members: readonly User[]): Room {
    return {
      chat,
      members: new Set([this.bot.id, ...members.map(({ id }) => id)]),
      messages: new Map(),
      reactions: new Map(),
      topics: new Map(),
      blocked: false,
      movedTo: null,
    };
  }

  /** Opens a forum topic; its number is its service message's. */
  topic(room: Room, by: User, name: string): number {
    const opened = this.build(room, by, {
      forum_topic_created: { name, icon_color: 0x6fb9f0 },
      is_topic_message: true,
    });
    Object.assign(opened, { message_thread_id: opened.message_id });
    room.topics.set(opened.message_id, opened);
    this.post({ message: opened });
    return opened.message_id;
  }

  /** A person writes; the bot gets the update. */
  say(room: Room, by: User, text: string, options: SayOptions = {}): Message {
    const words = { text, entities: options.entities ?? entitiesOf(text) };
    const hasMedia = options.extra !== undefined && "caption" in options.extra;
    const message = this.build(room, by, {
      ...(hasMedia || text === "" ? {} : words),
      ...this.threadFields(room, options),
      ...options.extra,
    });
    this.post(room.chat.type === "channel" ? { channel_post: message } : { message });
    return message;
  }

  /** Whether the bot's photo is taken as one. */
  takesPhoto: (data: Buffer) => boolean = () => true;

  /** A person presses a button of a message. */
  press(message: object, by: User, data: string, id = String(this.nextUpdate)): void {
    this.post({ callback_query: { id, from: by, chat_instance: "1", message, data } });
  }

  /** The author changes a message. */
  edit(room: Room, original: Message, text: string): void {
    const now = Math.floor(Date.now() / 1_000);
    const edited = { ...original, text, entities: entitiesOf(text), edit_date: now } as Message;
    room.messages.set(original.message_id, edited);
    this.post({ edited_message: edited });
  }

  /** Puts an update in the queue; its id is given here unless it has one. */
  post(update: object): void {
    this.queue.push({ update_id: this.nextUpdate++, ...update } as Update);
    this.changed();
  }

  /** The bot's own messages in a room, in order. */
  answers(room: Room): Message[] {
    return [...room.messages.values()].filter(({ from }) => from?.id === this.bot.id);
  }

  build(room: Room, by: User, content: object): Message {
    const message = {
      message_id: this.nextMessage++,
      date: Math.floor(Date.now() / 1_000),
      chat: room.chat,
      ...(room.chat.type === "channel" ? { sender_chat: room.chat } : { from: by }),
      ...content,
    } as Message;
    room.messages.set(message.message_id, message);
    return message;
  }

  private threadFields(room: Room, { replyTo, topic }: SayOptions): object {
    // In a topic a line that answers nothing still "replies" to the topic's service message.
    const opener = topic === undefined ? undefined : room.topics.get(topic);
    const parent = replyTo ?? opener;
    const shown = parent === undefined ? undefined : { ...parent, reply_to_message: undefined };
    return {
      ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
      ...(shown === undefined ? {} : { reply_to_message: shown }),
    };
  }
}
