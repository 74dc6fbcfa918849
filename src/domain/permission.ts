/**
 * Permissions of agents
 * =====================
 * What an agent that runs programs or changes files by its own means may do when it asks first. The
 * config has the first word, the session (`/exec`, `/elevated`) the second, and where both are silent
 * everything is refused. What a session allows without a question counts only in turns that answer
 * nobody but owners: somebody else's words are put before an owner first.
 *
 * Only agents that ask can be answered: what a program does without asking is its own sandbox's matter
 * (docs/agents/acp.md).
 */

export const execSecurities = ["deny", "allowlist", "full"] as const;
/** Nothing; what is on the agent's list of kinds; everything. */
export type ExecSecurity = (typeof execSecurities)[number];
export const execAskModes = ["off", "on-miss", "always"] as const;
/** Never; where the list would refuse it; each time. */
export type ExecAskMode = (typeof execAskModes)[number];

/** Absent: as the agent is configured. */
export interface ExecSettings {
  readonly security?: ExecSecurity;
  readonly ask?: ExecAskMode;
}

/** What a turn's agent may do, as far as its session says. */
export interface PermissionPolicy {
  readonly exec: ExecSettings;
  readonly elevated: "off" | "ask" | "full";
  /** Everybody whose words the turn answers is an owner. */
  readonly owned: boolean;
}

/** Nothing said: as the agent is configured. */
export const defaultPermissionPolicy: PermissionPolicy = {
  exec: {},
  elevated: "off",
  owned: false,
};

/** What an agent wants to do, in its own words. */
export interface PermissionRequest {
  /** `execute`, `edit` and so on, as its protocol names them. */
  readonly kind: string;
  readonly title: string;
}
export type PermissionAnswer = "once" | "always" | "deny";
export type PermissionVerdict = "allow" | "ask" | "deny";

/**
 * What is done with a request. `configured` is complete; `listed`: its kind is on the agent's list.
 */
export function judgePermission(
  { exec, elevated, owned }: PermissionPolicy,
  configured: Required<ExecSettings>,
  listed: boolean,
): PermissionVerdict {
  const plain = verdictOf(configured, listed);
  if (elevated === "full") return owned || plain === "allow" ? "allow" : "ask";
  const said = verdictOf({ ...configured, ...exec }, listed);
  if (said === "deny") return elevated === "ask" ? "ask" : "deny";
  if (said === "allow" && plain !== "allow" && !owned) return "ask";
  return said;
}

function verdictOf({ security, ask }: Required<ExecSettings>, listed: boolean): PermissionVerdict {
  if (security === "deny") return "deny";
  if (ask === "always") return "ask";
  if (security === "full" || listed) return "allow";
  return ask === "on-miss" ? "ask" : "deny";
}
