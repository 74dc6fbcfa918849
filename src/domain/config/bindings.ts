/**
 * `bindings`: which agent hears which place
 * =========================================
 * A list of matches, each naming an agent. All fields given must hold. The most specific kind of
 * match wins, and within a kind the first of the file (docs/routing.md).
 */
import { z } from "zod";
import { id } from "./section.ts";

const match = z
  .strictObject({
    channel: id,
    /** `*` or left out: every account. */
    accountId: id.optional(),
    /** `group` and `channel` mean the same. `*`: every peer of that kind. */
    peer: z.strictObject({ kind: z.enum(["direct", "group", "channel"]), id }).optional(),
    guildId: id.optional(),
    teamId: id.optional(),
    /** The sender has one of these. */
    roles: z.array(id).min(1).max(100).optional(),
  })
  .refine((given) => given.roles === undefined || given.guildId !== undefined, {
    path: ["roles"],
    message: "roles need the guildId they belong to",
  });

export const bindings = z
  .array(z.strictObject({ match, agentId: id }))
  .max(1_000_000)
  .default([]);
export type BindingMatch = z.output<typeof match>;
