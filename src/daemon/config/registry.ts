/**
 * The channels and agent drivers that a config may name: those that ship with earshot, and those of
 * plugins.
 */
import { drivers } from "../../adapters/agents/index.ts";
import { checkedChannel } from "../../adapters/channels/checked-channel.ts";
import { channelRegistry } from "../../adapters/channels/index.ts";
import { createTerminal, type Terminal } from "../../adapters/channels/terminal/channel.ts";
import { createWebchatChannel } from "../../adapters/channels/webchat/channel.ts";
import { createWebhook, type Webhook } from "../../adapters/channels/webhook/channel.ts";
import type { AgentDriver, ChannelDefinition } from "../../domain/ports/index.ts";
import type { Webchat } from "../webchat/webchat.ts";

/** Channels and drivers of one daemon: what its config may name. */
export interface Registry {
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly terminal: Terminal;
  readonly webhook: Webhook;
  /** Connects the webchat channel to the hub that shows its messages. */
  show(webchat: Webchat): void;
}

export function createRegistry(also: readonly ChannelDefinition[] = []): Registry {
  let shown: Webchat | null = null;
  const terminal = createTerminal();
  const webhook = createWebhook();
  const webchat = createWebchatChannel({
    typing: (route, on) => shown?.typing(route, on),
    ack: (route, message, emoji, on) => shown?.ack(route, message, emoji, on),
    file: async (id) => (await shown?.file(id)) ?? null,
    media: async (request) => shown?.media(request),
  });
  const local = [webchat, terminal.definition, webhook.definition] as ChannelDefinition[];
  return {
    channels: channelRegistry([...local, ...also.map(checkedChannel)]),
    drivers,
    terminal,
    webhook,
    show: (to) => {
      shown = to;
    },
  };
}
