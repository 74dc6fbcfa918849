/**
 * Plugins are loaded before the config is parsed, because the channels that they add are part of the
 * config's schema. A plugin that cannot be loaded stops the start: a daemon with half of its
 * configuration would be noticed too late.
 */
import { dirname } from "node:path";
import { scopedPlugin } from "../../adapters/files/plugin-scope.ts";
import { loadPlugins, pluginsNamedIn } from "../../adapters/files/plugins.ts";
import type { ChannelDefinition, Plugin } from "../../domain/ports/index.ts";
import { configPathOf } from "./config-source.ts";

export interface LoadedPlugins {
  readonly plugins: readonly Plugin[];
  readonly channels: readonly ChannelDefinition[];
  /** Where relative paths of the config start. */
  readonly baseDir: string;
}

export interface PluginOptions {
  /** The config file that the user named. */
  readonly config?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
}

/**
 * The plugins that the config names, after `own`.
 * @throws EarshotError EAR_PLUGIN naming the place in the config and the fix.
 */
export async function loadConfiguredPlugins(
  { config, env, stateDir }: PluginOptions,
  own: readonly Plugin[] = [],
): Promise<LoadedPlugins> {
  const path = configPathOf(config, env, stateDir);
  const baseDir = path === null ? stateDir : dirname(path);
  const named = path === null ? [] : await loadPlugins(await pluginsNamedIn(path), baseDir);
  const plugins = [...own.map(scopedPlugin), ...named];
  return { plugins, channels: plugins.flatMap(({ channels }) => channels ?? []), baseDir };
}
