/**
 * `bindings`: which agent hears which place
 * =========================================
 * A list of matches, each naming an agent. All fields given must hold. The most specific kind of
 * match wins, and within a kind the first of the file (docs/guide/routing.md).
 */
import { z } from "zod";
import { id } from "../conversation/section.ts";

const match = z
  .strictObject({
    channel: id.describe("Channel id."),
    accountId: id.optional().describe("`*` or left out: every account."),
    peer: z
      .strictObject({
        kind: z.enum(["direct", "group", "channel"]).describe("What kind of chat."),
        id: id.describe("The chat, or in a direct chat the person."),
      })
      .optional()
      .describe("`group` and `channel` mean the same. `*`: every peer of that kind."),
    guildId: id.optional().describe("Of a server."),
    teamId: id.optional().describe("Of a workspace."),
    roles: z.array(id).min(1).max(100).optional().describe("The sender has one of these."),
  })
  .refine((given) => given.roles === undefined || given.guildId !== undefined, {
    path: ["roles"],
    message: "roles need the guildId they belong to",
  });

export const bindings = z
  .array(
    z.strictObject({
      match: match.describe("What a message must fit; every field that is there has to."),
      agentId: id.describe("Who answers what fits."),
    }),
  )
  .max(1_000_000)
  .default([]);
export type BindingMatch = z.output<typeof match>;
