/**
 * The workspace port
 * ==================
 * The few files in an agent's folder that the runtime itself reads. They are written by whoever
 * runs the agent, or by the agent, and never by a room.
 */

/** The file that says what an agent looks after when nobody has written. */
export const heartbeatFile = "HEARTBEAT.md";

export interface Workspaces {
  /**
   * The text of a file of an agent's folder, as it is now; null where there is none.
   * @param workspace the folder as configured, `~` and all.
   * @throws EarshotError EAR_STATE_UNSAFE for a link, what is no plain file, or one that is too
   * large; EAR_STORE_FAILED for what the file system says.
   */
  read(workspace: string, file: typeof heartbeatFile): Promise<string | null>;
}
