/**
 * The direct chat on earshot's own page and in `earshot chat`. The journal is its platform: a reply
 * is delivered as soon as the outbox has recorded it, and pages read it from there. Sending
 * therefore only confirms, cannot fail, and is never in doubt; transient signals (typing, acks) go
 * to open pages.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type { Route } from "../../../domain/message.ts";
import {
  type ChannelDefinition,
  defineChannel,
  type MediaRequest,
} from "../../../domain/ports/index.ts";

/** The default chat. */
export const webChatId = "web";

export interface WebchatListener {
  typing(route: Route, on: boolean): void;
  ack(route: Route, messageId: string, emoji: string, on: boolean): void;
  /** A stream of an uploaded file; null: it is gone. */
  file(attachmentId: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Shows a file with the answer it belongs to. */
  media(request: MediaRequest): Promise<void>;
}

const accountSchema = z.strictObject({});

/** The channel; `listener` gets what open pages should show. */
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
      media: true,
      mentions: "unknown",
      replyAuthor: true,
      botFlag: true,
    },
    textLimit: 16_000,
    typingIntervalMs: 6_000,
    accountSchema,
    local: true,
    connectsOnce: () => false,
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
        // Pages read the options from the journal, like the text.
        sendChoices: async ({ id }) => ({ messageIds: [id] }),
        sendTyping: async (route, on) => listener.typing(route, on),
        addReaction: async (route, message, emoji) => listener.ack(route, message, emoji, true),
        removeReaction: async (route, message, emoji) => listener.ack(route, message, emoji, false),
        async sendMedia(request) {
          await listener.media(request);
          return { messageIds: [request.id] };
        },
      },
      async downloadMedia(attachmentId) {
        const bytes = await listener.file(attachmentId);
        if (bytes !== null) return bytes;
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot fetch a file: it is not stored, or no longer",
        );
      },
    }),
  });
}
