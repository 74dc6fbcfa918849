/**
 * Settings
 * ========
 * Every value of the config with what it is for and where it comes from, and a change of one value in
 * the file. What was shown is what is written; the file as it was stays beside it.
 */
import { existsSync } from "node:fs";
import JSON5 from "json5";
import { type ConfigKey, configKeys } from "../../domain/config/docs/config-keys.ts";
import {
  configValues,
  defaultConfig,
  type EarshotConfig,
  isPlain,
  isSecretPath,
  pathText,
} from "../../domain/config/index.ts";
import { overridePath } from "../../domain/config/parse/chat-overrides.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChatOverride, ConfigLayers } from "../../domain/ports/index.ts";
import type { SettingContainer, SettingsAnswer, SettingValue } from "../api-types/settings.ts";
import type { SetupPlanAnswer, SetupWritten } from "../api-types/setup.ts";
import { readWithOverrides } from "../config/config-source.ts";
import type { ConfigChanges } from "../config-edit/changes.ts";
import { withItem, withoutValue, withValue } from "../config-edit/json5-text.ts";
import type { SetupPorts } from "./setup.ts";

export interface SettingChange {
  /** As listed. */
  readonly path: string;
  /** JSON5; null: it is taken out of the file. */
  readonly value: string | null;
  /** The entry that is added to the map at `path`, by its name; empty: an item of the list there. */
  readonly add?: string | undefined;
}

export interface Settings {
  /** @throws EarshotError EAR_CONFIG_* when the file is not valid now. */
  read(): Promise<SettingsAnswer>;
  /** @throws EarshotError EAR_CONFIG_* when the value is not valid, EAR_USAGE when there is no such value. */
  plan(change: SettingChange): Promise<SetupPlanAnswer>;
  /** @throws EarshotError EAR_USAGE when the file is not the one that `token` was made of. */
  write(change: SettingChange, token: string): Promise<SetupWritten>;
  /** Puts a copy back, if the file is still as `token` says. */
  undo(copy: string | null, token: string): Promise<SetupWritten>;
}

type Steps = readonly (string | number)[];

let known: readonly ConfigKey[] | null = null;
/** Every key, found out once, when somebody first asks: it takes a tenth of a second. */
const allKeys = (): readonly ConfigKey[] => {
  known ??= configKeys();
  return known;
};

export function createSettings(
  ports: SetupPorts & {
    readonly layers: Pick<ConfigLayers, "overrides">;
    readonly changes: ConfigChanges;
  },
): Settings {
  const { stateDir, path, channels, drivers, layers, changes } = ports;
  const parse = { channels, drivers };
  const overrides = () => [...layers.overrides("set"), ...layers.overrides("debug")];
  const load = () => readWithOverrides(path, stateDir, overrides(), { env: ports.env, parse });

  /** The change as one of the text, of a place that is listed. */
  async function textChange(change: SettingChange): Promise<(text: string) => string> {
    const { config } = await load();
    const { path: name, value, add } = change;
    if (add !== undefined) return additionTo(config, name, add, read(value ?? ""));
    const places = [...settingsIn(config).map(([steps]) => steps), ...entriesIn(config)];
    const steps = places.find((one) => pathText(one) === name);
    if (steps === undefined || (value !== null && isSecretPath(steps)))
      throw new EarshotError("EAR_USAGE", `Cannot change ${name}: unknown setting`);
    if (value === null) return (text) => withoutValue(text, steps);
    const after = read(value);
    return (text) => withValue(text, steps, after);
  }

  return {
    async read() {
      const { config: now, raw, lineOf } = await load();
      const keys = allKeys();
      const own = overrides();
      const origins = new Map(configValues(now, raw, {}, lineOf).map((one) => [one.path, one]));
      const values = settingsIn(now).map(([place, value]): SettingValue => {
        // A list comes from where its first entry does.
        const found = origins.get(pathText(place)) ?? origins.get(pathText([...place, 0]));
        const { origin = "default", value: shown = value, line } = found ?? {};
        const override = own.findLast((one) => isBelow(place, one));
        const key = keys.find((one) => fits(one, place));
        return {
          path: pathText(place),
          value: Array.isArray(value) ? value : shown,
          ...(line !== undefined && { line }),
          origin: override !== undefined ? "override" : origin === "flag" ? "file" : origin,
          ...(override !== undefined && { by: override.by }),
          about: key?.about ?? "",
          type: key?.type ?? "",
          default: key?.default ?? null,
          canEdit: !isSecretPath(place),
          canRemove: isIn(raw, place),
        };
      });
      const containers = containersIn(now).map(({ steps, kind, names }): SettingContainer => {
        const entries = names.map((one) => [...steps, one]).filter((one) => isIn(raw, one));
        return { path: pathText(steps), kind, entries: entries.map((one) => pathText(one)) };
      });
      const last = await changes.last();
      return { path, exists: existsSync(path), values, containers, last };
    },
    plan: async (change) => changes.plan(await textChange(change)),
    write: async (change, token) => changes.write(await textChange(change), token, whatOf(change)),
    undo: (copy, token) => changes.undo(copy, token),
  };
}

