/**
 * Permissions of agents
 * =====================
 * What an agent that runs programs or changes files itself may do when it asks for permission. The
 * config decides first, then the session (`/exec`, `/elevated`); where both are silent, everything
 * is refused. What a session allows without asking applies only to turns that answer owners alone;
 * in other turns an owner is asked first.
 *
 * Only agents that ask can be controlled this way; an agent that does not ask needs its own sandbox
 * (docs/agents/acp.md).
 */

export const execSecurities = ["deny", "allowlist", "full"] as const;
/** Nothing; what is on the agent's list of kinds; everything. */
export type ExecSecurity = (typeof execSecurities)[number];
export const execAskModes = ["off", "on-miss", "always"] as const;
/** When an owner is asked: never; where the list would refuse; each time. */
export type ExecAskMode = (typeof execAskModes)[number];

/** Absent fields: as the agent is configured. */
export interface ExecSettings {
  readonly security?: ExecSecurity;
  readonly ask?: ExecAskMode;
}

/** What the session allows a turn's agent. */
export interface PermissionPolicy {
  readonly exec: ExecSettings;
  readonly elevated: "off" | "ask" | "full";
  /** Every author the turn answers is an owner. */
  readonly owned: boolean;
}

/** A session without permissions of its own: as the agent is configured. */
export const defaultPermissionPolicy: PermissionPolicy = {
  exec: {},
  elevated: "off",
  owned: false,
};

/** What an agent wants to do, in its own terms. */
export interface PermissionRequest {
  /** `execute`, `edit` and so on, as its protocol names them. */
  readonly kind: string;
  readonly title: string;
}
export type PermissionAnswer = "once" | "always" | "deny";
export type PermissionVerdict = "allow" | "ask" | "deny";

/**
 * Decides a request. `configured` is complete; `listed` means that its kind is on the agent's list.
 */
export function judgePermission(
  { exec, elevated, owned }: PermissionPolicy,
  configured: Required<ExecSettings>,
  listed: boolean,
): PermissionVerdict {
  const configuredVerdict = verdictOf(configured, listed);
  if (elevated === "full") return owned || configuredVerdict === "allow" ? "allow" : "ask";
  const sessionVerdict = verdictOf({ ...configured, ...exec }, listed);
  if (sessionVerdict === "deny") return elevated === "ask" ? "ask" : "deny";
  if (sessionVerdict === "allow" && configuredVerdict !== "allow" && !owned) return "ask";
  return sessionVerdict;
}

function verdictOf({ security, ask }: Required<ExecSettings>, listed: boolean): PermissionVerdict {
  if (security === "deny") return "deny";
  if (ask === "always") return "ask";
  if (security === "full" || listed) return "allow";
  return ask === "on-miss" ? "ask" : "deny";
}
