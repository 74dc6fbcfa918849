/**
 * The calls that a Discord on loopback answers, after https://discord.com/developers/docs/resources/message,
 * .../channel, .../user, .../application and .../interactions. What Discord refuses is refused with its code.
 */
import type { APIMessage } from "discord-api-types/v10";
import type { DiscordServer } from "./discord-server.ts";
import { attachmentOf, type Channel, wireChannel } from "./discord-world.ts";

export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Part {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

export interface Call {
  readonly name: string;
  readonly args: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly files: readonly Part[];
  readonly query: URLSearchParams;
  readonly at: number;
}

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: RegExp;
  /** Undefined: 204. */
  run(server: DiscordServer, call: Call): unknown;
}

const contentMax = 2_000;
const nonceMax = 25;

export const routes: readonly Route[] = [
  {
    name: "gateway",
    method: "GET",
    path: /^\/gateway\/bot$/,
    run: ({ gateway, concurrency, loginsLeft }) => ({
      url: gateway.url,
      shards: 1,
      session_start_limit: {
        total: 1_000,
        remaining: loginsLeft,
        reset_after: 1_000,
        max_concurrency: concurrency,
      },
    }),
  },
  { name: "me", method: "GET", path: /^\/users\/@me$/, run: ({ world }) => world.bot },
  {
    name: "application",
    method: "GET",
    path: /^\/applications\/@me$/,
    run: ({ world, gateway }) => ({
      id: world.applicationId,
      name: "Scout",
      flags: gateway.allowsContent ? 1 << 19 : 0,
    }),
  },
  {
    name: "commands",
    method: "GET",
    path: /^\/applications\/(\d+)\/commands$/,
    run: ({ world }) => world.commands,
  },
  {
    name: "createCommand",
    method: "POST",
    path: /^\/applications\/(\d+)\/commands$/,
    run({ world }, { body }) {
      const command = body as never as (typeof world.commands)[number];
      const index = world.commands.findIndex(({ name }) => name === command.name);
      if (index < 0) world.commands.push(command);
      else world.commands[index] = command;
      return { ...command, id: world.snowflake(), type: 1 };
    },
  },
  {
    name: "channel",
    method: "GET",
    path: /^\/channels\/(\d+)$/,
    run: (server, call) => wireChannel(channelOf(server, call)),
  },
  {
    name: "messages",
    method: "GET",
    path: /^\/channels\/(\d+)\/messages$/,
    run(server, call) {
      const channel = channelOf(server, call);
      if (!channel.hasHistory) return [];
      const limit = Number(call.query.get("limit") ?? 50);
      const after = BigInt(call.query.get("after") ?? 0);
      const all = [...channel.messages.values()].sort((a, b) =>
        BigInt(a.id) < BigInt(b.id) ? -1 : 1,
      );
      const found = all.filter(({ id }) => BigInt(id) > after);
      const page = call.query.has("after") ? found.slice(0, limit) : found.slice(-limit);
      return page.reverse();
    },
  },
  {
    name: "message",
    method: "GET",
    path: /^\/channels\/(\d+)\/messages\/(\d+)$/,
    run: (server, call) => messageOf(channelOf(server, call), call.args[1]),
  },
  {
    name: "createMessage",
    method: "POST",
    path: /^\/channels\/(\d+)\/messages$/,
    run: createMessage,
  },
  {
    name: "editMessage",
    method: "PATCH",
    path: /^\/channels\/(\d+)\/messages\/(\d+)$/,
    run(server, call) {
      const channel = channelOf(server, call);
      const message = messageOf(channel, call.args[1]);
      if (message.author.id !== server.world.bot.id)
        throw new Refusal(403, 50_005, "Cannot edit a message authored by another user");
      checkContent(call);
      server.world.edit(channel, message.id, String(call.body.content));
      return message;
    },
  },
  {
    name: "react",
    method: "PUT",
    path: /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
    run(server, call) {
      const [, id = "", emoji = ""] = call.args;
      const { reactions, messages } = channelOf(server, call);
      messageOf({ messages }, id);
      reactions.set(id, [...(reactions.get(id) ?? []), emoji]);
    },
  },
  {
    name: "unreact",
    method: "DELETE",
    path: /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
    run(server, call) {
      const [, id = "", emoji = ""] = call.args;
      const { reactions } = channelOf(server, call);
      reactions.set(
        id,
        (reactions.get(id) ?? []).filter((one) => one !== emoji),
      );
    },
  },
  {
    name: "typing",
    method: "POST",
    path: /^\/channels\/(\d+)\/typing$/,
    run(server, call) {
      channelOf(server, call);
    },
  },
  {
    name: "callback",
    method: "POST",
    path: /^\/interactions\/(\d+)\/([^/]+)\/callback$/,
    run: () => undefined,
  },
];

