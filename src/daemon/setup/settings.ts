/**
 * Settings
 * ========
 * Every value of the config with what it is for and where it comes from, and a change of one value in
 * the file. What was shown is what is written; the file as it was stays beside it.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import JSON5 from "json5";
import { configFromText, readConfigText } from "../../adapters/files/config-file.ts";
import { type ConfigKey, configKeys } from "../../domain/config/docs/config-keys.ts";
import {
  configValues,
  type EarshotConfig,
  isPlain,
  isSecretPath,
  pathText,
} from "../../domain/config/index.ts";
import { overridePath } from "../../domain/config/parse/chat-overrides.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChatOverride, ConfigLayers } from "../../domain/ports/index.ts";
import type { SettingsAnswer, SettingValue } from "../api-types/settings.ts";
import type { SetupPlanAnswer, SetupWritten } from "../api-types/setup.ts";
import { readWithOverrides } from "../config/config-source.ts";
import { changeConfigFile, emptyConfig } from "../config-edit/file.ts";
import { withValue } from "../config-edit/json5-text.ts";
import { withStoredSecrets } from "../state/secrets-file.ts";
import { diffOf, tokenOf } from "./plan.ts";
import { isApplied, type SetupPorts } from "./setup.ts";

export interface SettingChange {
  /** As listed. */
  readonly path: string;
  /** JSON5. */
  readonly value: string;
}

export interface Settings {
  /** @throws EarshotError EAR_CONFIG_* when the file is not valid now. */
  read(): Promise<SettingsAnswer>;
  /** @throws EarshotError EAR_CONFIG_* when the value is not valid, EAR_USAGE when there is no such value. */
  plan(change: SettingChange): Promise<SetupPlanAnswer>;
  /** @throws EarshotError EAR_USAGE when the file is not the one that `token` was made of. */
  write(change: SettingChange, token: string): Promise<SetupWritten>;
  /** Puts a copy back, if the file is still as `token` says. */
  undo(copy: string, token: string): Promise<SetupWritten>;
}

type Steps = readonly (string | number)[];

export function createSettings(
  ports: SetupPorts & { readonly layers: Pick<ConfigLayers, "overrides"> },
): Settings {
  const { stateDir, path, config, channels, drivers, layers } = ports;
  const parse = { channels, drivers };
  const env = () => withStoredSecrets(ports.env, stateDir);
  const overrides = () => [...layers.overrides("set"), ...layers.overrides("debug")];
  const load = () => readWithOverrides(path, stateDir, overrides(), { env: ports.env, parse });

  async function changed(text: string, { path: name, value }: SettingChange): Promise<string> {
    const [steps] = settingsIn((await load()).config).find(([one]) => pathText(one) === name) ?? [];
    if (steps === undefined || isSecretPath(steps))
      throw new EarshotError("EAR_USAGE", `Cannot change ${name}: there is no such setting here`);
    let after: unknown;
    try {
      after = JSON5.parse(value);
    } catch {
      const fix = "Text needs quotes; true, numbers and lists do not";
      throw new EarshotError("EAR_CONFIG_SYNTAX", `Cannot read the value as JSON5. ${fix}`);
    }
    const text_ = withValue(text, steps, after);
    configFromText(text_, path, { env: env(), parse });
    return text_;
  }

  async function replace(change: (text: string) => Promise<string>): Promise<SetupWritten> {
    const before = config();
    let token = "";
    let differs = false;
    const copy = await changeConfigFile(path, async (text) => {
      const after = await change(text);
      token = tokenOf(after);
      differs = after !== text;
      return after;
    });
    return { path, copy, token, applied: !differs || (await isApplied(ports, before)) };
  }

  const unlessChanged = (text: string, token: string): void => {
    if (tokenOf(text) !== token)
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot write ${path}: it has changed meanwhile. Look at the change again`,
      );
  };

  return {
    async read() {
      const { config: now, raw, lineOf } = await load();
      const keys = configKeys();
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
        };
      });
      return { path, exists: existsSync(path), values };
    },
    async plan(change) {
      const text = existsSync(path) ? await readConfigText(path) : emptyConfig;
      const after = await changed(text, change);
      return { path, exists: existsSync(path), ...diffOf(text, after) };
    },
    write: (change, token) =>
      replace(async (text) => {
        unlessChanged(text, token);
        return changed(text, change);
      }),
    undo: (copy, token) =>
      replace(async (text) => {
        unlessChanged(text, token);
        const isOurs = dirname(copy) === dirname(path) && /\.bak\d*$/u.test(copy);
        if (!isOurs || !copy.startsWith(path))
          throw new EarshotError("EAR_USAGE", "Cannot undo: that is no copy of the config file");
        const old = await readConfigText(copy);
        configFromText(old, path, { env: env(), parse });
        return old;
      }),
  };
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
  const parts = path.replaceAll("[]", ".[]").split(".");
  if (parts.length !== steps.length) return false;
  return parts.every((part, index) => {
    const step = steps[index];
    if (part === "[]") return typeof step === "number";
    return part.startsWith("<") ? typeof step === "string" : part === step;
  });
}

const isBelow = (steps: Steps, override: ChatOverride): boolean =>
  overridePath(override.path).every((step, index) => String(steps[index]) === String(step));
