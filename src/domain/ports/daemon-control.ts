/**
 * What an owner may change of the daemon from a room: the config file, overrides of it, and a restart.
 * A program that embeds the runtime leaves the port out, and the commands say so.
 */

/** `debug` lives in memory and takes precedence; `set`, in the state directory, has what earlier versions set. */
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

/** A change that was written to the config file. */
export interface ConfigFileChange {
  readonly path: string;
  /** Removed and added lines, marked - and +; empty: the file was like this already. */
  readonly lines: readonly string[];
  /** The file name of the copy of the old file; null: there was no file, or nothing changed. */
  readonly copy: string | null;
  /** Whether the daemon runs with it already. */
  readonly applied: boolean;
}

/** Changes of the config file by people in rooms; comments and layout stay. */
export interface ConfigFileEdits {
  /**
   * Sets a value, and removes an override that would hide it. `text` is JSON5, otherwise a plain
   * string.
   * @throws EarshotError EAR_CONFIG_* with the reason; then nothing has changed.
   */
  set(
    path: string,
    text: string,
    by: string,
  ): Promise<ConfigFileChange & { readonly value: unknown }>;
  /** Takes a value out of the file, and removes its override; null: neither has it. */
  unset(path: string, by: string): Promise<ConfigFileChange | null>;
  /** Undoes the last change by a page or from a room; null: there is none, or the file changed since. */
  undo(): Promise<{ readonly what: string } | null>;
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
  readonly file: ConfigFileEdits;
  /** Null: earshot cannot restart itself here. */
  readonly restart: {
    /** Why a start would fail now; null: no known problem. */
    problem(): Promise<string | null>;
    /** Stops when running work has ended, then starts again. Returns immediately. */
    start(): void;
  } | null;
}
