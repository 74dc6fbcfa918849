/**
 * Channels by id
 * ==============
 * The registry shared by the config's schema, the daemon and the docs. Local channels are created
 * per daemon, because a terminal or a list of sent messages belongs to one process. What a platform's
 * channel does is loaded with its first account: most daemons have one or two of them.
 */
import type { ChannelDefinition, ChannelFacts } from "../../domain/ports/index.ts";
import { discordFacts } from "./discord/config.ts";
import { imessageFacts } from "./imessage/config.ts";
import { ircFacts } from "./irc/config.ts";
import { matrixFacts } from "./matrix/config.ts";
import { signalFacts } from "./signal/config.ts";
import { slackFacts } from "./slack/config.ts";
import { telegramFacts } from "./telegram/config.ts";
import { whatsappFacts } from "./whatsapp/config.ts";
import { whatsappLinkedFacts } from "./whatsapp-linked/config.ts";
import { xmppFacts } from "./xmpp/config.ts";

/** A channel whose code is loaded when it is needed. */
function loadedLater<AccountConfig>(
  facts: ChannelFacts<AccountConfig>,
  load: () => Promise<ChannelDefinition<AccountConfig>>,
): ChannelDefinition {
  let opens: ChannelDefinition<AccountConfig>["open"] = () => {
    throw new Error("a channel is loaded before an account is opened");
  };
  const channel: ChannelDefinition<AccountConfig> = {
    ...facts,
    async load() {
      try {
        opens = (await load()).open;
      } catch (error) {
        opens = () => {
          throw error;
        };
      }
    },
    open: (context) => opens(context),
  };
  return channel as ChannelDefinition;
}

/** Channels that need nothing but their config. */
export const platformChannels: readonly ChannelDefinition[] = [
  loadedLater(telegramFacts, async () => (await import("./telegram/channel.ts")).telegramChannel),
  loadedLater(ircFacts, async () => (await import("./irc/channel.ts")).ircChannel),
  loadedLater(matrixFacts, async () => (await import("./matrix/channel.ts")).matrixChannel),
  loadedLater(discordFacts, async () => (await import("./discord/channel.ts")).discordChannel),
  loadedLater(slackFacts, async () => (await import("./slack/channel.ts")).slackChannel),
  loadedLater(whatsappFacts, async () => (await import("./whatsapp/channel.ts")).whatsappChannel),
  loadedLater(
    whatsappLinkedFacts,
    async () => (await import("./whatsapp-linked/channel.ts")).whatsappLinkedChannel,
  ),
  loadedLater(xmppFacts, async () => (await import("./xmpp/channel.ts")).xmppChannel),
  loadedLater(signalFacts, async () => (await import("./signal/channel.ts")).signalChannel),
  loadedLater(imessageFacts, async () => (await import("./imessage/channel.ts")).imessageChannel),
];

/** A registry of the platform channels and the given others; a later one of the same id wins. */
export function channelRegistry(
  others: readonly ChannelDefinition[] = [],
): ReadonlyMap<string, ChannelDefinition> {
  return new Map([...platformChannels, ...others].map((channel) => [channel.id, channel]));
}
