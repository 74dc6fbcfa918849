/**
 * Decides `session/request_permission` by the turn's policy: the driver's options first, then the
 * session's settings, then an owner where one is to be asked. The response is always one of the
 * options the agent offered; where none fits, the request is cancelled, which allows nothing.
 */
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import {
  defaultPermissionPolicy,
  judgePermission,
  type PermissionRequest,
} from "../../../domain/permission.ts";
import type { AgentTurn } from "../../../domain/ports/index.ts";
import type { AcpConfig } from "./config.ts";

type Kind = RequestPermissionRequest["options"][number]["kind"];

/** Acceptable option kinds, in order of preference. */
const choices = {
  allow: ["allow_once", "allow_always"],
  once: ["allow_once"],
  always: ["allow_always", "allow_once"],
  deny: ["reject_once", "reject_always"],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;
export type PermissionChoice = keyof typeof choices;

export type Judge = (request: PermissionRequest) => Promise<PermissionChoice>;

/** The judge of one turn. Denies requests made after the turn has ended. */
export function judgeOf(config: AcpConfig, turn: AgentTurn, signal: AbortSignal): Judge {
  const security = config.permissions === "allow" ? "full" : config.permissions;
  const policy = turn.permissions ?? defaultPermissionPolicy;
  return async (request) => {
    const listed = config.allowKinds.some((kind) => kind === request.kind);
    const verdict = judgePermission(policy, { security, ask: "off" }, listed);
    if (signal.aborted || verdict === "deny") return "deny";
    if (verdict === "allow") return "allow";
    const answer = (await turn.askOwner?.(request)) ?? "deny";
    return signal.aborted ? "deny" : answer;
  };
}

/** Converts the protocol's request. */
export function requestOf({ toolCall }: RequestPermissionRequest): PermissionRequest {
  return { kind: toolCall.kind ?? "other", title: toolCall.title ?? "something it does not name" };
}

/** Converts the decision to the protocol's response. */
export function responseOf(
  { options }: RequestPermissionRequest,
  choice: PermissionChoice,
): RequestPermissionResponse {
  const wanted: readonly Kind[] = choices[choice];
  const chosen = wanted
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  if (chosen === undefined) return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: chosen.optionId } };
}
