/**
 * An iMessage account on a Mac, through imsg or a BlueBubbles server. docs/channels/imessage.md describes
 * how to set one up. This file assembles the parts, one file each (the two programs, their wire formats,
 * normalising, the gateway, sending, errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import type { AppleBackend } from "./backend.ts";
import { BlueBubblesBackend } from "./bluebubbles.ts";
import { type ImessageAccountConfig, imessageFacts } from "./config.ts";
import { logUnreadable, receive } from "./gateway.ts";
import { ImsgBackend } from "./imsg.ts";
import { changeOf, createHeard } from "./normalise.ts";
import { createImessageOutbound } from "./outbound.ts";

export const imessageChannel = defineChannel<ImessageAccountConfig>({
  ...imessageFacts,
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
