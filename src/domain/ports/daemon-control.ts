/**
 * The house port
 * ==============
 * What an owner may change of the daemon itself from a room: values over the config file, and a new
 * start. Whoever runs the runtime inside a program of his own leaves it out, and the commands say so.
 */

/** `set` is kept in the state directory, `debug` in memory only and over it. */
export type LayerName = "set" | "debug";

/** A value that was said in a room. */
export interface ChatOverride {
  readonly path: string;
  readonly value: unknown;
  /** `channel:id` of who said it. */
  readonly by: string;
}

export interface ConfigLayers {
  /** In the order in which they were said. */
  overrides(layer: LayerName): readonly ChatOverride[];
  /**
   * Puts a value over the config and takes the whole over. `text` is JSON5, or else the words
   * themselves. @throws EarshotError EAR_CONFIG_* with the reason; nothing has changed then.
   */
  set(layer: LayerName, path: string, text: string, by: string): Promise<ChatOverride>;
  /** Takes values away, all of them where no path is given; the paths that were taken away. */
  unset(layer: LayerName, path?: string): Promise<readonly string[]>;
}

export interface DaemonControl {
  readonly layers: ConfigLayers;
  /** Null: whoever started this earshot has to restart it. */
  readonly restart: {
    /** Why a start would fail now; null: nothing is known to be in its way. */
    problem(): Promise<string | null>;
    /** Stops once what is under way has ended, and starts anew. Returns at once. */
    start(): void;
  } | null;
}
