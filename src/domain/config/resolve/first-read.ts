/**
 * What is read from the platform before the first message of a room, and how long that message
 * waits for it. Only the intake reads these settings, so they are not part of the settings of a
 * conversation.
 */
import type { EarshotConfig } from "../daemon/schema.ts";
import { placesOf, type SettingsScope } from "./resolve.ts";

export interface FirstReadSettings {
  /** Longest wait for the member list and the history, ms; 0: none. */
  readonly waitMs: number;
  /** Most messages of the room's history; 0: it is not read. */
  readonly historyLimit: number;
}

/** The most specific level that sets a field wins. */
export function resolveFirstRead(
  config: EarshotConfig,
  scope: Omit<SettingsScope, "chatKind">,
): FirstReadSettings {
  let waitMs = config.engagement.firstReadMs;
  let { historyLimit, size } = config.context;
  for (const { engagement, context } of placesOf(config, scope)) {
    waitMs = engagement?.firstReadMs ?? waitMs;
    historyLimit = context?.historyLimit ?? historyLimit;
    size = context?.size ?? size;
  }
  return { waitMs, historyLimit: size === 0 ? 0 : historyLimit };
}
