/**
 * What an operator could allow so that a refused message is admitted. Null: it is admitted, or the
 * config refuses it on purpose (a policy that is off, a list of one group), or a pairing code is the
 * way in.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Inbound } from "../../domain/message.ts";
import { accessOf, listedRoom } from "./access-rules.ts";
import { type AdmissionContext, admit } from "./admission.ts";

export function remedyFor(
  message: Inbound,
  config: EarshotConfig,
  context: AdmissionContext,
): "group" | "person" | null {
  const { channel, account, chat, thread } = message;
  const { rule } = admit({ type: "message", message }, config, context);
  if (rule !== "group-policy" && rule !== "dm-policy") return null;
  const rules = accessOf(config, channel, account);
  if (chat.kind === "direct") return rules.dmPolicy === "allowlist" ? "person" : null;
  if (rules.groupPolicy === "disabled") return null;
  const group = listedRoom(rules, chat.id, thread?.id);
  if (group === undefined) return "group";
  return group.enabled && group.allowFrom === undefined ? "person" : null;
}
