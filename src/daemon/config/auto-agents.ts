/** Replaces `auto` drivers of agents by what was found on this machine at the start. */
import { findModel } from "../../adapters/agents/auto.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Log } from "../../domain/ports/index.ts";

const isAuto = (driver: { kind: string } | undefined) => driver?.kind === "auto";

/** The config with every `auto` driver replaced; the same object when there is none. */
export async function withFoundModels(
  config: EarshotConfig,
  env: NodeJS.ProcessEnv,
  log: Log,
): Promise<EarshotConfig> {
  const { agents } = config;
  if (!isAuto(agents.defaults.driver) && !agents.list.some(({ driver }) => isAuto(driver)))
    return config;
  const { driver, because } = await findModel(env);
  log("info", "agent.auto", { kind: driver.kind, because });
  const found = <Holder extends { driver?: { kind: string } | undefined }>(holder: Holder) =>
    isAuto(holder.driver) ? { ...holder, driver } : holder;
  return {
    ...config,
    agents: { defaults: found(agents.defaults), list: agents.list.map(found) },
  };
}
