/**
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
const overridesMax = 500;
const fileSchema = z.strictObject({
  values: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(256),
        value: z.json(),
        by: z.string().max(256),
      }),
    )
    .max(overridesMax),
});

export interface OverrideLayers extends ConfigLayers {
  /** All overrides of the file, in order. */
  all(): readonly ChatOverride[];
}

export interface OverridePorts {
  readonly stateDir: string;
  /** Checks the config with these overrides; the result applies it. Rejects if it is invalid. */
  readonly check: (overrides: readonly ChatOverride[]) => Promise<() => Promise<void>>;
}

/**
 * The stored overrides.
 * @throws EarshotError EAR_CONFIG_INVALID if earshot did not write the file.
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
    const why =
      cause instanceof EarshotError ? cause.message : "earshot did not write it like this";
    throw new EarshotError(
      "EAR_CONFIG_INVALID",
      `Cannot read ${path}: ${why}. Fix it, or delete it to run on the config file alone`,
      { cause },
    );
  }
}

/** The layers, starting with the stored overrides. */
export function createLayers(
  { stateDir, check }: OverridePorts,
  stored: readonly ChatOverride[],
): OverrideLayers {
  const layers: Record<LayerName, readonly ChatOverride[]> = { set: stored, debug: [] };
  let changing: Promise<unknown> = Promise.resolve();

  /** Replaces a layer, or changes nothing if the config is invalid with it. */
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
        const override = { path, value, by };
        const rest = layers[layer].filter((item) => item.path !== path);
        if (rest.length >= overridesMax)
          throw new EarshotError(
            "EAR_CONFIG_INVALID",
            `Cannot set more: ${overridesMax} values are set already. Unset some first`,
          );
        await take(layer, [...rest, override]);
        return override;
      }),
    unset: (layer, path) =>
      inTurn(async () => {
        const removed = layers[layer].filter((item) => path === undefined || item.path === path);
        if (removed.length === 0) return [];
        await take(
          layer,
          layers[layer].filter((item) => !removed.includes(item)),
        );
        return removed.map((item) => item.path);
      }),
  };
}

/** JSON5, or else the text itself. */
function valueIn(text: string): unknown {
  try {
    return JSON5.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Writes a new file and renames it, so that a crash leaves no partial file. */
async function save(stateDir: string, values: readonly ChatOverride[]): Promise<void> {
  const path = join(stateDir, overridesFileName);
  await writeFile(`${path}.new`, `${JSON.stringify({ values }, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
