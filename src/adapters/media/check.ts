/**
 * Checks whether the configured converters can run here, without starting them: for the commands
 * that check a config before a daemon uses it. Every level that may configure media is checked.
 */

import type { MediaSettings } from "../../domain/config/conversation/media.ts";
import { allRoomLevels, type EarshotConfig, pathText } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import { canRun } from "../files/runnable.ts";
import { canReadLinks } from "./links.ts";

type CheckedSettings = Partial<{ [Name in keyof MediaSettings]: MediaSettings[Name] | undefined }>;

/** Problems: a missing program, a package that is not installed. */
export async function mediaWarnings(
  config: EarshotConfig,
  searchPath = process.env.PATH ?? "",
): Promise<readonly ConfigFinding[]> {
  const found = placesOf(config).map(([place, settings]) =>
    warningsOf(place, settings, searchPath),
  );
  return (await Promise.all(found)).flat();
}

function placesOf(config: EarshotConfig): [string, CheckedSettings][] {
  const places: [string, CheckedSettings | undefined][] = [["media", config.media]];
  for (const [index, { media }] of config.agents.list.entries())
    places.push([`agents.list[${index}].media`, media]);
  for (const { path, level } of allRoomLevels(config))
    places.push([pathText([...path, "media"]), level.media]);
  return places.filter((place): place is [string, CheckedSettings] => place[1] !== undefined);
}

async function warningsOf(
  place: string,
  settings: CheckedSettings,
  searchPath: string,
): Promise<ConfigFinding[]> {
  const { audio, image, video, speech, links } = settings;
  const programs = [
    ...Object.entries({ audio, image, video, speech }).flatMap(([name, converter]) =>
      converter !== null && typeof converter === "object" && converter.kind === "command"
        ? [[name, converter.command] as const]
        : [],
    ),
    ...(video?.kind === "model" ? [["video.frame", video.frame.command] as const] : []),
  ];
  const missing = await Promise.all(
    programs.map(async ([name, command]) =>
      (await canRun(command, searchPath))
        ? []
        : [
            {
              at: `${place}.${name}.command`,
              wrong: `${command} cannot be run here`,
              fix: "install it, or name its path",
            },
          ],
    ),
  );
  const parser =
    links !== null && links !== undefined && !(await canReadLinks())
      ? [
          {
            at: `${place}.links`,
            wrong: "the package htmlparser2 is not installed",
            fix: "npm install htmlparser2",
          },
        ]
      : [];
  return [...missing.flat(), ...parser];
}
