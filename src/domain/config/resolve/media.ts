/**
 * What the config says about one message's media
 * ==============================================
 * Read where files are fetched and converted, secrets included, so never part of the settings that a
 * conversation is folded with. The channel is the message's own, also where chats of several
 * channels share a session.
 */
import type { MediaSettings } from "../conversation/media.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { placesOf, type SettingsScope } from "./resolve.ts";

/** The most specific place wins, field by field; a converter is taken whole. */
export function resolveMedia(
  config: EarshotConfig,
  scope: Omit<SettingsScope, "chatKind">,
): MediaSettings {
  const said = placesOf(config, scope).flatMap(({ media }) => Object.entries(media ?? {}));
  const given = said.filter(([, value]) => value !== undefined);
  return { ...config.media, ...Object.fromEntries(given) };
}
