/**
 * Methods of Slack's Web API over a workspace, each as its page of https://docs.slack.dev/reference/methods
 * describes it, with its errors.
 */
import type { RichTextBlock } from "@slack/types";
import {
  type Message,
  type Room,
  type SlackWorkspace,
  teamId,
  type User,
} from "./slack-workspace.ts";

type Args = Readonly<Record<string, unknown>>;

/** `ok: false` with the name of an error. */
export class SlackFailure extends Error {
  readonly fields: Args;

  constructor(error: string, fields: Args = {}) {
    super(error);
    this.fields = fields;
  }
}

export interface Caller {
  readonly workspace: SlackWorkspace;
  readonly origin: string;
  /** Opens a ticket for one connection. */
  ticket(): string;
}

type Method = (args: Args, caller: Caller) => Args;

const textMax = 40_000;
const updateMax = 4_000;
const named = (value: unknown): string => (typeof value === "string" ? value : "");

function roomOf({ channel, channel_id }: Args, { workspace }: Caller): Room {
  const id = named(channel ?? channel_id);
  const room = workspace.rooms.get(id);
  if (room !== undefined) return room;
  // A message to a person opens a direct conversation.
  const direct = [...workspace.rooms.values()].find(
    ({ type, members }) => type === "im" && members.has(id),
  );
  if (direct !== undefined) return direct;
  throw new SlackFailure("channel_not_found");
}

function joined(args: Args, caller: Caller): Room {
  const room = roomOf(args, caller);
  if (!room.members.has(caller.workspace.bot.id)) throw new SlackFailure("not_in_channel");
  return room;
}

/** Slack refuses texts without letters in blocks, and lists of nothing. */
function checkBlocks(blocks: unknown): void {
  const check = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const entry of value) check(entry);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const part = value as Args;
    if (part.type === "text" && named(part.text) === "") throw new SlackFailure("invalid_blocks");
    if (named(part.type).startsWith("rich_text") && !Array.isArray(part.elements))
      throw new SlackFailure("invalid_blocks");
    if (part.type === "button" && named((part.text as Args)?.text).length > 75)
      throw new SlackFailure("invalid_blocks");
    for (const entry of Object.values(part)) check(entry);
  };
  if (blocks === undefined) return;
  if (!Array.isArray(blocks) || blocks.length > 50) throw new SlackFailure("invalid_blocks");
  check(blocks);
}

const postMessage: Method = (args, caller) => {
  const { workspace } = caller;
  const room = joined(args, caller);
  const text = named(args.text);
  if (text === "" && args.blocks === undefined) throw new SlackFailure("no_text");
  checkBlocks(args.blocks);
  const more = {
    app_id: "A0EARSHOT",
    bot_profile: { id: workspace.botId, name: "Scout", team_id: teamId },
    ...(args.blocks !== undefined && { blocks: args.blocks as readonly unknown[] }),
    ...(args.metadata !== undefined && { metadata: args.metadata }),
    ...(args.thread_ts !== undefined && { thread_ts: String(args.thread_ts) }),
  };
  const message = workspace.say(room, workspace.bot, text.slice(0, textMax), more);
  return { channel: room.id, ts: message.ts, message };
};

const update: Method = (args, caller) => {
  const { workspace } = caller;
  const room = joined(args, caller);
  const ts = named(args.ts);
  const message = room.messages.get(ts);
  if (message === undefined) throw new SlackFailure("message_not_found");
  if (message.user !== workspace.bot.id) throw new SlackFailure("cant_update_message");
  const text = named(args.text);
  if (text.length > updateMax) throw new SlackFailure("msg_too_long");
  checkBlocks(args.blocks);
  const blocks = args.blocks as readonly unknown[] | undefined;
  workspace.edit(room, ts, text, blocks === undefined ? {} : { blocks });
  return { channel: room.id, ts, text };
};

