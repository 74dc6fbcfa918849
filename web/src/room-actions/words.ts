/** How a divider says that a session began or was compacted, and what was done to a room by hand. */
import type { ActedEntry } from "../../../src/daemon/api-types/room.ts";
import { shownName } from "../lib/sanitize.ts";

/** The reasons for a new session; `by` is known only of a person outside the chat. */
export interface SessionBegan {
  readonly why: string;
  readonly by?: string | undefined;
}

export function sessionWords({ why, by }: SessionBegan): string {
  if (why === "compaction") return "Compacted: older messages are summarised for the agent";
  if (why === "omission") return "Shortened: the agent no longer sees older messages";
  if (why === "policy") return "New session, as set by session.reset";
  if (why === "command") return "New session, by /new";
  return by === undefined ? "New session" : `New session, by ${shownName(by)}`;
}

export function actedWords({ does, level }: ActedEntry, agentName: string): string {
  switch (does) {
    case "stop":
      return "stopped the turn";
    case "disengage":
      return `disengaged ${shownName(agentName)}`;
    case "say":
      return `said something as ${shownName(agentName)}`;
    case "activation":
      return level == null
        ? "reset the activation to the config"
        : `set the activation to ${level}`;
  }
}
