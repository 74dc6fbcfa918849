/**
 * The few files in an agent's folder that the runtime reads. The operator or the agent writes them,
 * never a room.
 */

/** The file with an agent's heartbeat instructions. */
export const heartbeatFile = "HEARTBEAT.md";

export interface Workspaces {
  /** The absolute path of an agent's folder, which may not exist. */
  folder(workspace: string): string;
  /**
   * The current text of a file in an agent's folder; null when it does not exist.
   * @param workspace the folder as configured (`~` and `<state>` are filled in here).
   * @throws EarshotError EAR_STATE_UNSAFE for a link, a special file or one that is too large;
   * EAR_STORE_FAILED for a file system error.
   */
  read(workspace: string, file: typeof heartbeatFile): Promise<string | null>;
}