/** A page of a list, from newest to oldest or the other way. */
function pageOf(list: readonly Message[], args: Args, fallback: number) {
  const limit = Math.min(Number(args.limit ?? fallback), 999);
  const from = Number(Buffer.from(named(args.cursor), "base64").toString() || 0);
  const messages = list.slice(from, from + limit);
  const has_more = from + limit < list.length;
  const next_cursor = has_more ? Buffer.from(String(from + limit)).toString("base64") : "";
  return { messages, has_more, response_metadata: { next_cursor } };
}

const inSpan = (args: Args) => (message: Message) => {
  const at = Number(message.ts);
  const oldest = Number(args.oldest ?? 0);
  const latest = Number(args.latest ?? Number.POSITIVE_INFINITY);
  if (args.inclusive === "true" && (at === oldest || at === latest)) return true;
  return at > oldest && at < latest;
};

/** Metadata is shown when it is asked for. */
const shownTo = (args: Args) => (message: Message) => {
  const { metadata, ...rest } = message;
  return args.include_all_metadata === "true" && metadata !== undefined
    ? message
    : (rest as Message);
};

const history: Method = (args, caller) => {
  const room = joined(args, caller);
  const list = [...room.messages.values()]
    .filter(({ thread_ts, ts, subtype }) => {
      return thread_ts === undefined || thread_ts === ts || subtype === "thread_broadcast";
    })
    .filter(inSpan(args))
    .sort((a, b) => Number(b.ts) - Number(a.ts))
    .map(shownTo(args));
  return pageOf(list, args, 100);
};

const replies: Method = (args, caller) => {
  const room = joined(args, caller);
  const root = room.messages.get(named(args.ts));
  if (root === undefined) throw new SlackFailure("thread_not_found");
  const list = [...room.messages.values()]
    .filter(({ thread_ts, ts }) => thread_ts === root.ts && ts !== root.ts)
    .filter(inSpan(args))
    .sort((a, b) => Number(a.ts) - Number(b.ts));
  return pageOf([root, ...list].map(shownTo(args)), args, 1_000);
};

const userOf = ({ user }: Args, { workspace }: Caller): User => {
  const found = workspace.users.get(named(user));
  if (found === undefined) throw new SlackFailure("user_not_found");
  return found;
};

const react =
  (on: boolean): Method =>
  (args, caller) => {
    const room = joined(args, caller);
    const ts = named(args.timestamp);
    if (!room.messages.has(ts)) throw new SlackFailure("message_not_found");
    if (!/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(named(args.name)))
      throw new SlackFailure("invalid_name");
    if (!caller.workspace.react(room, ts, caller.workspace.bot, named(args.name), on))
      throw new SlackFailure(on ? "already_reacted" : "no_reaction");
    return {};
  };

const conversationOf = (room: Room) => ({
  id: room.id,
  ...(room.type !== "im" && { name: room.name, name_normalized: room.name }),
  is_channel: room.type === "channel",
  is_group: room.type === "group",
  is_im: room.type === "im",
  is_mpim: room.type === "mpim",
  is_archived: false,
  is_private: room.type !== "channel",
});

const typesOf: Readonly<Record<string, string>> = {
  channel: "public_channel",
  group: "private_channel",
  im: "im",
  mpim: "mpim",
};