function channelOf({ world }: DiscordServer, { args: [id = ""] }: Call): Channel {
  const channel = world.channels.get(id);
  if (channel === undefined) throw new Refusal(404, 10_003, "Unknown Channel");
  if (!channel.isVisible) throw new Refusal(403, 50_001, "Missing Access");
  return channel;
}

function messageOf({ messages }: Pick<Channel, "messages">, id = ""): APIMessage {
  const message = messages.get(id);
  if (message === undefined) throw new Refusal(404, 10_008, "Unknown Message");
  return message;
}

function checkContent({ body, files }: Call): void {
  const { content = "", components, poll } = body as Record<string, unknown>;
  if ([...String(content)].length > contentMax)
    throw new Refusal(400, 50_035, "Invalid Form Body: content must be 2000 or fewer in length.");
  if (content === "" && files.length === 0 && components === undefined && poll === undefined)
    throw new Refusal(400, 50_006, "Cannot send an empty message");
}

function createMessage(server: DiscordServer, call: Call): APIMessage {
  const { world, nonces } = server;
  const channel = channelOf(server, call);
  checkContent(call);
  const { content = "", nonce, enforce_nonce, components, poll } = call.body;
  const key = String(nonce ?? "");
  if (key.length > nonceMax) throw new Refusal(400, 50_035, "Invalid Form Body: nonce");
  const known = enforce_nonce === true ? nonces.get(key) : undefined;
  if (known !== undefined) return messageOf(channel, known);
  const reference = call.body.message_reference as
    | { message_id: string; fail_if_not_exists?: boolean }
    | undefined;
  if (reference !== undefined && !channel.hasHistory)
    throw new Refusal(403, 160_002, "Cannot reply without permission to read message history");
  const parent = channel.messages.get(reference?.message_id ?? "");
  if (reference !== undefined && parent === undefined && reference.fail_if_not_exists !== false)
    throw new Refusal(400, 50_035, "Invalid Form Body: Unknown message");
  const attachments = call.files.map(({ name }) => {
    const id = world.snowflake();
    return attachmentOf(id, name, `${server.origin}/files/${id}/${name}`);
  });
  const message = world.build(channel, world.bot, String(content), {
    attachments,
    ...(components !== undefined && { components: components as never[] }),
    ...(poll !== undefined && { poll: poll as never }),
    ...(parent !== undefined && { replyTo: parent }),
    ...pinged(call),
  });
  if (key !== "") nonces.set(key, message.id);
  world.announce(channel, message, key === "" ? undefined : key);
  return message;
}

/** Who is pinged, by the rules of docs: Message, Allowed Mentions Object. */
function pinged({ body }: Call): Partial<APIMessage> {
  const allowed = body.allowed_mentions as { parse?: readonly string[] } | undefined;
  const parse = allowed === undefined ? ["everyone", "users", "roles"] : (allowed.parse ?? []);
  const content = String(body.content ?? "");
  return { mention_everyone: parse.includes("everyone") && /@(everyone|here)/.test(content) };
}
