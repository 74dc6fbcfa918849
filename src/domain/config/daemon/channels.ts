/**
 * `channels`: the rooms' side
 * ===========================
 * Channel id to its accounts. What an account needs (tokens, servers) is the channel's own schema,
 * given when the config is parsed; what every account may say beside it (access, overrides) is
 * here. The local channels exist without being written down; `enabled: false` switches one off.
 */
import { z } from "zod";
import { overrideFields } from "../conversation/overrides.ts";
import { id } from "../conversation/section.ts";
import { accessFields } from "./access.ts";

/** Fields every account understands, whatever its channel. */
export const accountFields = {
  enabled: z.boolean().optional().describe("false: the account is off."),
  ...accessFields,
  ...overrideFields,
};
const account = z.looseObject(accountFields);
export type AccountConfig = z.output<typeof account>;

export const channelSchema = z.strictObject({
  enabled: z.boolean().default(true).describe("false: the channel is off."),
  enforceOwner: z.boolean().optional().describe("true: only owners give commands here."),
  accounts: z
    .record(id, account)
    .optional()
    .describe("Account id to its config. Left out: one account, `default`, with nothing set."),
  ...accessFields,
  ...overrideFields,
});
export type ChannelConfig = z.output<typeof channelSchema>;

/** On in every daemon unless switched off: their sender is the operator. */
export const localChannels = ["webchat", "terminal", "webhook"] as const;

export const channels = z.record(id, channelSchema).transform((given) => {
  const all = { ...given };
  for (const name of localChannels) if (!Object.hasOwn(all, name)) all[name] = { enabled: true };
  return all;
});

/** Accounts of a channel that are switched on, in the order of the file. */
export function accountsOf(channel: ChannelConfig): readonly (readonly [string, AccountConfig])[] {
  if (!channel.enabled) return [];
  if (channel.accounts === undefined) return [["default", {}]];
  return Object.entries(channel.accounts).filter(([, config]) => config.enabled !== false);
}
