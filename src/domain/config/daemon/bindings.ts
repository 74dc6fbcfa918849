/**
 * `bindings`: which agent hears which chats
 * =========================================
 * A list of matches, each naming an agent. All fields of a match must hold. The most specific kind
 * of match wins, and within a kind the first in the file (docs/guide/routing.md).
 */
import { z } from "zod";
import { id } from "../conversation/section.ts";

const match = z
  .strictObject({
    channel: id.describe("Channel id."),
    accountId: id.optional().describe("Account of the channel. `*` or left out: every account."),
    peer: z
      .strictObject({
        kind: z.enum(["direct", "group", "channel"]).describe("Kind of chat."),
        id: id.describe("Id of the chat, or of the person in a direct chat."),
      })
      .optional()
      .describe("`group` and `channel` mean the same. `*`: every peer of that kind."),
    guildId: id.optional().describe("Id of a server (guild)."),
    teamId: id.optional().describe("Id of a workspace (team)."),
    roles: z
      .array(id)
      .min(1)
      .max(100)
      .optional()
      .describe("The author must have one of these roles."),
  })
  .refine((given) => given.roles === undefined || given.guildId !== undefined, {
    path: ["roles"],
    message: "roles need the guildId they belong to",
  });

export const bindings = z
  .array(
    z.strictObject({
      match: match.describe("What a message must match; all given fields must hold."),
      agentId: id.describe("The agent that answers matching messages."),
    }),
  )
  .max(1_000_000)
  .default([]);
export type BindingMatch = z.output<typeof match>;
