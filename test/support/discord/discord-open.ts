/** An account on a Discord with Ann, Bob and a channel, open until the test ends. */
import { onTestFinished } from "vitest";
import { discordChannel } from "../../../src/adapters/channels/discord/channel.ts";
import type { Route } from "../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";
import { openChannel } from "../../../src/testing/open-channel.ts";
import { sampleToken, startDiscordServer } from "./discord-server.ts";

const definition = discordChannel as ChannelDefinition;

export async function openDiscord(account: object = {}) {
  const server = await startDiscordServer();
  onTestFinished(() => server.down());
  const { world } = server;
  const people = { ann: world.user("Ann"), bob: world.user("Bob") };
  const guild = world.guild("House");
  const kitchen = world.channel(guild, "kitchen");
  const config = { token: sampleToken, apiRoot: server.apiRoot, ...account };
  const open = (cursors: Map<string, string> = new Map()) => {
    const channel = openChannel(definition, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const route: Route = {
    channel: "discord",
    account: "default",
    chat: { id: kitchen.id, kind: "group" },
    thread: null,
  };
  return { server, world, ...people, guild, kitchen, open, route };
}
