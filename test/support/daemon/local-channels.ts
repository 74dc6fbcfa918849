/** The terminal and the webhook channel as the channel contract sees them: no wire, one place. */
import { z } from "zod";
import { createTerminal } from "../../../src/adapters/channels/terminal/channel.ts";
import { createWebhook } from "../../../src/adapters/channels/webhook/channel.ts";
import { postedEvents } from "../../../src/adapters/channels/webhook/events.ts";
import { inboundSchema, type Route } from "../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";
import type { ChannelContract } from "../../../src/testing/channel-contract.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";

export function terminalContract(): ChannelContract {
  const terminal = createTerminal();
  return {
    name: "terminal",
    definition: terminal.definition as ChannelDefinition,
    can: [],
    async world() {
      const written: { id: string; text: string }[] = [];
      let opened: OpenedChannel | null = null;
      let session: ReturnType<typeof terminal.attach> | null = null;
      return {
        config: {},
        secrets: [],
        classified: [[{ text: "hi" }, { chat: { kind: "direct" }, mentions: [], replyTo: null }]],
        connect(channel) {
          opened = channel;
          session = terminal.attach({ write: (message) => void written.push(message) });
        },
        async say({ text }) {
          await session?.say(text);
          return opened?.messages().at(-1)?.id ?? "";
        },
        route: (): Route => ({
          channel: "terminal",
          account: "default",
          chat: { id: "console", kind: "direct" },
          thread: null,
        }),
        shown: async () => written.map((message) => ({ ...message, replyTo: null })),
        close: async () => session?.detach(),
      };
    },
  };
}

export function webhookContract(): ChannelContract {
  const webhook = createWebhook();
  return {
    name: "webhook",
    definition: webhook.definition as ChannelDefinition,
    can: ["react"],
    async world() {
      const before = webhook.sent().length;
      let deliver: (text: string) => string = () => "";
      let react: (reaction: object) => void = () => {};
      return {
        config: {},
        secrets: [],
        classified: [[{ text: "hi" }, { chat: { kind: "group" } }]],
        connect(channel) {
          // Inbound comes through the daemon's API, which hands over parsed messages like this one.
          deliver = (text) => {
            const id = `m${channel.messages().length + 1}`;
            const message = inboundSchema.parse({
              channel: "webhook",
              chat: { id: "room", kind: "group" },
              id,
              author: { id: "ann" },
              text,
              sentAt: 1,
            });
            channel.take([{ type: "message", message }]);
            return id;
          };
          const { bodyFor } = postedEvents(
            {
              channel: z.literal("webhook").default("webhook"),
              account: z.string().default("default"),
            },
            false,
          );
          react = (reaction) => channel.take(bodyFor({ reaction }).parse({ reaction }));
        },
        say: async ({ text }) => deliver(text),
        async react(id, emoji, on) {
          const change = on ? { added: [emoji] } : { removed: [emoji] };
          react({ chat: "room", id, author: { id: "ann" }, ...change });
        },
        route: (): Route => ({
          channel: "webhook",
          account: "default",
          chat: { id: "room", kind: "group" },
          thread: null,
        }),
        shown: async () =>
          webhook
            .sent()
            .slice(before)
            .map(({ id, text, replyTo }) => ({ id, text, replyTo })),
        close: async () => {},
      };
    },
  };
}
