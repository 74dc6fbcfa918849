/**
 * Webchat
 * =======
 * The direct chat on our own page and in `earshot chat`. The journal is its platform: a reply part
 * is delivered the moment the outbox has recorded it, and pages read it from there. So sending does
 * nothing but confirm, cannot fail, and is never in doubt; what is of the moment (typing, acks) is
 * handed to whoever has a page open.
 */
import { z } from "zod";
import type { Route } from "../../domain/message.ts";
import { type ChannelDefinition, defineChannel } from "../../domain/ports.ts";

/** The one chat there is unless a caller opens others. */
export const webChatId = "web";

export interface WebchatListener {
  typing(route: Route, on: boolean): void;
  ack(route: Route, messageId: string, emoji: string, on: boolean): void;
}

const accountSchema = z.strictObject({});

/** The channel, telling `listener` what open pages should show. */
export function createWebchatChannel(
  listener: WebchatListener,
): ChannelDefinition<z.infer<typeof accountSchema>> {
  return defineChannel({
    id: "webchat",
    meta: { name: "Webchat", description: "The page and terminal of this daemon" },
    capabilities: {
      edits: false,
      deletes: false,
      reactions: true,
      typing: true,
      threads: false,
      membership: false,
      history: false,
      media: false,
      mentions: "unknown",
      replyAuthor: true,
      botFlag: true,
    },
    textLimit: 16_000,
    typingIntervalMs: 6_000,
    accountSchema,
    local: true,
    open: ({ reportState }) => ({
      start: (signal) =>
        new Promise((resolve) => {
          reportState("live");
          if (signal.aborted) return resolve();
          signal.addEventListener("abort", () => resolve(), { once: true });
        }),
      outbound: {
        sendText: async ({ id }) => ({ messageIds: [id] }),
        replyText: async ({ id }) => ({ messageIds: [id] }),
        sendTyping: async (route, on) => listener.typing(route, on),
        addReaction: async (route, message, emoji) => listener.ack(route, message, emoji, true),
        removeReaction: async (route, message, emoji) => listener.ack(route, message, emoji, false),
      },
    }),
  });
}
