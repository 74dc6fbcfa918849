/** What the commands about labelled rooms read. */
import { readLabelledRooms } from "../../../../adapters/files/labelled-file.ts";
import { type EarshotConfig, scenarioConfig } from "../../../../domain/config/index.ts";
import { EarshotError } from "../../../../domain/errors.ts";
import type { LabelledRoom } from "../../../../domain/quality/labelled-room.ts";
import { readConfigFile } from "../../lib/read-config.ts";

/** The config of a file; without one the built-in defaults. */
export async function configOf(path: string | undefined): Promise<EarshotConfig> {
  if (path === undefined) return scenarioConfig({}, {});
  return scenarioConfig({}, await readConfigFile(path), { source: path });
}

/** All rooms; two with one name are refused, because results are given by name. */
export async function readAll(files: readonly string[]): Promise<readonly LabelledRoom[]> {
  const rooms = new Map<string, LabelledRoom>();
  for (const file of files)
    for await (const room of readLabelledRooms(file)) {
      if (rooms.has(room.room))
        throw new EarshotError(
          "EAR_SCENARIO_INVALID",
          `Cannot read ${file}: another room is called ${JSON.stringify(room.room)}. Rename one`,
        );
      rooms.set(room.room, room);
    }
  return [...rooms.values()];
}
