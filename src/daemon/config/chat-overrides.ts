/**
 * Config overrides from chats
 * ===========================
 * Values over the config file: those of `/config set` in `<state>/config-set.json` (0600), those of
 * `/debug set` in memory. A change is accepted only if the whole config is valid with it; the
 * operator's file is never written. Changes are applied one at a time.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { z } from "zod";
import { assertMayOverride, overridePath } from "../../domain/config/parse/chat-overrides.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChatOverride, ConfigLayers, LayerName } from "../../domain/ports/index.ts";

export const overridesFileName = "config-set.json";
const saidMax = 500;
const fileSchema = z.strictObject({
  values: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(256),
        value: z.json(),
        by: z.string().max(256),
      }),
    )
    .max(saidMax),
});

export interface OverrideLayers extends ConfigLayers {
  /** All overrides of the file, in order. */
  all(): readonly ChatOverride[];
}

export interface OverridePorts {
  readonly stateDir: string;
  /** Reads the config with these values over it; rejects where it is not fine. */
  readonly check: (said: readonly ChatOverride[]) => Promise<() => Promise<void>>;
}

/**
 * What was said and kept. @throws EarshotError EAR_CONFIG_INVALID for a file that is none of ours.
 */
export async function readOverrides(stateDir: string): Promise<readonly ChatOverride[]> {
  const path = join(stateDir, overridesFileName);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  try {
    const { values } = fileSchema.parse(JSON.parse(text));
    for (const { path: place, value } of values) assertMayOverride(overridePath(place), value);
    return values;
  } catch (cause) {
    const why = cause instanceof EarshotError ? cause.message : "it is not as earshot writes it";
    throw new EarshotError(
      "EAR_CONFIG_INVALID",
      `Cannot read ${path} as ${why}: mend it, or take it away to run on the config file alone`,
      { cause },
    );
  }
}

/** The layers, beginning with what was kept. */
export function createLayers(
  { stateDir, check }: OverridePorts,
  kept: readonly ChatOverride[],
): OverrideLayers {
  const layers: Record<LayerName, readonly ChatOverride[]> = { set: kept, debug: [] };
  let changing: Promise<unknown> = Promise.resolve();

  /** Takes the next form of a layer over, or leaves everything as it is. */
  async function take(layer: LayerName, next: readonly ChatOverride[]): Promise<void> {
    const both = { ...layers, [layer]: next };
    const apply = await check([...both.set, ...both.debug]);
    if (layer === "set") await save(stateDir, next);
    layers[layer] = next;
    await apply();
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = changing.then(work);
    changing = done.catch(() => undefined);
    return done;
  }

  return {
    overrides: (layer) => layers[layer],
    all: () => [...layers.set, ...layers.debug],
    set: (layer, path, text, by) =>
      inTurn(async () => {
        const value = valueIn(text);
        assertMayOverride(overridePath(path), value);
        const said = { path, value, by };
        const rest = layers[layer].filter((item) => item.path !== path);
        if (rest.length >= saidMax)
          throw new EarshotError("EAR_CONFIG_INVALID", "Cannot set more as the layer is full");
        await take(layer, [...rest, said]);
        return said;
      }),
    unset: (layer, path) =>
      inTurn(async () => {
        const gone = layers[layer].filter((item) => path === undefined || item.path === path);
        if (gone.length === 0) return [];
        await take(
          layer,
          layers[layer].filter((item) => !gone.includes(item)),
        );
        return gone.map((item) => item.path);
      }),
  };
}

/** JSON5, or the words themselves. */
function valueIn(text: string): unknown {
  try {
    return JSON5.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Written beside and put in its place, so that it is whole at any time. */
async function save(stateDir: string, values: readonly ChatOverride[]): Promise<void> {
  const path = join(stateDir, overridesFileName);
  await writeFile(`${path}.new`, `${JSON.stringify({ values }, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
