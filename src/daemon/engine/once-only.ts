/**
 * Which accounts several nodes cannot run
 * =======================================
 * A connection that a platform allows once is on one node; what other nodes send does not reach it.
 */
import { connectsOnce } from "../../actors/channels/account-connection.ts";
import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChannelDefinition } from "../../domain/ports/index.ts";

/** @throws EarshotError EAR_CONFIG_INVALID that names the accounts and the fix. */
export function refuseOnceOnly(
  config: EarshotConfig,
  channels: ReadonlyMap<string, ChannelDefinition>,
): void {
  if (config.engine.nodes === null) return;
  const found = Object.entries(config.channels).flatMap(([id, section]) => {
    const definition = channels.get(id);
    if (definition === undefined || section === undefined) return [];
    return accountsOf(section).flatMap(([account, raw]) =>
      connectsOnce(definition, raw) ? [`channels.${id}.accounts.${account}`] : [],
    );
  });
  if (found.length === 0) return;
  throw new EarshotError(
    "EAR_CONFIG_INVALID",
    `Cannot run ${found.join(", ")} on several nodes (engine.nodes): the platform allows one connection, and what ` +
      "other nodes send does not reach it. Use a form in which the platform calls us (telegram with webhook, slack " +
      "without appToken, whatsapp), or one node (engine.nodes: null).",
  );
}
