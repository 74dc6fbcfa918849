/**
 * What an owner may change of the daemon from a room: overrides of the config file, and a restart.
 * A program that embeds the runtime leaves the port out, and the commands say so.
 */

/** `set` is stored in the state directory; `debug` lives in memory and takes precedence. */
export type LayerName = "set" | "debug";

/** A config value set from a room. */
export interface ChatOverride {
  readonly path: string;
  readonly value: unknown;
  /** `channel:id` of the author. */
  readonly by: string;
}

export interface ConfigLayers {
  /** In the order they were set. */
  overrides(layer: LayerName): readonly ChatOverride[];
  /**
   * Overrides a config value and applies the result. `text` is JSON5, otherwise a plain string.
   * @throws EarshotError EAR_CONFIG_* with the reason; then nothing has changed.
   */
  set(layer: LayerName, path: string, text: string, by: string): Promise<ChatOverride>;
  /** Removes the override at a path, or all of them; returns the removed paths. */
  unset(layer: LayerName, path?: string): Promise<readonly string[]>;
}

export interface DaemonControl {
  readonly layers: ConfigLayers;
  /** Null: earshot cannot restart itself here. */
  readonly restart: {
    /** Why a start would fail now; null: no known problem. */
    problem(): Promise<string | null>;
    /** Stops when running work has ended, then starts again. Returns immediately. */
    start(): void;
  } | null;
}
