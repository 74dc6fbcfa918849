/**
 * Levels that need the agent or the config
 * ========================================
 * Answers of `/exec`, `/elevated` and `/tts`: what was set, and what has no effect with the current
 * agent and config.
 */
import { resolveMedia } from "../../domain/config/index.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

/** Drivers whose agents request permissions, or may: a module is custom code. */
const asking: ReadonlySet<string> = new Set(["acp", "module"]);

function effectOf({ agent }: CommandAbout): string {
  return asking.has(agent.driver.kind)
    ? ""
    : ` The agent here (${agent.driver.kind}) never asks for permission, so this has no effect.`;
}

export function execText(about: CommandAbout): string {
  const { security = "as configured", ask = "as configured" } = about.settings.exec;
  return `Exec: security ${security}, ask ${ask}.${effectOf(about)}`;
}

export function elevatedText(about: CommandAbout): string {
  const elevated = about.settings.elevated ?? about.agent.elevatedDefault;
  return `Elevated: ${elevated}.${elevated === "off" ? "" : effectOf(about)}`;
}

export function ttsText({ configs }: CommandPorts, about: CommandAbout): string {
  const { step, asked, agent, settings } = about;
  const { channel, account } = asked.route;
  const scope = { agentId: agent.id, key: step.key, channel, account };
  const { speech } = resolveMedia(configs.current(), scope);
  const setting = settings.tts ?? "as configured";
  const none = " No speech program is configured (media.speech), so replies are not spoken.";
  return `Speech: ${setting}.${speech === null ? none : ""}`;
}
