/**
 * The files that agents send. A file is copied when the agent asks for it: what it does with its own
 * copy later, and a restart, change nothing.
 */

export interface OutgoingSource {
  /** A path in the agent's folder, or an http or https address. */
  readonly source: string;
  /** The agent's folder as configured. */
  readonly workspace: string;
  readonly bytesMax: number;
  /** Size of all copies; the oldest are deleted. */
  readonly totalMax: number;
  /** Time limit of a download, ms. */
  readonly msMax: number;
}

export interface OutgoingFile {
  /** Generated letters and digits. */
  readonly id: string;
  readonly name: string;
  /** By its first bytes. */
  readonly mime: string;
  readonly bytes: number;
}

export interface OutgoingFiles {
  /**
   * Copies a file.
   * @throws EarshotError EAR_STATE_UNSAFE for a path outside the folder or something else than a plain
   * file, EAR_HTTP_REFUSED for a refused address or size, EAR_HTTP_FAILED, EAR_INBOUND_INVALID for an
   * empty file; never with text of the file.
   */
  take(source: OutgoingSource, signal: AbortSignal): Promise<OutgoingFile>;
  /** Stores a text of the agent. */
  keep(text: string, options: Pick<OutgoingSource, "totalMax">): Promise<OutgoingFile>;
  /** The bytes of a copy; null: it is gone. */
  read(id: string): Promise<Uint8Array | null>;
}
