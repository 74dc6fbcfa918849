/**
 * earshot for a bot of discord.js
 * ===============================
 * `earshot/discordjs`: the bot's client keeps its token, its connection and its listeners. What the gateway
 * sends it goes through an earshot of the same process as well, which answers through the client's `rest`.
 * docs/guide/bridges.md describes it.
 */
import type { Client } from "discord.js";
import { discordChannel } from "../adapters/channels/discord/channel.ts";
import { DiscordChats } from "../adapters/channels/discord/chats.ts";
import {
  type DiscordAccountConfig,
  discordAccountSchema,
} from "../adapters/channels/discord/config.ts";
import { kindsHeard } from "../adapters/channels/discord/events.ts";
import { type Ears, openFedDiscord } from "../adapters/channels/discord/fed.ts";
import { waitingMax } from "../adapters/channels/discord/hearing.ts";
import { isOwnButton } from "../adapters/channels/discord/interactions.ts";
import { inOrder } from "../adapters/channels/discord/line.ts";
import type { Dispatch } from "../adapters/channels/discord/wire.ts";
import { EarshotError } from "../domain/errors.ts";
import type { ChannelDefinition } from "../domain/ports/index.ts";
import { Feed } from "./shared.ts";

export interface DiscordBridge {
  /** For `createEarshot({ channels })`: the channel `discord`, with this bot as its account. */
  readonly channel: ChannelDefinition;
  /**
   * Whether an interaction is a press of a button that earshot has sent, which it answers itself. For
   * listeners that would answer any: the client has no way to keep it from them.
   */
  isOwn(interaction: object): boolean;
}

/** The account's config: the token and the intents are the client's. */
const accountSchema = discordAccountSchema.pick({ guilds: true });
type AccountConfig = Pick<DiscordAccountConfig, "guilds">;

/**
 * Adds earshot to a bot of discord.js, before the client logs in.
 *
 * @example
 * ```ts
 * const bridge = createBridge(client);
 * await createEarshot({ channels: [bridge.channel] });
 * await client.login(token);
 * ```
 * @throws EarshotError EAR_CHANNEL_CONFIG when the client has logged in already
 */
export function createBridge(client: Client): DiscordBridge {
  if (client.ws.gateway !== null)
    throw new EarshotError(
      "EAR_CHANNEL_CONFIG",
      "Cannot hear the bot: its client has logged in already, and what Discord says first is gone. " +
        "Call createBridge before client.login",
    );
  const chats = new DiscordChats();
  let ears: Ears | null = null;
  /** The last READY that no longer waits, with which every account begins. */
  let ready: Dispatch | null = null;
  const keep = (dispatch: Dispatch) => {
    if (dispatch.t === "READY") ready = dispatch;
  };
  const feed = new Feed<Dispatch>({ waitingMax, onLost: keep });
  const hand = inOrder((dispatch) => {
    if (!isFor(dispatch)) return;
    if (client.ws.shards.size > 1) ears?.fail(sharded());
    else void feed.push(dispatch);
  });
  client.on("raw" as never, (packet: unknown) => void hand(packet));
  client.on("shardReconnecting", () => ears?.away("the bot's client connects again"));
  client.on("shardDisconnect", ({ code }) => ears?.fail(disconnected(code)));
  const channel: ChannelDefinition<AccountConfig> = {
    ...withoutSetup,
    accountSchema,
    open: ({ config: { guilds }, ...context }) =>
      openFedDiscord(
        { ...context, config: configOf(client, guilds) },
        {
          rest: client.rest,
          chats,
          onStart(started, signal) {
            ears = started;
            signal.addEventListener("abort", () => {
              if (ears === started) ears = null;
            });
            if (ready !== null) feed.pushFirst(ready);
            feed.open(
              context,
              async (dispatch) => {
                await started.take(dispatch);
                keep(dispatch);
              },
              signal,
            );
          },
        },
      ),
  };
  return {
    channel: channel as ChannelDefinition,
    isOwn: (interaction) => isOwnButton((interaction as { customId?: unknown }).customId),
  };
}

const { setup: _, ...withoutSetup } = discordChannel;

/** Other presses, and all commands, are the bot's. */
function isFor({ t, d }: Dispatch): boolean {
  if (t !== "INTERACTION_CREATE") return kindsHeard.has(t);
  return isOwnButton((d as { data?: { custom_id?: unknown } } | null)?.data?.custom_id);
}

function configOf(client: Client, guilds: AccountConfig["guilds"]): DiscordAccountConfig {
  const { rest, options } = client;
  return {
    // Known from the login on.
    get token() {
      return client.token ?? "";
    },
    apiRoot: rest.options.api.replace(/\/+$/, ""),
    messageContent: options.intents.has("MessageContent"),
    guilds,
    slashCommands: false,
  };
}

const sharded = () =>
  new EarshotError(
    "EAR_CHANNEL_CONFIG",
    "Cannot hear the bot: its client has several shards. Run each in a process of its own, with discord.js's " +
      "ShardingManager and an earshot in each",
  );

const disconnected = (code: number) =>
  new EarshotError(
    "EAR_CHANNEL_AUTH",
    `Cannot hear the bot: Discord has ended its client's connection for good (${code}). Correct its token ` +
      "or its intents",
  );
