/**
 * Media settings of a message
 * ===========================
 * Read where files are fetched and converted, including secrets, so they are never part of the
 * settings a conversation depends on. The channel is the message's own, even where chats of several
 * channels share a session.
 */
import type { MediaSettings } from "../conversation/media.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { placesOf, type SettingsScope } from "./resolve.ts";

/** The most specific place wins, field by field; a converter is replaced as a whole. */
export function resolveMedia(
  config: EarshotConfig,
  scope: Omit<SettingsScope, "chatKind">,
): MediaSettings {
  const overrides = placesOf(config, scope).flatMap(({ media }) => Object.entries(media ?? {}));
  const defined = overrides.filter(([, value]) => value !== undefined);
  return { ...config.media, ...Object.fromEntries(defined) };
}
