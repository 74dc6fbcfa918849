// The channel: its name, its capabilities, the config of an account, and the two halves of an account.
// They share the connection to the loft, while there is one.
import { defineChannel } from "earshot";
import { z } from "zod";
import { receive, whoAmI } from "./gateway.mjs";
import { carrier } from "./outbound.mjs";

export const pigeon = defineChannel({
  id: "pigeon",
  meta: { name: "Pigeon", description: "Lofts that speak JSON lines over TCP" },
  // Only what the platform really supports: the runtime relies on it.
  capabilities: {
    edits: false,
    deletes: false,
    reactions: false,
    typing: false,
    threads: false,
    membership: false,
    history: false,
    media: false,
    mentions: "structured",
    replyAuthor: true,
    botFlag: true,
  },
  textLimit: 500,
  typingIntervalMs: 5_000,
  // One account. A name that ends in `token` makes it a secret: `"${PIGEON_TOKEN}"` in the file.
  accountSchema: z.strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("Where the loft is."),
    port: z.number().int().min(1).max(65_535).describe("Its port."),
    token: z.string().min(1).describe("Lets the bot in."),
  }),
  local: false,
  open(context) {
    const wire = { line: null, after: null };
    return {
      start: (signal) => receive(context, wire, signal),
      outbound: carrier(wire),
      identify: (signal) => whoAmI(context.config, signal),
    };
  },
});
