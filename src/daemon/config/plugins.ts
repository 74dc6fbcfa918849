/**
 * Plugins of this daemon
 * ======================
 * Loaded before the config is read, because the channels that they bring are a part of what the
 * config may say. One that cannot be loaded keeps the daemon from starting: half of what somebody
 * configured, without a word in the room, would be found out too late.
 */
import { dirname } from "node:path";
import { loadPlugins, pluginsNamedIn } from "../../adapters/files/plugins.ts";
import type { ChannelDefinition, Plugin } from "../../domain/ports/index.ts";
import { configPathOf } from "./config-source.ts";

export interface Plugged {
  readonly plugins: readonly Plugin[];
  readonly channels: readonly ChannelDefinition[];
  /** Where relative paths of the config start. */
  readonly baseDir: string;
}

export interface PluggedOptions {
  /** The config file that was told. */
  readonly config?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
}

/**
 * The plugins that the config names, after `own`.
 * @throws EarshotError EAR_PLUGIN naming the place in the config and the fix.
 */
export async function plugIn(
  { config, env, stateDir }: PluggedOptions,
  own: readonly Plugin[] = [],
): Promise<Plugged> {
  const path = configPathOf(config, env, stateDir);
  const baseDir = path === null ? stateDir : dirname(path);
  const named = path === null ? [] : await loadPlugins(await pluginsNamedIn(path), baseDir);
  const plugins = [...own, ...named];
  return { plugins, channels: plugins.flatMap(({ channels }) => channels ?? []), baseDir };
}
