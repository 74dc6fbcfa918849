/**
 * Channels by id
 * ==============
 * The registry shared by the config's schema, the daemon and the docs. Local channels are created
 * per daemon, because a terminal or a list of sent messages belongs to one process.
 */
import type { ChannelDefinition } from "../../domain/ports/index.ts";
import { discordChannel } from "./discord/channel.ts";
import { imessageChannel } from "./imessage/channel.ts";
import { ircChannel } from "./irc/channel.ts";
import { matrixChannel } from "./matrix/channel.ts";
import { signalChannel } from "./signal/channel.ts";
import { slackChannel } from "./slack/channel.ts";
import { telegramChannel } from "./telegram/channel.ts";
import { whatsappChannel } from "./whatsapp/channel.ts";
import { whatsappLinkedChannel } from "./whatsapp-linked/channel.ts";
import { xmppChannel } from "./xmpp/channel.ts";

/** Channels that need nothing but their config. */
export const platformChannels: readonly ChannelDefinition[] = [
  telegramChannel as ChannelDefinition,
  ircChannel as ChannelDefinition,
  matrixChannel as ChannelDefinition,
  discordChannel as ChannelDefinition,
  slackChannel as ChannelDefinition,
  whatsappChannel as ChannelDefinition,
  whatsappLinkedChannel as ChannelDefinition,
  xmppChannel as ChannelDefinition,
  signalChannel as ChannelDefinition,
  imessageChannel as ChannelDefinition,
];

/** A registry of the platform channels and the given others; a later one of the same id wins. */
export function channelRegistry(
  others: readonly ChannelDefinition[] = [],
): ReadonlyMap<string, ChannelDefinition> {
  return new Map([...platformChannels, ...others].map((channel) => [channel.id, channel]));
}
