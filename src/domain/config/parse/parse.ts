/**
 * From the file's content to a config the program can trust, or to a list of all problems. Channels
 * and drivers bring their own schemas; without those, their parts are accepted unchecked (replays,
 * tests). Parsing is idempotent.
 */
import type { z } from "zod";
import type { AgentDriver, ChannelDefinition } from "../../ports/index.ts";
import { judgeSettings, withDriver } from "../conversation/judge.ts";
import { accountFields } from "../daemon/channels.ts";
import { configSchema, type EarshotConfig } from "../daemon/schema.ts";
import { judgesOf } from "./judges.ts";
import { isPlain, overlay, pathText, unsafePath } from "./overlay.ts";
import { ConfigError, type ConfigProblem, problemsOf } from "./problems.ts";
import { relationProblems } from "./relations.ts";

export { ConfigError, type ConfigProblem } from "./problems.ts";

export interface ParseOptions {
  /** Channels by id. If given, unknown channels are refused and accounts are checked. */
  readonly channels?: ReadonlyMap<string, Pick<ChannelDefinition, "id" | "accountSchema">>;
  /** Drivers by kind. If given, unknown drivers are refused and their options are checked. */
  readonly drivers?: ReadonlyMap<string, Pick<AgentDriver, "kind" | "configSchema">>;
  /** Name of the file, for messages. @default "the config" */
  readonly source?: string;
  /** Where a path is in the file: `line 12`. */
  readonly locate?: (path: readonly PropertyKey[]) => string;
}

interface Checked {
  readonly problems: readonly ConfigProblem[];
  readonly config: EarshotConfig | null;
}

type Part = Record<string, unknown>;

/** The driver that the daemon chooses at start. */
const autoKind = "auto";

function checkPart(
  schema: z.ZodType,
  value: unknown,
  path: readonly PropertyKey[],
  problems: ConfigProblem[],
): Part | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data as Part;
  problems.push(...problemsOf(parsed.error, value, schema, path));
  return null;
}

/** Replaces the driver options of each agent and judge by the parsed ones. */
function checkDrivers(
  config: EarshotConfig,
  drivers: NonNullable<ParseOptions["drivers"]>,
  problems: ConfigProblem[],
): void {
  const known = [...drivers.keys(), autoKind];
  const check = (holder: { driver?: { kind: string } | undefined }, path: PropertyKey[]) => {
    const driverConfig = holder.driver;
    if (driverConfig === undefined || driverConfig.kind === autoKind) return;
    const driver = drivers.get(driverConfig.kind);
    if (driver === undefined) {
      problems.push({
        code: "EAR_CONFIG_INVALID",
        path: [...path, "kind"],
        message:
          `${pathText(path)} is invalid: expected one of ${known.join(", ")}, received ` +
          `${JSON.stringify(driverConfig.kind.slice(0, 64))}`,
      });
      return;
    }
    const checked = checkPart(driver.configSchema as z.ZodType, driverConfig, path, problems);
    if (checked !== null) holder.driver = { ...checked, kind: driverConfig.kind };
  };
  check(config.agents.defaults, ["agents", "defaults", "driver"]);
  config.agents.list.forEach((agent, index) => {
    check(agent, ["agents", "list", index, "driver"]);
  });
  for (const { path, holder, judge } of judgesOf(config)) {
    const { driver } = judgeSettings(judge);
    const schema = drivers.get(judge.kind)?.configSchema as z.ZodType | undefined;
    const checked = schema === undefined ? driver : checkPart(schema, driver, path, problems);
    if (checked !== null) holder.judge = withDriver(judge, checked);
  }
}

/**
 * Checks each account's own fields by its channel's schema; the common fields are already checked.
 */
function checkAccounts(
  config: EarshotConfig,
  channels: NonNullable<ParseOptions["channels"]>,
  problems: ConfigProblem[],
): void {
  for (const [id, channel] of Object.entries(config.channels)) {
    const definition = channels.get(id);
    if (definition === undefined || !channel.enabled) continue;
    const accounts = channel.accounts ?? { default: {} };
    for (const [accountId, account] of Object.entries(accounts)) {
      if (account.enabled === false) continue;
      const common: Part = {};
      const own: Part = {};
      for (const [key, value] of Object.entries(account))
        (Object.hasOwn(accountFields, key) ? common : own)[key] = value;
      const path = ["channels", id, "accounts", accountId];
      const checked = checkPart(definition.accountSchema as z.ZodType, own, path, problems);
      if (checked !== null) accounts[accountId] = { ...common, ...checked };
    }
    channel.accounts = accounts;
  }
}

function check(raw: unknown, options: ParseOptions): Checked {
  const unsafe = unsafePath(raw);
  if (unsafe !== null) {
    const message = `${pathText(unsafe)} is not allowed as a key`;
    return { problems: [{ code: "EAR_CONFIG_UNSAFE", path: unsafe, message }], config: null };
  }
  const parsed = configSchema.safeParse(raw);
  if (!parsed.success)
    return { problems: problemsOf(parsed.error, raw, configSchema), config: null };
  const config = parsed.data;
  const problems = [...relationProblems(config, options.channels)];
  if (options.drivers !== undefined) checkDrivers(config, options.drivers, problems);
  if (options.channels !== undefined) checkAccounts(config, options.channels, problems);
  return { problems, config: problems.length === 0 ? config : null };
}

/** All problems of a config, in the order of the file. */
export function configProblems(raw: unknown, options: ParseOptions = {}): readonly ConfigProblem[] {
  return check(raw, options).problems;
}

/**
 * Parses `raw`, the object read from the file.
 * @throws ConfigError EAR_CONFIG_UNKNOWN_KEY | EAR_CONFIG_INVALID | EAR_CONFIG_UNSAFE
 */
export function parseConfig(raw: unknown, options: ParseOptions = {}): EarshotConfig {
  const { problems, config } = check(raw, options);
  if (problems.length === 0 && config !== null) return config;
  const { source = "the config", locate } = options;
  throw new ConfigError(problems, { cannot: `read ${source}`, locate });
}

/** The config of a daemon without a config file: guide, web chat and terminal. */
export const defaultConfig: EarshotConfig = parseConfig({});

/**
 * The config of a scenario: its header over `base` (as read from a file). Access is open by
 * default, so that a bare scenario shows engagement.
 * @throws as `parseConfig`.
 */
export function scenarioConfig(
  header: Readonly<Record<string, unknown>>,
  base: unknown = {},
  options: ParseOptions = {},
): EarshotConfig {
  for (const part of [header, base]) {
    const unsafe = unsafePath(part);
    if (unsafe !== null) return parseConfig(part, options);
  }
  const open = { access: { dmPolicy: "open", groupPolicy: "open" } };
  return parseConfig(overlay(overlay<unknown>(open, isPlain(base) ? base : {}), header), options);
}
