/**
 * Which accounts several nodes cannot run
 * =======================================
 * An account that rests on something of one machine: another node could have its lease and never connect.
 */
import { accountOf } from "../../actors/channels/account-connection.ts";
import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChannelDefinition } from "../../domain/ports/index.ts";

/** @throws EarshotError EAR_CONFIG_INVALID that names the accounts, why, and the fix. */
export function refuseOneMachine(
  config: EarshotConfig,
  channels: ReadonlyMap<string, ChannelDefinition>,
): void {
  if (config.engine.nodes === null) return;
  const found = Object.entries(config.channels).flatMap(([id, section]) => {
    const definition = channels.get(id);
    if (definition === undefined || section === undefined) return [];
    return accountsOf(section).flatMap(([account, raw]) => {
      const parsed = accountOf(definition, raw);
      const why = parsed.success ? (definition.needsMachine?.(parsed.data) ?? null) : null;
      return why === null ? [] : [`channels.${id}.accounts.${account} (${why})`];
    });
  });
  if (found.length === 0) return;
  throw new EarshotError(
    "EAR_CONFIG_INVALID",
    `Cannot run ${found.join(", ")} on several nodes (engine.nodes): another node could not take it over. Run the ` +
      "account in an earshot of its own, or use one node (engine.nodes: null).",
  );
}