const whatOf = ({ path, value, add }: SettingChange): string =>
  add !== undefined
    ? `${path}${add === "" ? "" : `.${add}`} added`
    : `${path} ${value === null ? "removed" : "changed"}`;

function read(value: string): unknown {
  try {
    return JSON5.parse(value);
  } catch {
    const fix = "Text needs quotes; true, numbers and lists do not";
    throw new EarshotError("EAR_CONFIG_SYNTAX", `Cannot read the value as JSON5. ${fix}`);
  }
}

/** One more entry of a map or a list. */
function additionTo(
  config: EarshotConfig,
  path: string,
  name: string,
  value: unknown,
): (text: string) => string {
  const container = containersIn(config).find(({ steps }) => pathText(steps) === path);
  const refused = (why: string) => new EarshotError("EAR_USAGE", `Cannot add to ${path}: ${why}`);
  if (container === undefined) throw refused("it takes no entries");
  const { steps, kind, names } = container;
  if (kind === "list")
    return (text) => {
      const isDefault = !isIn(JSON5.parse(text), steps) && names.length > 0;
      // The agent that answers without a list stays.
      if (isDefault) return withValue(text, steps, [...defaultConfig.agents.list, value]);
      return withItem(text, steps, value);
    };
  if (name === "" || name === "__proto__") throw refused("an entry needs a name");
  if (names.includes(name)) throw refused(`${name} exists already`);
  return (text) => withValue(text, [...steps, name], value);
}

interface Container {
  readonly steps: Steps;
  readonly kind: "map" | "list";
  /** Of its entries. */
  readonly names: readonly (string | number)[];
}

/** Every map with names of the user's own, and every list of objects, also an empty one. */
function containersIn(config: EarshotConfig): readonly Container[] {
  const found = new Map<string, Container>();
  const visit = (value: unknown, steps: Steps, parts: readonly string[]): void => {
    const [part, ...rest] = parts;
    if (part === undefined) return;
    if (part !== "[]" && !part.startsWith("<")) {
      visit(isPlain(value) ? value[part] : undefined, [...steps, part], rest);
      return;
    }
    // A field that only some channels or drivers have is no entry.
    if (part === "<name>") return;
    const names = Array.isArray(value)
      ? [...value.keys()]
      : isPlain(value)
        ? Object.keys(value)
        : [];
    found.set(pathText(steps), { steps, kind: part === "[]" ? "list" : "map", names });
    for (const name of names) visit((value as never)[name], [...steps, name], rest);
  };
  for (const { path } of allKeys()) visit(config, [], partsOf(path));
  return [...found.values()];
}

const entriesIn = (config: EarshotConfig): readonly Steps[] =>
  containersIn(config).flatMap(({ steps, names }) => names.map((name) => [...steps, name]));

const partsOf = (path: string): readonly string[] => path.replaceAll("[]", ".[]").split(".");

/** Whether the file has something at this place. */
function isIn(raw: unknown, steps: Steps): boolean {
  let value = raw;
  for (const step of steps) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isPlain(value) && Object.hasOwn(value, step)) value = value[String(step)];
    else return false;
  }
  return value !== undefined;
}

type Setting = readonly [place: Steps, value: unknown];

/** Every value; a list of plain values is one. */
function settingsIn(config: EarshotConfig): readonly Setting[] {
  const found: Setting[] = [];
  const add = (place: Steps, value: unknown): void => {
    const isPlainList = Array.isArray(value) && value.every((one) => typeof one !== "object");
    if (isPlainList || !(Array.isArray(value) || isPlain(value))) {
      found.push([place, value]);
      return;
    }
    const isList = Array.isArray(value);
    const entries: [string | number, unknown][] = isList
      ? [...value.entries()]
      : Object.entries(value as object);
    if (entries.length === 0) found.push([place, value]);
    for (const [step, below] of entries) add([...place, step], below);
  };
  add([], config);
  return found;
}

/** `agents.list[].id` fits agents.list[0].id, `channels.<channel>.enabled` any channel. */
function fits({ path }: ConfigKey, steps: Steps): boolean {
  const parts = partsOf(path);
  if (parts.length !== steps.length) return false;
  return parts.every((part, index) => {
    const step = steps[index];
    if (part === "[]") return typeof step === "number";
    return part.startsWith("<") ? typeof step === "string" : part === step;
  });
}

const isBelow = (steps: Steps, override: ChatOverride): boolean =>
  overridePath(override.path).every((step, index) => String(steps[index]) === String(step));
