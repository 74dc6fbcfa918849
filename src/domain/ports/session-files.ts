/**
 * Transcripts as files for people and other programs: one JSON Lines file per session and an index
 * per agent. They follow the store and the runtime never reads them back, so a lost or torn file is
 * rebuilt from the store.
 */

/** Identifies one transcript file. */
export interface SessionFile {
  readonly agentId: string;
  /** A unique id, never text of a room: it becomes part of the path. */
  readonly sessionId: string;
}

/** Each method throws EarshotError EAR_STORE_FULL or EAR_STORE_FAILED: try again later. */
export interface SessionFiles {
  /**
   * The number of the last complete line that is at most `most`, 0 without one. What follows it is cut
   * off: a torn line, lines with higher numbers. @default any number
   */
  lastLine(file: SessionFile, most?: number): Promise<number>;
  /** Appends complete lines (given without line ends), all of them or none. */
  append(file: SessionFile, lines: readonly string[]): Promise<void>;
  /** Replaces the agent's index atomically. */
  writeIndex(agentId: string, parts: AsyncIterable<string>): Promise<void>;
  /** The first line of the agent's index; null when there is no readable index. */
  indexHead(agentId: string): Promise<string | null>;
}
