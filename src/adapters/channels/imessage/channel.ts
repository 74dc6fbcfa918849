/**
 * An iMessage account on a Mac, through imsg or a BlueBubbles server. docs/channels/imessage.md describes
 * how to set one up. This file assembles the parts, one file each (the two programs, their wire formats,
 * normalising, the gateway, sending, errors).
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import type { AppleBackend } from "./backend.ts";
import { BlueBubblesBackend } from "./bluebubbles.ts";
import { type ImessageAccountConfig, imessageAccountSchema } from "./config.ts";
import { logUnreadable, receive } from "./gateway.ts";
import { ImsgBackend } from "./imsg.ts";
import { changeOf, createHeard, isGroupGuid } from "./normalise.ts";
import { createImessageOutbound, imessageTextLimit } from "./outbound.ts";

const isBlueBubbles = { field: "backend", is: "bluebubbles" } as const;

export const imessageChannel = defineChannel<ImessageAccountConfig>({
  id: "imessage",
  meta: { name: "iMessage", description: "iMessage on a Mac, through imsg or BlueBubbles" },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: true,
    threads: false,
    membership: true,
    history: false,
    media: true,
    mentions: "text",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: imessageTextLimit,
  typingIntervalMs: 30_000,
  accountSchema: imessageAccountSchema as unknown as z.ZodType<ImessageAccountConfig>,
  setup: {
    steps: [
      "On a Mac with an Apple account of the bot's own, sign in to Messages.",
      "Either install imsg there, and run earshot on that Mac (https://github.com/steipete/imsg);",
      "or install the BlueBubbles server there, and copy its address and password (https://bluebubbles.app).",
    ],
    fields: [
      {
        name: "backend",
        label: "Program on the Mac",
        secret: null,
        isOptional: false,
        options: ["imsg", "bluebubbles"],
        initial: "imsg",
      },
      {
        name: "url",
        label: "Address of the BlueBubbles server",
        secret: null,
        isOptional: false,
        when: isBlueBubbles,
      },
      {
        name: "password",
        label: "Its password",
        secret: "BLUEBUBBLES_PASSWORD",
        isOptional: false,
        when: isBlueBubbles,
      },
      {
        name: "privateApi",
        label: "The bridge or the Private API is set up",
        secret: null,
        isOptional: true,
        type: "flag",
        initial: "false",
      },
    ],
  },
  local: false,
  chatKind: (id) => (isGroupGuid(id) ? "group" : id.includes(";-;") ? "direct" : null),
  open(context): ChannelAccount {
    const { config, clock, accountId } = context;
    const backend: AppleBackend =
      config.backend === "imsg"
        ? new ImsgBackend(config, clock)
        : new BlueBubblesBackend(config, clock);
    const heard = createHeard();
    const receiver = { account: accountId, heard };
    const hook = backend.hook?.(
      async (row) => {
        const event = changeOf(row, receiver);
        if (event !== null) await context.deliver([event]);
      },
      (at) => logUnreadable(context, at),
    );
    return {
      start: (signal) => receive(backend, context, receiver, signal),
      outbound: createImessageOutbound(backend, config, heard),
      ...(hook != null && { hook }),
      async membership({ chat }, signal) {
        if (chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
        const humans = await backend.members(chat.id, signal);
        if (humans === null)
          throw new EarshotError(
            "EAR_CHANNEL_REJECTED",
            "Cannot count the members of a chat: it is not known",
          );
        return { humans, bots: 1, truncated: humans > 1 };
      },
      downloadMedia: (id, signal) => backend.download(id, signal),
      async identify(signal) {
        const { id, name, notes } = await backend.identify(signal);
        return { id, name, ...(notes.length > 0 && { notes }) };
      },
    };
  },
});
