/**
 * A bot on Discord. docs/channels/discord.md describes how to create one. This file assembles the parts,
 * one file each (wire format, gateway, recovery, normalising, sending, markup, errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import {
  type ChannelAccount,
  type ChannelContext,
  defineChannel,
} from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { pageOf } from "./backfill.ts";
import { channelIn, DiscordChats } from "./chats.ts";
import { createDiscordClient, type DiscordClient } from "./client.ts";
import { type DiscordAccountConfig, discordFacts } from "./config.ts";
import { receive, whoAmI } from "./gateway.ts";
import { inboundOf } from "./normalise.ts";
import { createDiscordOutbound } from "./outbound.ts";
import { messageSchema } from "./wire.ts";

const askMsMax = 10_000;
const fileMsMax = 30_000;
/** Flags of an application (docs: Application, Application Flags): the intent, with and without approval. */
const contentFlags = (1 << 18) | (1 << 19);
const contentNote =
  "The intent MESSAGE CONTENT is off: messages come without their text. At " +
  "https://discord.com/developers/applications, under Bot, turn on Message Content Intent.";

export const discordChannel = defineChannel<DiscordAccountConfig>({
  ...discordFacts,
  open(context) {
    const client = createDiscordClient(context.config);
    const chats = new DiscordChats();
    return {
      start: (signal) => receive(client, context, chats, signal),
      ...callsOf(client, context, chats),
    };
  },
});

/** What an account asks of Discord. */
export function callsOf(
  client: DiscordClient,
  context: ChannelContext<DiscordAccountConfig>,
  chats: DiscordChats,
): Omit<ChannelAccount, "start"> {
  const { config } = context;
  const http = createHttpClient({ allowPrivate: [new URL(config.apiRoot).origin] });
  return {
    outbound: createDiscordOutbound(client, context, chats),
    async membership(route) {
      if (route.chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
      // Discord counts the members of a server, bots included, and not those who see a channel.
      const count = chats.membersAround(route.chat.id);
      if (count === null)
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          "Cannot count members: Discord has not sent this server yet",
        );
      const others = Math.max(0, count - 1);
      return { humans: others, bots: Math.min(1, count), truncated: others > 1 };
    },
    async history(route, limit, signal) {
      const channel = channelIn(route);
      const query = { limit: String(Math.min(100, Math.max(1, limit))) };
      const { messages } = await pageOf(client, channel, query, signal);
      const guildId = chats.channel(channel)?.guild_id;
      const receiver = { account: context.accountId, chats };
      return messages.flatMap((message) => {
        const placed = guildId === undefined ? message : { ...message, guild_id: guildId };
        const inbound = inboundOf(placed, receiver);
        return inbound === null ? [] : [inbound];
      });
    },
    async downloadMedia(attachmentId, signal) {
      const [, channel, message, file] = /^(\d+)\/(\d+)\/(\d+)$/.exec(attachmentId) ?? [];
      const path = `/channels/${channel}/messages/${message}` as const;
      const options = { what: "look up a file", signal, msMax: askMsMax };
      const found = await client.ask("GET", path, messageSchema, options);
      const snapshots = (found.message_snapshots ?? []).map((one) => one.message);
      const files = [found, ...snapshots].flatMap(({ attachments = [] }) => attachments);
      const url = files.find(({ id }) => id === file)?.url;
      if (url === undefined)
        throw new EarshotError("EAR_CHANNEL_REJECTED", "Cannot fetch a file: it is gone");
      return http.stream(url, {
        signal,
        bytesMax: limits.platformFileBytesMax,
        msMax: fileMsMax,
      });
    },
    async identify(signal) {
      const { self, application } = await whoAmI(client, signal);
      const { flags } = application;
      const isOff = config.messageContent && flags !== undefined && (flags & contentFlags) === 0;
      return { id: self.id, name: `@${self.username}`, ...(isOff && { notes: [contentNote] }) };
    },
  };
}
