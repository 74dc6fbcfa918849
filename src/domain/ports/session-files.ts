/**
 * The session files port
 * ======================
 * Transcripts as files for people and other programs: one of JSON Lines for each session, and an
 * index for each agent. They follow the store and are never read back by the runtime, so a file
 * that was lost or torn is made again from there.
 */

/** Names one transcript file. */
export interface SessionFile {
  readonly agentId: string;
  /** A unique id, never a name from a room: it becomes a part of the path. */
  readonly sessionId: string;
}

/** Each method throws EarshotError EAR_STORE_FULL | EAR_STORE_FAILED: try again later. */
export interface SessionFiles {
  /**
   * The number of the newest whole line, 0 where there is none. What follows that line, torn by a
   * crash, is cut off.
   */
  lastLine(file: SessionFile): Promise<number>;
  /** Writes whole lines (without their ends) after what is there, all of them or none. */
  append(file: SessionFile, lines: readonly string[]): Promise<void>;
  /** Replaces the agent's index as a whole; a reader sees the old one or the new one. */
  writeIndex(agentId: string, parts: AsyncIterable<string>): Promise<void>;
  /** The first line of the agent's index; null where there is none that can be read. */
  indexHead(agentId: string): Promise<string | null>;
}
