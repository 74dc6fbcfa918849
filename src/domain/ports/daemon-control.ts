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

/** A command line of an owner. */
export interface ShellOrder {
  readonly command: string;
  /** An existing folder. */
  readonly cwd: string;
  readonly msMax: number;
  /** More output than this is cut at its beginning. */
  readonly bytesMax: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}
export interface ShellEnd {
  /** By itself, at the limit of time, or by the signal. */
  readonly why: "ended" | "time" | "stopped";
  /** Null: a signal ended it, or it never started. */
  readonly code: number | null;
  /** Description of a failure; null when it succeeded or was stopped. */
  readonly problem: string | null;
  /** Standard output and error, in order, without terminal escapes. */
  readonly output: string;
  readonly isCut: boolean;
}

export interface DaemonControl {
  /**
   * Runs a command line in an agent's folder (as configured), or in the daemon's if that does not
   * exist. Never rejects. Absent: there is no shell.
   */
  readonly shell?: (
    order: Omit<ShellOrder, "cwd"> & { readonly workspace: string },
  ) => Promise<ShellEnd>;
  readonly layers: ConfigLayers;
  /** Null: earshot cannot restart itself here. */
  readonly restart: {
    /** Why a start would fail now; null: no known problem. */
    problem(): Promise<string | null>;
    /** Stops when running work has ended, then starts again. Returns immediately. */
    start(): void;
  } | null;
}
