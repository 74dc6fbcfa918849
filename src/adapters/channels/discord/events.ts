/**
 * Events of the gateway
 * =====================
 * What each kind of dispatch (https://discord.com/developers/docs/events/gateway-events) means here: a
 * message, an edit, a deletion, a reaction, or something to know. A payload that cannot be read is logged
 * and passed over.
 */
import { z } from "zod";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { sha256 } from "../../system/digest.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { interactionMessage } from "./interactions.ts";
import { editOf, inboundOf, type Receiver, reactionOf } from "./normalise.ts";
import {
  channelSchema,
  type Dispatch,
  deleteSchema,
  interactionSchema,
  messageSchema,
  reactionSchema,
  roleSchema,
  threadsSchema,
  updateSchema,
  type WireMessage,
} from "./wire.ts";

export interface EventsOptions {
  readonly context: ChannelContext<DiscordAccountConfig>;
  readonly client: DiscordClient;
  readonly receiver: Receiver;
  readonly signal: AbortSignal;
}

/** The kinds of dispatch that mean something here; a bot hears many more. */
export const kindsHeard: ReadonlySet<string> = new Set([
  ...["READY", "RESUMED", "GUILD_CREATE", "INTERACTION_CREATE"],
  ...["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK"],
  ...["MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"],
  ...["CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE"],
  ...["THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE", "THREAD_LIST_SYNC"],
  ...["GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE"],
]);

const roleChangeSchema = z.object({ guild_id: z.string(), role: roleSchema });

/** Reads a payload; null, and a line in the log: it has another form. */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  { t, d }: Dispatch,
  { log }: Pick<ChannelContext<unknown>, "log">,
): z.infer<Schema> | null {
  const read = schema.safeParse(d);
  if (read.success) return read.data;
  const kind = /^[A-Z_]{1,64}$/.test(t) ? t : "unknown";
  log("warn", "discord.event-unreadable", { kind });
  return null;
}

/** Whether a server is heard. */
export const isHeard = ({ guilds }: DiscordAccountConfig, guildId: string | undefined): boolean =>
  guildId === undefined || guilds === undefined || guilds.includes(guildId);

/**
 * What a dispatch says.
 * @param session the id of the session, so that a repeated reaction is recognised
 * @throws EarshotError `retry`: a channel could not be looked up
 */
export async function eventsOf(
  dispatch: Dispatch,
  session: string,
  options: EventsOptions,
): Promise<readonly ChannelEvent[]> {
  const { context, client, receiver, signal } = options;
  const { chats } = receiver;
  const learn = (at: { channel_id: string; guild_id?: string | undefined }) =>
    chats.learn(client, at.channel_id, at.guild_id, signal);
  const read = <Schema extends z.ZodType>(schema: Schema) => readAs(schema, dispatch, context);
  const isOurs = (guildId: string | undefined) => isHeard(context.config, guildId);
  switch (dispatch.t) {
    case "MESSAGE_CREATE": {
      const message = read(messageSchema);
      if (message === null || !isOurs(message.guild_id)) return [];
      // What another program says with this bot's token is heard as ours.
      const isSent = chats.sent.has(String(message.nonce ?? ""));
      return isSent ? [] : messageEvents(message, options);
    }
    case "MESSAGE_UPDATE": {
      const update = read(updateSchema);
      if (update === null || !isOurs(update.guild_id)) return [];
      await learn(update);
      const edit = editOf(update, receiver);
      return edit === null ? [] : [{ type: "edit", edit }];
    }
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK": {
      const gone = read(deleteSchema);
      if (gone === null || !isOurs(gone.guild_id)) return [];
      await learn(gone);
      const place = chats.placeOf(gone.channel_id, gone.guild_id);
      const ids = gone.ids ?? (gone.id === undefined ? [] : [gone.id]);
      const { account } = receiver;
      return ids.map((id) => ({
        type: "delete",
        deletion: { channel: "discord", account, ...place, id },
      }));
    }
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE": {
      const wire = read(reactionSchema);
      if (wire === null || !isOurs(wire.guild_id) || wire.user_id === chats.self.id) return [];
      await learn(wire);
      const change = {
        id: `${sha256(session).slice(0, 12)}:${dispatch.s}`,
        at: context.clock.now(),
      };
      const isAdded = dispatch.t === "MESSAGE_REACTION_ADD";
      return [{ type: "reaction", reaction: reactionOf(wire, isAdded, change, receiver) }];
    }
    case "INTERACTION_CREATE": {
      const interaction = read(interactionSchema);
      if (interaction?.channel_id === undefined || !isOurs(interaction.guild_id)) return [];
      await learn({ channel_id: interaction.channel_id, guild_id: interaction.guild_id });
      const message = interactionMessage(interaction, receiver);
      return message === null ? [] : [{ type: "message", message }];
    }
    default:
      remember(dispatch, options);
      return [];
  }
}

/** A message as the gateway or REST has it. */
export async function messageEvents(
  message: WireMessage,
  { client, receiver, signal }: EventsOptions,
): Promise<readonly ChannelEvent[]> {
  const { chats } = receiver;
  await chats.learn(client, message.channel_id, message.guild_id, signal);
  if (message.webhook_id == null) chats.meet(message.author, message.member);
  const inbound = inboundOf(message, receiver);
  return inbound === null ? [] : [{ type: "message", message: inbound }];
}

/** Names and kinds of channels and roles. */
function remember(dispatch: Dispatch, { context, receiver: { chats } }: EventsOptions): void {
  const read = <Schema extends z.ZodType>(schema: Schema) => readAs(schema, dispatch, context);
  switch (dispatch.t) {
    case "CHANNEL_CREATE":
    case "CHANNEL_UPDATE":
    case "THREAD_CREATE":
    case "THREAD_UPDATE": {
      const channel = read(channelSchema);
      if (channel !== null) chats.setChannel(channel);
      return;
    }
    case "CHANNEL_DELETE":
    case "THREAD_DELETE": {
      const channel = read(channelSchema);
      if (channel !== null) chats.forgetChannel(channel.id);
      return;
    }
    case "THREAD_LIST_SYNC": {
      const list = read(threadsSchema);
      for (const thread of list?.threads ?? [])
        chats.setChannel({ ...thread, guild_id: list?.guild_id });
      return;
    }
    case "GUILD_ROLE_CREATE":
    case "GUILD_ROLE_UPDATE": {
      const change = read(roleChangeSchema);
      if (change !== null) chats.setRole(change.guild_id, change.role);
    }
  }
}
