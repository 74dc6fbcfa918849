/**
 * `session.store` of the config as a folder, with `<state>` and `{agentId}` filled in. The code
 * that creates the folder checks agent ids.
 */
import { resolve } from "node:path";
import type { EarshotConfig } from "../../domain/config/index.ts";

/** The folder of an agent's transcripts. */
export function sessionFolderOf(
  { session }: Pick<EarshotConfig, "session">,
  stateDir: string,
  agentId: string,
): string {
  return resolve(
    session.store.replaceAll("<state>", () => stateDir).replaceAll("{agentId}", () => agentId),
  );
}

/** ms that this machine's local time is ahead of UTC at a moment. */
export function localOffset(at: number): number {
  return -new Date(at).getTimezoneOffset() * 60_000;
}