export const methods: Readonly<Record<string, Method>> = {
  "auth.test": (_args, { workspace: { bot, botId } }) => ({
    url: "https://kitchen.slack.com/",
    team: "Kitchen",
    user: bot.name,
    team_id: teamId,
    user_id: bot.id,
    bot_id: botId,
    is_enterprise_install: false,
  }),
  "apps.connections.open": (_args, { origin, ticket }) => ({
    url: `${origin.replace("http", "ws")}/link/?ticket=${ticket()}&app_id=A0EARSHOT`,
  }),
  "chat.postMessage": postMessage,
  "chat.update": update,
  "conversations.history": history,
  "conversations.replies": replies,
  "conversations.members": (args, caller) => ({
    members: [...roomOf(args, caller).members],
    response_metadata: { next_cursor: "" },
  }),
  "conversations.info": (args, caller) => {
    const room = roomOf(args, caller);
    const isIn = room.members.has(caller.workspace.bot.id);
    if (!isIn && room.type !== "channel") throw new SlackFailure("channel_not_found");
    const isSaid = room.type === "channel" || room.type === "group";
    return { channel: { ...conversationOf(room), ...(isSaid && { is_member: isIn }) } };
  },
  "users.conversations": (args, { workspace }) => {
    const types = named(args.types || "public_channel").split(",");
    const rooms = [...workspace.rooms.values()].filter(
      ({ type, members }) => types.includes(typesOf[type] ?? "") && members.has(workspace.bot.id),
    );
    return { channels: rooms.map(conversationOf), response_metadata: { next_cursor: "" } };
  },
  "users.info": (args, caller) => {
    const { id, name, real_name, is_bot, deleted } = userOf(args, caller);
    const profile = { real_name, display_name: is_bot ? "" : real_name, team: teamId };
    return { user: { id, team_id: teamId, name, real_name, is_bot, deleted, profile } };
  },
  "reactions.add": react(true),
  "reactions.remove": react(false),
  "files.getUploadURLExternal": (args, { workspace, origin }) => {
    const name = named(args.filename);
    if (name === "" || !(Number(args.length) > 0)) throw new SlackFailure("invalid_arguments");
    const id = `F0FILE${workspace.files.size + 1}`;
    workspace.files.set(id, {
      id,
      name,
      mimetype: "application/octet-stream",
      data: Buffer.alloc(0),
      share: null,
    });
    return { upload_url: `${origin}/upload/v1/${id}`, file_id: id };
  },
  "files.completeUploadExternal": (args, caller) => {
    const { workspace } = caller;
    const room = joined(args, caller);
    const given = args.files as readonly { id: string; title?: string }[];
    const files = given.map(({ id }) => {
      const file = workspace.files.get(id);
      if (file === undefined || file.data.length === 0) throw new SlackFailure("file_not_found");
      return file;
    });
    const message = workspace.say(room, workspace.bot, named(args.initial_comment), {
      subtype: "file_share",
      upload: true,
      files: files.map(({ id, name, mimetype, data }) => ({
        id,
        name,
        mimetype,
        size: data.length,
      })),
      ...(args.blocks !== undefined && { blocks: args.blocks as readonly unknown[] }),
      ...(args.thread_ts !== undefined && { thread_ts: String(args.thread_ts) }),
    });
    for (const file of files) file.share = { channel: room.id, ts: message.ts };
    return { files: given };
  },
  "files.info": (args, { workspace, origin }) => {
    const file = workspace.files.get(named(args.file));
    if (file === undefined) throw new SlackFailure("file_not_found");
    const { id, name, mimetype, data, share } = file;
    const url = `${origin}/files-pri/${teamId}-${id}/${encodeURIComponent(name)}`;
    const shares =
      share === null ? {} : { public: { [share.channel]: [{ ts: share.ts, reply_users: [] }] } };
    return {
      file: {
        id,
        name,
        title: name,
        mimetype,
        size: data.length,
        mode: "hosted",
        is_external: false,
        url_private: url,
        url_private_download: url,
        shares,
      },
    };
  },
};

/** What people see of a message: its blocks, or its text. */
export function shownText({ text, blocks }: Message): string {
  const rich = (blocks ?? []).find((block) => (block as { type: string }).type === "rich_text");
  if (rich === undefined)
    return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return (rich as RichTextBlock).elements
    .map((part) =>
      (part.elements as unknown as Readonly<Record<string, unknown>>[])
        .map((run) => named(run.text) || named(run.url))
        .join(""),
    )
    .join("\n");
}
