/**
 * A Signal account, through the HTTP interface of signal-cli's daemon. docs/channels/signal.md describes
 * how to set one up. This file assembles the parts, one file each (wire format, stream of events,
 * position in it, names, normalising, sending, formatting, errors).
 */
import { defineChannel } from "../../../domain/ports/index.ts";
import { createSignalClient } from "./client.ts";
import { type SignalAccountConfig, signalFacts } from "./config.ts";
import { receive } from "./gateway.ts";
import { SignalNames } from "./names.ts";
import { createSignalOutbound } from "./outbound.ts";
import { fetchFile, membersIn, readGroups } from "./rooms.ts";

export const signalChannel = defineChannel<SignalAccountConfig>({
  ...signalFacts,
  open(context) {
    const { config } = context;
    const client = createSignalClient(config);
    const names = new SignalNames(config.account, config.name);
    return {
      start: (signal) => receive(client, context, names, signal),
      outbound: createSignalOutbound(client, context, names),
      membership: ({ chat }, signal) => membersIn(client, names, chat, signal),
      downloadMedia: (id, signal) => fetchFile(client, id, signal),
      async identify(signal) {
        const groups = await readGroups(client, names, { kind: "connect", signal });
        const isAlone = !groups.some(({ isMember }) => isMember !== false);
        return {
          id: config.account,
          name: config.name ?? config.account,
          ...(isAlone && { notes: ["It is in no group yet: add it to one in Signal"] }),
        };
      },
    };
  },
});
