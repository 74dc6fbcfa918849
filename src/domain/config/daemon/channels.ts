/**
 * `channels`: channels and their accounts
 * =======================================
 * Channel id to its accounts. What an account needs (tokens, servers) is defined by the channel's
 * own schema, given when the config is parsed; the fields of every account (access, overrides) are
 * here. The local channels exist without being listed; `enabled: false` turns one off.
 */
import { z } from "zod";
import { id } from "../conversation/section.ts";
import { accessFields } from "./access.ts";
import { groups, roomFields } from "./rooms.ts";

/** Fields of every account, whatever its channel. */
export const accountFields = {
  enabled: z.boolean().optional().describe("false turns the account off."),
  ...accessFields,
  groups,
  ...roomFields,
};
const account = z.looseObject(accountFields);
export type AccountConfig = z.output<typeof account>;

export const channelSchema = z.strictObject({
  enabled: z.boolean().default(true).describe("false turns the channel off."),
  enforceOwner: z.boolean().optional().describe("true: only owners may use commands here."),
  accounts: z
    .record(id, account)
    .optional()
    .describe("Account id to its config. Left out: one account, `default`, with nothing set."),
  ...accessFields,
  groups,
  ...roomFields,
});
export type ChannelConfig = z.output<typeof channelSchema>;

/** On in every daemon unless turned off: their author is the operator. */
export const localChannels = ["webchat", "terminal", "webhook"] as const;

export const channels = z.record(id, channelSchema).transform((configured) => {
  const withLocal = { ...configured };
  for (const name of localChannels)
    if (!Object.hasOwn(withLocal, name)) withLocal[name] = { enabled: true };
  return withLocal;
});

/** Enabled accounts of a channel, in the order of the file. */
export function accountsOf(channel: ChannelConfig): readonly (readonly [string, AccountConfig])[] {
  if (!channel.enabled) return [];
  if (channel.accounts === undefined) return [["default", {}]];
  return Object.entries(channel.accounts).filter(([, config]) => config.enabled !== false);
}
