/**
 * A Signal account, through the HTTP interface of signal-cli's daemon. docs/channels/signal.md describes
 * how to set one up. This file assembles the parts, one file each (wire format, stream of events,
 * position in it, names, normalising, sending, formatting, errors).
 */
import type { z } from "zod";
import { defineChannel } from "../../../domain/ports/index.ts";
import { createSignalClient } from "./client.ts";
import { type SignalAccountConfig, signalAccountSchema } from "./config.ts";
import { receive } from "./gateway.ts";
import { kindOfChat } from "./ids.ts";
import { SignalNames } from "./names.ts";
import { createSignalOutbound } from "./outbound.ts";
import { signalTextLimit } from "./rendering.ts";
import { fetchFile, membersIn, readGroups } from "./rooms.ts";

export const signalChannel = defineChannel<SignalAccountConfig>({
  id: "signal",
  meta: { name: "Signal", description: "A Signal account, through signal-cli" },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: true,
    threads: false,
    membership: true,
    history: false,
    media: true,
    mentions: "structured",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: signalTextLimit,
  typingIntervalMs: 10_000,
  accountSchema: signalAccountSchema as z.ZodType<SignalAccountConfig>,
  setup: {
    steps: [
      "Install signal-cli (https://github.com/AsamK/signal-cli), and register a number of its own with it, or link it to a phone.",
      "Start its daemon: signal-cli -a +4930123456 daemon --http 127.0.0.1:8080",
    ],
    fields: [
      {
        name: "account",
        label: "Phone number",
        secret: null,
        isOptional: false,
        hint: "With country code, such as +4930123456; or the account id (ACI).",
      },
      {
        name: "url",
        label: "Address of the daemon",
        secret: null,
        isOptional: true,
        initial: "http://127.0.0.1:8080/",
      },
      {
        name: "name",
        label: "Name",
        secret: null,
        isOptional: true,
        hint: "The bot's name in Signal.",
      },
      {
        name: "receiveMode",
        label: "Receive mode of the daemon",
        secret: null,
        isOptional: true,
        options: ["on-start", "on-connection"],
        initial: "on-start",
      },
      {
        name: "token",
        label: "Token of a proxy in front of it",
        secret: "SIGNAL_PROXY_TOKEN",
        isOptional: true,
      },
    ],
  },
  local: false,
  chatKind: kindOfChat,
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
