/**
 * Identity of an account
 * ======================
 * Asks a platform once which account a token belongs to. This checks the token without sending
 * anything to a room.
 */
import { createSystemClock } from "../../../adapters/system/clock.ts";
import { createRandom } from "../../../adapters/system/ids.ts";
import { accountFields } from "../../../domain/config/daemon/channels.ts";
import type { ChannelDefinition, ChannelIdentity } from "../../../domain/ports/index.ts";
import { accountFolder } from "../../state/account-folder.ts";

/**
 * The account's identity on the platform; undefined if the channel cannot ask for it.
 * @throws EarshotError EAR_CHANNEL_*
 */
export async function identifyAccount(
  definition: ChannelDefinition,
  accountId: string,
  config: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  stateDir?: string,
): Promise<ChannelIdentity | undefined> {
  const own = Object.entries(config).filter(([name]) => !Object.hasOwn(accountFields, name));
  await definition.load?.();
  const opened = definition.open({
    accountId,
    config: definition.accountSchema.parse(Object.fromEntries(own)),
    clock: createSystemClock(),
    random: createRandom(),
    ...(stateDir !== undefined && { folder: accountFolder(stateDir, definition.id, accountId) }),
    log: () => undefined,
    deliver: async () => undefined,
    loadCursor: async () => null,
    reportState: () => undefined,
    reportGap: () => undefined,
  });
  return opened.identify?.(signal);
}
