/**
 * Channels by id
 * ==============
 * The registry shared by the config's schema, the daemon and the docs. Local channels are created
 * per daemon, because a terminal or a list of sent messages belongs to one process.
 */
import type { ChannelDefinition } from "../../domain/ports/index.ts";
import { ircChannel } from "./irc/channel.ts";
import { telegramChannel } from "./telegram/channel.ts";

/** Channels that need nothing but their config. */
export const platformChannels: readonly ChannelDefinition[] = [
  telegramChannel as ChannelDefinition,
  ircChannel as ChannelDefinition,
];

/** A registry of the platform channels and the given others; a later one of the same id wins. */
export function channelRegistry(
  others: readonly ChannelDefinition[] = [],
): ReadonlyMap<string, ChannelDefinition> {
  return new Map([...platformChannels, ...others].map((channel) => [channel.id, channel]));
}
